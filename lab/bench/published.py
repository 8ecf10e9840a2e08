"""Write the table and the chart of docs/performance.md:
`python -m lab.bench.published results/….json`, with several files if groups were measured
separately.

The numbers are kept in published.json, so that a test can compare table and chart with them.
"""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.bench.chart import chart_of
from lab.bench.harness import Row
from tests.running import BASE

PLACE = BASE / "lab" / "bench" / "published.json"
PAGE = BASE / "docs" / "performance.md"
CHART = BASE / "docs" / "performance.svg"
BEGINNING, END = "<!-- measured -->\n", "<!-- /measured -->\n"
TITLES = {
    "install": "The whole install",
    "files": "Files",
    "archives": "ZIP",
    "uploads": "Uploads",
    "listings": "Listings over v1",
    "pages": "The Files page",
    "streams": "Streams and slow readers",
    "objects": "An object store",
    "ticks": "A transfer page that is left open",
    "fetches": "Addresses",
    "torrents": "BitTorrent",
    "transfers": "Transfers by the thousand",
    "pictures": "Thumbnails",
    "media": "Films, at the service",
    "player": "Films, in Chromium",
    "growth": "Ten times the work",
    "search": "Search",
    "moves": "Moving",
}


def main(sources: list[Path]) -> None:
    runs = [json.loads(source.read_text()) for source in sources]
    whole = runs[0] | {"rows": [row for run in runs for row in run["rows"]]}
    PLACE.write_text(json.dumps(whole, indent=1) + "\n")
    run = json.loads(PLACE.read_text())
    CHART.write_text(chart_of(map(row_of, run["rows"])))
    before, _begin, rest = PAGE.read_text().partition(BEGINNING)
    _old, _end, after = rest.partition(END)
    PAGE.write_text(before + BEGINNING + table_of(run) + END + after)


def table_of(run: dict[str, Any]) -> str:
    rows = [row_of(facts) for facts in run["rows"]]
    day = f"{datetime.fromisoformat(run['at']):%-d %B %Y}"
    missed = sum(row.is_reached is False for row in rows)
    aimed = sum(bool(row.target) for row in rows)
    lines = [
        f"Measured on {day}: {run['machine']}, Python {run['python']}; {aimed - missed} of {aimed}",
        "targets met.",
        "",
        "| what | seen | target | |",
        "|---|---|---|---|",
    ]
    for group, title in TITLES.items():
        own = [row for row in rows if row.group == group]
        lines += [f"| **{title}** | | | |"] if own else []
        lines += [f"| {row.name} | {row.seen} | {row.target} | {result(row)} |" for row in own]
    return "\n".join(lines) + "\n"


def row_of(facts: dict[str, Any]) -> Row:
    return Row(**{name: each for name, each in facts.items() if name != "is_reached"})


def result(row: Row) -> str:
    if not row.target or row.value is None:
        return ""
    return "met" if row.is_reached else "**missed**"


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
