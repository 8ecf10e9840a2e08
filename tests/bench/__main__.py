"""Measure Ferry beside other programs, in one run: `python -m tests.bench [MODULE…]`.

Raw numbers go to tests/bench/results/. The output names missing peers; `python -m
tests.bench.peers` installs them.
"""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

GROUPS = ["install", "files", "archives", "uploads", "listings", "pages", "streams", "objects"]
GROUPS += ["ticks", "fetches", "torrents", "transfers", "pictures", "media", "player", "growth"]
GROUPS += ["search"]


def main(wanted: list[str]) -> int:
    parent = os.environ.get("BENCH_DIR")
    with tempfile.TemporaryDirectory(prefix="ferry-bench-", dir=parent) as home:
        prepare(Path(home))
        harness = import_module("tests.bench.harness")
        report = harness.Report()
        for name in wanted or GROUPS:
            for row in import_module(f"tests.bench.{name}").rows(Path(home)):
                report.add(row, name)
        return int(report.close())


def prepare(home: Path) -> None:
    """Set up a new Ferry in `home`, before Django reads any setting."""
    os.environ |= {"DATA_DIR": str(home / "data"), "ENV_FILE": os.devnull, "DEBUG": "false"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "LOG_LEVEL": "ERROR"}
    os.environ.pop("DATABASE_URL", None)
    # As in production: bytecode is cached, and click, which only tests use, isn't installed.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1] / "without_click")
    import_module("django").setup()
    import_module("django.core.management").call_command("migrate", verbosity=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
