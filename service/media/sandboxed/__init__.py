"""Code that runs only in child processes: everything that decodes media."""
