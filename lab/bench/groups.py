"""Each group of rows, measured in a process and a new Ferry without other groups' leftovers."""

import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from lab.bench.harness import Row
from tests.running import BASE

GROUPS = ["install", "files", "archives", "uploads", "listings", "pages", "streams", "objects"]
GROUPS += ["ticks", "fetches", "torrents", "transfers", "pictures", "media", "player", "growth"]
GROUPS += ["search", "moves", "drive"]
SPAWN = multiprocessing.get_context("spawn")


def rows_of(name: str) -> Iterator[Row]:
    """Measure a group. Raises ChildProcessError if that fails.

    In a Ferry that other groups have used, a worker may still be busy reading their files.
    """
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=measure, args=(name, sender))
    process.start()
    sender.close()
    with suppress(EOFError):
        while True:
            yield receiver.recv()
    process.join()
    if process.exitcode:
        raise ChildProcessError


def measure(name: str, sender: Connection) -> None:
    with tempfile.TemporaryDirectory(
        prefix="ferry-bench-", dir=os.environ.get("BENCH_DIR")
    ) as home:
        prepare(Path(home))
        for row in import_module(f"lab.bench.{name}").rows(Path(home)):
            sender.send(row)


def prepare(home: Path) -> None:
    """Set up a new Ferry in `home`, before Django reads any setting."""
    os.environ |= {"DATA_DIR": str(home / "data"), "ENV_FILE": os.devnull, "DEBUG": "false"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "LOG_LEVEL": "ERROR"}
    os.environ.pop("DATABASE_URL", None)
    # As in production: bytecode is cached, and click, which only tests use, isn't installed.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPATH"] = str(BASE / "tests" / "without_click")
    import_module("django").setup()
    import_module("django.core.management").call_command("migrate", verbosity=0)
