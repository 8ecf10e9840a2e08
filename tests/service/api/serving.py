"""Observe the whole program: its processes and their memory."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.running import BASE, Ferry


def add_account(ferry: Ferry, email: str, password: str) -> None:
    add_account_in(ferry.environment, email, password)


def add_account_in(environment: dict[str, str], email: str, password: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "account", "add", email],
        cwd=BASE,
        env=environment,
        input=f"{password}\n",
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def peak_bytes(ferry: Ferry) -> int:
    """Return the most memory that any process of this Ferry ever had."""
    return max(peak_of(process) for process in processes_of(ferry))


def processes_of(ferry: Ferry) -> list[Path]:
    """Return the processes that use this Ferry's data folder."""
    mark = f"DATA_DIR={ferry.data_dir}\0".encode()
    return [process for process in Path("/proc").glob("[0-9]*") if mark in environ_of(process)]


def kill_all(ferry: Ferry) -> None:
    """Kill all processes of this Ferry; some end as soon as their parent does."""
    for process in processes_of(ferry):
        with suppress(ProcessLookupError):
            os.kill(int(process.name), signal.SIGKILL)


def environ_of(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        # The process has ended, or belongs to another user.
        return b""


def peak_of(process: Path) -> int:
    lines = (process / "status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
