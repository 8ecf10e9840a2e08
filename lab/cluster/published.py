"""Write the tables of docs/scale.md: `python -m lab.cluster.published RESULTS.json`.

`make test-cluster` and the commands of `lab.cluster` add what they measure to the file that
CLUSTER_RESULTS names. The numbers are kept in published.json, so that a test can compare the tables
with them.
"""

import json
import sys
from pathlib import Path
from textwrap import fill
from typing import Any

from tests.running import BASE

PLACE = BASE / "lab" / "cluster" / "published.json"
PAGE = BASE / "docs" / "scale.md"
LINE_LENGTH = 105
VICTIMS = {
    "web": "the web machine",
    "worker": "the worker",
    "database": "PostgreSQL",
    "store": "the store",
}


def main(source: Path) -> None:
    # Each part may have been measured on another day.
    results = {**json.loads(PLACE.read_text()), **json.loads(source.read_text())}
    PLACE.write_text(json.dumps(results, indent=1) + "\n")
    page = PAGE.read_text()
    for name, table in tables(results).items():
        before, _begin, rest = page.partition(beginning(name))
        _old, _end, after = rest.partition(end(name))
        page = before + beginning(name) + table + end(name) + after
    PAGE.write_text(page)


def tables(results: dict[str, Any]) -> dict[str, str]:
    return {
        "kills": kills_table(results["kills"]),
        "throughput": throughput_table(results["throughput"]),
        "day": day_list(results["day"]),
    }


def kills_table(kills: dict[str, dict[str, float]]) -> str:
    lines = [
        f"| during | {' | '.join(VICTIMS.values())} |",
        f"|---{'|---' * len(VICTIMS)}|",
    ]
    lines += [
        f"| {operation} | {' | '.join(f'{seconds[each]:.1f} s' for each in VICTIMS)} |"
        for operation, seconds in kills.items()
    ]
    return "\n".join(lines) + "\n"


def day_list(report: str) -> str:
    """Return what a day was like, as a list."""
    lines = [
        fill(line, LINE_LENGTH, initial_indent="- ", subsequent_indent="  ")
        for line in report.splitlines()
    ]
    return "\n".join(lines) + "\n"


def throughput_table(rows: list[dict[str, float]]) -> str:
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(shown(row[name]) for name in names)} |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or float(number).is_integer() else f"{number:.1f}"


def beginning(name: str) -> str:
    return f"<!-- {name} -->\n"


def end(name: str) -> str:
    return f"<!-- /{name} -->\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
