"""An idle Ferry does next to nothing, so that a disk may sleep."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running import START_SECONDS, Ferry, open_files, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

SETTLE_SECONDS = 4
SECONDS = 24
LOOK_SECONDS = 0.2
# A second: Ferry's six processes need 12 to 14, whatever else the machine does.
MOST_WAKEUPS = 18
MOST_OF_A_CORE = 0.005
# At times, the same work takes an idle process on a virtual machine ten times as long. So compare
# Ferry with a process that only queries a database, once a second.
MOST_OF_REFERENCE = 4
WAITS = re.compile(r"^voluntary_ctxt_switches:\t(\d+)$", re.MULTILINE)
REFERENCE = """
import threading
import django, httpx
from django.conf import settings
database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
settings.configure(DATABASES={"default": database}, INSTALLED_APPS=["django.contrib.contenttypes"])
django.setup()
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
call_command("migrate", verbosity=0)
print("ready", flush=True)
while not threading.Event().wait(1):
    for _ in range(5):
        list(ContentType.objects.filter(app_label="none").order_by("model"))
"""


def test_an_idle_ferry_writes_once_a_minute_at_most_and_hardly_computes(tmp_path):
    """Each database write syncs the disk, and so does each file that is created or deleted."""
    with running(tmp_path, TORRENT_NETWORK="loopback") as ferry:
        assert ferry.output.saw("successfully listening", START_SECONDS), ferry.log
        settle(tmp_path)
        tree = processes(ferry)
        with reference_process() as reference:
            before, began_at = cpu_seconds(tree), time.monotonic()
            reference_before, wakeups_before = cpu_seconds([reference]), wakeups(tree)
            changes = changes_below(tmp_path, SECONDS)
            taken, seconds = cpu_seconds(tree) - before, time.monotonic() - began_at
            woken = wakeups(tree) - wakeups_before
            reference_taken = cpu_seconds([reference]) - reference_before
        assert len(changes) <= 1 + seconds // 60, changes
        assert woken < MOST_WAKEUPS * seconds
        assert taken < max(MOST_OF_A_CORE * seconds, MOST_OF_REFERENCE * reference_taken)
        assert processes(ferry) == tree
        if Path("/dev/shm").is_dir():
            # gunicorn touches a file every second.
            touched = [name for pid in tree for name in open_files(pid) if "wgunicorn" in name]
            assert {Path(name).parent for name in touched} == {Path("/dev/shm")}


@contextmanager
def reference_process() -> Iterator[int]:
    """Run a process that queries a database once a second, and yield its ID."""
    with subprocess.Popen([sys.executable, "-c", REFERENCE], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


def settle(folder: Path) -> None:
    """Wait until a while passes without a change: on a busy machine, the start takes longer."""
    deadline = time.monotonic() + START_SECONDS
    while changes := changes_below(folder, SETTLE_SECONDS):
        assert time.monotonic() < deadline, changes


def changes_below(folder: Path, seconds: float) -> list[str]:
    """Watch the folder, and return the files that changed, once for each observed change."""
    changes, before, pause = [], marks_below(folder), threading.Event()
    for _ in range(int(seconds / LOOK_SECONDS)):
        pause.wait(LOOK_SECONDS)
        now = marks_below(folder)
        changes += [path for path in {*now, *before} if now.get(path) != before.get(path)]
        before = now
    return changes


def marks_below(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the time and size of each file, except `-shm` files, which are never synced."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.endswith("-shm"):
            facts = path.stat()
            found[path.name] = facts.st_mtime_ns, facts.st_size
    return found


def processes(ferry: Ferry) -> list[int]:
    found = [ferry.process.pid]
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def cpu_seconds(pids: list[int]) -> float:
    """Sum up the scheduler's own figures, since ticks of a hundredth of a second are too coarse."""
    threads = [path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def wakeups(pids: list[int]) -> int:
    statuses = [path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(WAITS.search(path.read_text())[1]) for path in statuses)
