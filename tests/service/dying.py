"""Processes that kill themselves at any step of their work.

They are forks of this one: they have already loaded Django, and open their own connections to the
database.
"""

import os
import signal
from pathlib import Path

from django.db import connection


def fork(act):
    connection.close()
    child = os.fork()
    if child:
        return child
    try:
        act()
    except BaseException:  # noqa: BLE001  A child must never get back to pytest.
        os._exit(1)
    os._exit(0)


def dying_at(last, act):
    """Run `act` in a fork that kills itself at step `last`, and return its exit code.

    There is a step before and after each write. A commit needs no extra steps: the step after the
    last statement precedes it, and the step before the next write, or the end of `act`, follows it.
    """

    def act_and_die():
        steps = iter(range(last))

        def step():
            if next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        def stepping(original):
            def wrapped(*args, **options):
                step()
                result = original(*args, **options)
                step()
                return result

            return wrapped

        for place, name in [(os, "fsync"), (Path, "rename"), (Path, "unlink"), (Path, "mkdir")]:
            setattr(place, name, stepping(getattr(place, name)))
        with connection.execute_wrapper(lambda execute, *sql: stepping(execute)(*sql)):
            act()

    _child, status = os.waitpid(fork(act_and_die), 0)
    return os.waitstatus_to_exitcode(status)
