"""The engine's process. The first line of its input holds the settings."""

import ctypes
import os
import signal
import sys

from service.torrents.engine.child import EngineProcess
from service.torrents.messages import document_of, order_of
from service.torrents.orders import EngineSettings

PR_SET_PDEATHSIG = 1


def main(child: type[EngineProcess] = EngineProcess) -> None:
    """Run the engine. The first argument is the id of the process that started it."""
    die_with(int(sys.argv[1]))
    orders, events = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    # Unbuffered, so that `EngineProcess` reads what follows.
    with open(orders, "rb", buffering=0, closefd=False) as unbuffered:
        settings = order_of(document_of(unbuffered.readline()), EngineSettings)
    child(settings, lambda line: write(events, line)).run(orders)


def die_with(parent: int) -> None:
    """Die with the worker: otherwise this engine and the next would write the same files."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux":
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the worker is gone")


def write(events: int, line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(events, view) :]


if __name__ == "__main__":
    main()
