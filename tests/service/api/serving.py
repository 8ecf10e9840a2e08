"""The whole program, as a client and the machine see it."""

import subprocess
import sys
from pathlib import Path

from tests.running import BASE, Ferry


def add_account(ferry: Ferry, email: str, password: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "account", "add", email],
        cwd=BASE,
        env=ferry.environment,
        input=f"{password}\n",
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def peak_bytes(ferry: Ferry) -> int:
    """The most memory that any of its processes ever had."""
    return max(peak_of(pid) for pid in family_of(ferry.process.pid))


def family_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in family_of(int(child)))]


def peak_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
