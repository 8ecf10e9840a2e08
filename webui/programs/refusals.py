"""What other programs hear when Ferry can't do something."""

from dataclasses import dataclass


@dataclass
class CannotDo(Exception):  # noqa: N818  Errors are nouns here.
    """Programs show the words at best in a log, in English."""

    status: int
    words: str
