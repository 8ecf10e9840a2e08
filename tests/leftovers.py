"""What a test leaves behind in its own process: nothing that was not there before."""

import os
import threading
from contextlib import suppress
from pathlib import Path


def in_use() -> set[object]:
    """The threads, and where the descriptors lead. Those of other tests may end at any time, so
    that a count of them all tells nothing."""
    found: set[object] = set(threading.enumerate())
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(os.readlink(descriptor))  # noqa: PTH115  As the kernel writes it.
    return found
