"""What goes wrong between the site and a service, whatever it was that spoke.

Failure
├── Unavailable         down, too slow, or broken on its own side
│   └── Unreadable      it answered, but not with what v1 promises
├── Unauthorized        it does not take these credentials
├── Forbidden           it knows them and still refuses, such as without a paid plan
├── NotFound            unknown or gone
├── Conflict            the name is taken, or somebody was faster
├── TooMany             asked too often
└── Rejected            it read the request and refuses the content
    └── NoRoom          it does not fit; perhaps the service kept it as a wish
"""

import re
import unicodedata

from webui.v1.models import Wish

LONGEST_WORD = 64
LONGEST_TEXT = 200


class Failure(Exception):  # noqa: N818  Errors are nouns here.
    """Carries what the reader of a page needs, and nothing secret.

    `reason` is a word to look up a sentence by; `said` is the service's own text, bounded and
    without control or direction characters, for words that nobody knows; `message` is a sentence
    that it told beside them.
    """

    def __init__(  # noqa: PLR0913  Each is a fact of its own.
        self,
        reason: str,
        *,
        status: int | None = None,
        said: str = "",
        message: str = "",
        retry_after_seconds: float | None = None,
        wish: Wish | None = None,
        missing_bytes: int | None = None,
    ) -> None:
        self.reason = reason_word(reason) or "unknown"
        self.status = status
        self.said = plain_text(said)
        self.message = plain_text(message)
        self.retry_after_seconds = retry_after_seconds
        self.wish = wish
        self.missing_bytes = missing_bytes
        super().__init__(self.reason)

    def __str__(self) -> str:
        return self.reason if self.status is None else f"{self.reason} ({self.status})"


class Unavailable(Failure):
    """The service is down, too slow, or broken on its own side."""


class Unreadable(Unavailable):
    """The service answered, but not with what v1 promises."""


class Unauthorized(Failure):
    """The service does not take these credentials."""


class Forbidden(Failure):
    """The service knows the credentials and still refuses, such as without a paid plan."""


class NotFound(Failure):
    """Unknown or gone."""


class Conflict(Failure):
    """The name is taken, or somebody was faster."""


class TooMany(Failure):
    """Asked too often; `retry_after_seconds` where the service tells."""


class Rejected(Failure):
    """The service read the request and refuses its content, by `reason`."""


class NoRoom(Rejected):
    """It does not fit. `wish` is what the service kept, `missing_bytes` where it is known."""


def reason_word(text: str) -> str:
    """`Name already taken` and `name_already_taken` are one word."""
    return re.sub(r"[^a-z0-9]+", "_", text[:LONGEST_TEXT].lower()).strip("_")[:LONGEST_WORD]


def plain_text(text: str) -> str:
    shown = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character
        for character in text[:LONGEST_TEXT]
    )
    return " ".join(shown.split())
