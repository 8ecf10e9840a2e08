"""Read the faults, and put one into a text."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PLACE = Path(__file__).with_name("faults.toml")


class NoLongerApplies(Exception):  # noqa: N818  Errors are nouns here.
    """The code has changed: update the fault's line, or replace the fault."""


@dataclass(frozen=True)
class Fault:
    """One line of one file, changed as a tired colleague might change it."""

    name: str
    wrong: str  # what a person would notice
    file: str
    old: str  # without indentation
    new: str
    tests: list[str]

    def made_in(self, text: str) -> str:
        """Return `text` with the new line. Raise NoLongerApplies unless the old one occurs once."""
        lines = text.split("\n")
        places = [place for place, line in enumerate(lines) if line.strip() == self.old]
        if len(places) != 1:
            found = f"{len(places)} times" if places else "nowhere"
            raise NoLongerApplies(f"its line stands {found} in {self.file}")
        [place] = places
        lines[place] = lines[place].replace(self.old, self.new)
        return "\n".join(lines)


def read() -> list[Fault]:
    tables = tomllib.loads(PLACE.read_text())
    return [Fault(name, **facts) for name, facts in tables.items()]
