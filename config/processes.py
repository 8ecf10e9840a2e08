"""Run the Procfile's processes until one ends, or Ferry is stopped.

`manage.py run` becomes this program once everything is prepared, since it then only waits: with
Django, it would keep 74 MB, and this takes 6.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

STOP_SECONDS = 5
STOPS = {signal.SIGINT, signal.SIGTERM}
NEWS = {*STOPS, signal.SIGCHLD}
PR_SET_PDEATHSIG = 1
# By default, glibc keeps memory that a thread once used, such as 19 MiB for hashing a password: a
# web process that fifty people used had 420 MB. With these settings it has 100.
MALLOC = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(4 * 2**20)}

Processes = dict[str, "subprocess.Popen[bytes]"]


def main() -> int:
    """Run all processes; when one ends or Ferry is stopped, stop the others.

    Signals are blocked until `sigwait`, so that none is handled too early.
    """
    base = Path.cwd()
    raise_open_files()
    signal.signal(signal.SIGCHLD, lambda *_signal: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, NEWS)
    lines = (base / "Procfile").read_text().splitlines()
    commands = [line.split(": ", 1) for line in lines]
    processes = {name: start(command, base) for name, command in commands}
    process_name = first_to_end(processes)
    if process_name:
        sys.stderr.write(f"{process_name} ended unexpectedly, so Ferry stops, too.\n")
    stop(processes)
    return 1 if process_name else 0


def raise_open_files() -> None:
    """Allow as many open files as the system does: each connection takes one.

    The usual limit of 1,024 exists for programs that use `select`, and Ferry has none.
    """
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems report no hard limit, yet refuse high values.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def start(command: str, base: Path) -> "subprocess.Popen[bytes]":
    """Start a command in a new session, so that Ctrl-C reaches it through us and in order."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def before() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, NEWS)
        if prctl is not None:
            # Linux then ends the process when we are killed; otherwise it would keep the port.
            prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    # No other thread is running that could hold a lock in the fork.
    return subprocess.Popen(  # noqa: S602
        command,
        shell=True,
        cwd=base,
        env=environment(),
        start_new_session=True,
        preexec_fn=before,  # noqa: PLW1509
    )


def environment() -> dict[str, str]:
    """Return an environment in which commands find this interpreter's own programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**MALLOC, **os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}


def first_to_end(processes: Processes) -> str | None:
    """Return the name of the first process that ends by itself, or None if Ferry is stopped."""
    while True:
        for name, process in processes.items():
            if process.poll() is not None:
                return name
        if signal.sigwait(NEWS) in STOPS:
            return None


def stop(processes: Processes) -> None:
    for process in processes.values():
        process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for process in processes.values():
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0, deadline - time.monotonic()))
        with suppress(ProcessLookupError, PermissionError):
            # Kill a process that is late, and the children that a killed one left behind.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
