"""Compare the locks with a file of advisories, offline: `make audit ADVISORIES=all.zip`.

The file is OSV's export for PyPI: a ZIP file with one JSON file per advisory.
"""

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

BASE = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-cluster.lock", "requirements-dev.lock")

Facts = dict[str, Any]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("Name the file of advisories: make audit ADVISORIES=all.zip")
    locked = {lock: versions_of((BASE / lock).read_text()) for lock in LOCKS}
    found = set(findings(Path(sys.argv[1]), locked))
    sys.stdout.writelines(f"{line}\n" for line in sorted(found))
    if found:
        raise SystemExit(1)
    sys.stdout.write("No advisory is about a version in the locks.\n")


def versions_of(lock: str) -> dict[str, Version]:
    pairs = re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", lock, re.MULTILINE)
    return {name_of(name): Version(version) for name, version in pairs}


def name_of(package: str) -> str:
    """Return the name as the index compares it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def findings(path: Path, locked: dict[str, dict[str, Version]]) -> Iterator[str]:
    for advisory in advisories(path):
        if advisory.get("withdrawn"):
            continue
        for affected in advisory.get("affected", ()):
            if affected["package"]["ecosystem"] != "PyPI":
                continue
            name = name_of(affected["package"]["name"])
            for lock, versions in locked.items():
                if name in versions and is_affected(versions[name], affected):
                    summary = advisory.get("summary", "see its page")
                    yield f"{lock}: {name} {versions[name]}: {advisory['id']}: {summary}"


def advisories(path: Path) -> Iterator[Facts]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                yield json.loads(archive.read(name))


def is_affected(version: Version, affected: Facts) -> bool:
    ranges = [each for each in affected.get("ranges", ()) if each["type"] == "ECOSYSTEM"]
    return version in map(parse, affected.get("versions", ())) or any(
        is_in(version, each["events"]) for each in ranges
    )


def is_in(version: Version, events: list[dict[str, str]]) -> bool:
    """Return whether an event introduced a hole before this version, and no other ended it."""
    is_open = False
    for event in events:
        ((kind, text),) = event.items()
        limit = parse(text)
        if kind == "introduced":
            is_open = is_open or limit is None or version >= limit
        elif kind == "fixed":
            is_open = is_open and (limit is None or version < limit)
        elif kind == "last_affected":
            is_open = is_open and (limit is None or version <= limit)
    return is_open


def parse(text: str) -> Version | None:
    """Return a version, or None if it doesn't follow Python's rules, as some old ones."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


if __name__ == "__main__":
    main()
