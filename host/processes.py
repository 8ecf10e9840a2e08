"""Run Ferry's processes until one ends, or Ferry is stopped.

They are forks of `manage.py run`, so they share the memory of everything it has loaded.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

STOP_SECONDS = 5
# With several machines, the worker hands over its work within this time.
HAND_OVER_SECONDS = 15
STOPS = {signal.SIGINT, signal.SIGTERM}
NEWS = {*STOPS, signal.SIGCHLD}
PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
FORK = get_context("fork")

Program = Callable[[], object]


def run(programs: dict[str, Program], stop_seconds: float = STOP_SECONDS) -> int:
    """Run all programs; when one ends or Ferry is stopped, stop the others within that time.

    Signals are blocked until `sigwait`, so that none is handled too early.
    """
    raise_open_files()
    signal.signal(signal.SIGCHLD, lambda *_signal: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, NEWS)
    release_memory()
    processes = [start(name, program) for name, program in programs.items()]
    name = first_to_end(processes)
    if name:
        sys.stderr.write(f"{name} ended unexpectedly, so Ferry stops, too.\n")
    stop(processes, stop_seconds)
    return 1 if name else 0


def raise_open_files() -> None:
    """Allow as many open files as the system does: each connection takes one.

    The usual limit of 1,024 protects programs that use `select`, which Ferry doesn't run.
    """
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems report no hard limit, yet refuse high values.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def release_memory() -> None:
    """Give back what preparing needed, and let the processes share the rest.

    Later collections skip it: they write to every object, and a page that is written to is copied.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    gc.freeze()
    gc.enable()


def start(name: str, program: Program) -> BaseProcess:
    process = FORK.Process(target=begin, args=(name, program), name=name)
    process.start()
    return process


def begin(name: str, program: Program) -> None:
    """Run a program in a new session, so that Ctrl-C reaches it through its parent and in order."""
    os.setsid()
    prctl = ctypes.CDLL(None).prctl
    # Linux then ends the process when its parent is killed; otherwise it would keep the port.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_NAME, f"ferry-{name}".encode())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, NEWS)
    program()


def first_to_end(processes: list[BaseProcess]) -> str | None:
    """Return the name of the first process that ends by itself, or None if Ferry is stopped."""
    while True:
        for process in processes:
            if not process.is_alive():
                return process.name
        if signal.sigwait(NEWS) in STOPS:
            return None


def stop(processes: list[BaseProcess], within_seconds: float) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + within_seconds
    while any(process.is_alive() for process in processes):
        seconds = deadline - time.monotonic()
        if seconds <= 0 or not signal.sigtimedwait({signal.SIGCHLD}, seconds):
            break
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            # Kill a process that is late, and the children that a killed one left behind.
            os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
        process.join()
