"""Remember what couldn't be converted, and why, instead of trying forever."""

import json
import time
from pathlib import Path
from typing import Any

from service.errors import Busy, CannotConvert, Refusal
from service.media import content_folders
from service.media.sandbox.launcher import Failed

REFUSED = "refused.json"
LATER_SECONDS = 3600.0
AT_ONCE, NEVER = 0.0, None


def refusal_of(failed: Failed) -> Refusal:
    return Busy() if failed.is_late else CannotConvert(failed.reason)


def remember(folder: Path, why: str, again_at: float | None = NEVER) -> None:
    content_folders.write_durably(
        folder / REFUSED, json.dumps({"why": why, "again_at": again_at}).encode()
    )


def remember_failure(folder: Path, failed: Failed) -> None:
    """Remember a failure: for good if the media file is at fault.

    What took too much is tried once more, since another process may have killed it. What ran out
    of time is tried again in an hour, since the machine may be at fault.
    """
    if failed.is_late:
        remember(folder, failed.reason, time.time() + LATER_SECONDS)
    elif failed.is_limit and not read_refusals(folder):
        remember(folder, failed.reason, AT_ONCE)
    else:
        remember(folder, failed.reason)


def raise_remembered(folder: Path) -> None:
    """Raise CannotConvert if a failure is remembered, unless it is time to try again."""
    record = read_refusals(folder)
    again_at = record.get("again_at", NEVER)
    if record and (again_at is NEVER or time.time() < again_at):
        raise CannotConvert(str(record.get("why", "")))


def read_refusals(folder: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((folder / REFUSED).read_text()))
    except (OSError, ValueError, TypeError):
        return {}
