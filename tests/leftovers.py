"""Find out what a test leaves behind in its own process."""

import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path


def in_use() -> Counter[object]:
    """Count each thread and each target of a descriptor.

    Those of other tests may end at any time, so a total would mean nothing.
    """
    found: Counter[object] = Counter(threading.enumerate())
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found[os.readlink(descriptor)] += 1  # noqa: PTH115  Keeps the kernel's spelling.
    return found
