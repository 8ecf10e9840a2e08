#!/usr/bin/env python3
import os
import signal
import sys
from types import FrameType


def main() -> None:
    if sys.argv[1:2] == ["run"]:
        # Before the imports: Ctrl-C may come at any moment, and all that `run` does is safe to cut.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, leave)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)


def leave(_number: int, _frame: FrameType | None) -> None:
    """Raises nothing, since an exception could be swallowed on its way."""
    os._exit(0)


if __name__ == "__main__":
    main()
