from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id at 19 MiB and two passes, as OWASP advises for servers.

    Django's default takes 100 MiB for each attempt: a few dozen at once would exhaust a small
    machine before any limit speaks.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
