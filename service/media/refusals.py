"""Remember what couldn't be converted, and why, instead of trying forever."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from service.errors import Busy, CannotConvert, Refusal
from service.media import content_folders
from service.media.sandbox.launcher import Failed

REFUSED = "refused.json"
LATER_SECONDS = 3600.0
AT_ONCE, NEVER = 0.0, None


class RememberedFailure(Struct):
    why: str
    again_at: float | None = NEVER  # in seconds since 1970


def refusal_of(failed: Failed) -> Refusal:
    return Busy() if failed.is_late else CannotConvert(failed.reason)


def remember(folder: Path, why: str, again_at: float | None = NEVER) -> None:
    content = msgspec.json.encode(RememberedFailure(why, again_at))
    content_folders.write_durably(folder / REFUSED, content)


def remember_failure(folder: Path, failed: Failed) -> None:
    """Remember a failure: for good if the media file is at fault.

    What took too much is tried once more, since another process may have killed it. What ran out
    of time is tried again in an hour, since the machine may be at fault.
    """
    if failed.is_late:
        remember(folder, failed.reason, time.time() + LATER_SECONDS)
    elif failed.is_limit and not find_remembered(folder):
        remember(folder, failed.reason, AT_ONCE)
    else:
        remember(folder, failed.reason)


def raise_remembered(folder: Path) -> None:
    """Raise CannotConvert if a failure is remembered, unless it is time to try again."""
    failure = find_remembered(folder)
    if failure and (failure.again_at is NEVER or time.time() < failure.again_at):
        raise CannotConvert(failure.why)


def find_remembered(folder: Path) -> RememberedFailure | None:
    try:
        return msgspec.json.decode((folder / REFUSED).read_bytes(), type=RememberedFailure)
    except (OSError, ValueError):
        return None
