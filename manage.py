#!/usr/bin/env python3
import gc
import os
import signal
import sys
from pathlib import Path
from types import FrameType

# By default, glibc keeps memory that a thread once used, such as 19 MiB for hashing a password: a
# web process that fifty people used had 420 MB. With these settings it has 100.
ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(4 * 2**20),
    "PYTHONUNBUFFERED": "1",
}


def main() -> None:
    # `ferry manage work` is `ferry work`, so that both ways to write commands of Django work.
    if sys.argv[1:2] == ["manage"]:
        del sys.argv[1]
    # Django's own command of that name would print the version of Django.
    if sys.argv[1:2] in (["version"], ["--version"]):
        sys.argv[1] = "versions"
    if sys.argv[1:2] == ["run"]:
        set_up_run()
    # As the command `ferry`, this file is a module of site-packages, and its folder isn't searched.
    base = str(Path(__file__).resolve().parent)
    if base not in sys.path:
        sys.path.insert(0, base)
    from host import containers  # noqa: PLC0415

    containers.become_user()
    if sys.argv[1:] == ["healthcheck"]:
        # A container asks every 30 seconds: loading Django would take five times as long.
        sys.exit(not containers.is_healthy())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)


def set_up_run() -> None:
    # Before the imports: Ctrl-C may come at any moment, and all that `run` does is safe to cut.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    if not ENVIRONMENT.keys() <= os.environ.keys():
        # The interpreter reads them when it starts.
        os.execve(sys.executable, sys.orig_argv, ENVIRONMENT | os.environ)  # noqa: S606
    # What is imported stays, so collecting garbage meanwhile only takes time, a tenth of a start.
    gc.disable()


def leave(_number: int, _frame: FrameType | None) -> None:
    """Raises nothing, since an exception could be swallowed on its way."""
    os._exit(0)


if __name__ == "__main__":
    main()
