"""What runs in child processes only: all that decodes media."""
