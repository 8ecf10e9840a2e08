"""What another process needs to continue a fetch: `resume.json` beside the bytes."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from common.storage import durable
from service.fetching.http.responses import ResponseFacts

CONTENT, STATE = "0", "resume.json"
MOST_BYTES = 64 * 1024


@dataclass(frozen=True)
class ResumePoint:
    """Where to resume: the first `safe_bytes` of the content are safely on disk.

    After a power cut, a file may be longer than what was written to it.
    """

    address: str  # its fingerprint, see `fingerprint_of`
    facts: ResponseFacts
    safe_bytes: int = 0
    is_complete: bool = False

    @property
    def is_of_use(self) -> bool:
        return self.is_complete or (self.safe_bytes > 0 and self.facts.validator != "")


class Checkpoints(Protocol):
    """The beginnings of fetches, saved for other machines. The threads of fetches call this."""

    def save(
        self,
        key: str,
        folder: Path,
        resume: ResumePoint,
        may_go_on: Callable[[], bool],
        *,
        with_rest: bool = False,
    ) -> None:
        """Save new bytes from this disk: whole parts only, or also the rest. Never raises."""

    def restore(self, key: str, folder: Path, beyond_bytes: int, check: Callable[[], None]) -> None:
        """Fetch what another machine saved, if it is more than `beyond_bytes`.

        `check` is called between parts; any exception from it aborts. Raises TemporaryFailure, and
        PermanentFailure if the disk is full.
        """


def fingerprint_of(url: str) -> str:
    """Return a hash that recognizes a URL; the URL itself may grant access to its content."""
    return hashlib.sha256(url.encode()).hexdigest()


def read(folder: Path, url: str) -> ResumePoint | None:
    """Return the resume point, or None if nothing can be resumed."""
    try:
        with open(folder / STATE, "rb") as file:
            resume = msgspec.convert(json.loads(file.read(MOST_BYTES)), ResumePoint)
        is_here = 0 <= resume.safe_bytes <= (folder / CONTENT).stat().st_size
    except (OSError, ValueError, RecursionError):
        return None
    is_same = resume.address == fingerprint_of(url)
    return resume if is_same and is_here and resume.is_of_use else None


def write(folder: Path, resume: ResumePoint) -> None:
    """Write the resume point atomically, whatever happens to the process or the machine."""
    with durable.replacing(folder / STATE) as draft:
        draft.write_text(json.dumps(asdict(resume)))
    # Some network shares sync no folders; then less is resumed after a power cut.
    with suppress(OSError):
        durable.sync(folder)


def forget(folder: Path) -> None:
    (folder / STATE).unlink(missing_ok=True)
