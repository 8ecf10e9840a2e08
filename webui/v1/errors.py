"""The failures of calls to a service, whatever program it was that answered."""

import re
import unicodedata
from typing import Literal

from webui.v1.records import Wish

LONGEST_WORD = 64
LONGEST_TEXT = 200

Outcome = Literal["nothing", "unknown", "unseen"]
"""What a failed request changed. Only a request that was sent to change something has an unknown
outcome; it is unseen once a look at the service doesn't show the change, which may still follow."""


class Failure(Exception):  # noqa: N818  Errors are nouns here.
    """A failed call, with what the reader of a page needs and nothing secret.

    `reason` is a word by which to look up a sentence. `said` is the service's own text, for unknown
    words: bounded, and without control or direction characters. `message` is a sentence that the
    service sent along with it. `was_sent` is false if the service can't have received the request.
    `outcome` says what the request changed, although it failed.
    """

    outcome: Outcome = "nothing"

    def __init__(  # noqa: PLR0913  Each is a separate fact.
        self,
        reason: str,
        *,
        status: int | None = None,
        said: str = "",
        message: str = "",
        retry_after_seconds: float | None = None,
        wish: Wish | None = None,
        missing_bytes: int | None = None,
        was_sent: bool = True,
    ) -> None:
        self.reason = reason_word(reason) or "unknown"
        self.status = status
        self.said = plain_text(said)
        self.message = plain_text(message)
        self.retry_after_seconds = retry_after_seconds
        self.wish = wish
        self.missing_bytes = missing_bytes
        self.was_sent = was_sent
        super().__init__(self.reason)

    def __str__(self) -> str:
        return self.reason if self.status is None else f"{self.reason} ({self.status})"


class Unavailable(Failure):
    """The service is down, too slow, or broken on its own side."""


class Unreadable(Unavailable):
    """The service answered, but not with what v1 promises."""


class Unauthorized(Failure):
    """The service doesn't accept these credentials."""


class Forbidden(Failure):
    """The service accepts the credentials and still refuses, such as without a paid plan."""


class NotFound(Failure):
    """What was requested is unknown or gone."""


class Conflict(Failure):
    """The name is taken, or someone else was faster."""


class TooMany(Failure):
    """Too many requests; `retry_after_seconds` is set if the service sends it."""


class Rejected(Failure):
    """The service read the request and refuses its content, by `reason`."""


class NoRoom(Rejected):
    """Not enough space. `wish` is what the service kept; `missing_bytes` is set if known."""


def reason_word(text: str) -> str:
    """Normalize a word: `Name already taken` and `name_already_taken` are the same."""
    return re.sub(r"[^a-z0-9]+", "_", text[:LONGEST_TEXT].lower()).strip("_")[:LONGEST_WORD]


def plain_text(text: str) -> str:
    printable_text = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character
        for character in text[:LONGEST_TEXT]
    )
    return " ".join(printable_text.split())
