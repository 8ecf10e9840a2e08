"""What a test leaves behind in its own process: nothing that was not there before."""

import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path


def in_use() -> Counter[object]:
    """The threads, and where the descriptors lead. Those of other tests may end at any time, so
    that a count of them all tells nothing."""
    found: Counter[object] = Counter(threading.enumerate())
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found[os.readlink(descriptor)] += 1  # noqa: PTH115  As the kernel writes it.
    return found
