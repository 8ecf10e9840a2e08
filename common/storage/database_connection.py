"""Release the database connection before a wait: there are fewer connections than threads."""

from django.db import connection


def give_back() -> None:
    """Let other threads use this thread's connection. The next query takes another one."""
    if connection.vendor != "sqlite" and not connection.in_atomic_block:
        connection.close()
