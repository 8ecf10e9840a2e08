"""What ends a fetch, and what only interrupts it.

FetchStopped       the worker no longer wants it
PermanentFailure   a retry would fail as well; has the word and the details
├── AddressRefused
└── BadCertificate
TemporaryFailure   may pass, so it is retried; has the details and the server's Retry-After
"""

from service.details import Details

MOST_TRIES = 10
# A name that doesn't resolve is usually a typo, so it fails within seconds.
MOST_TRIES_OF_NAMES = 4


class FetchStopped(Exception):  # noqa: N818  Nothing went wrong.
    pass


class PermanentFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, details: Details, word: str = "fetch_error") -> None:
        super().__init__(details.sentence)
        self.word = word
        self.details = details


class AddressRefused(PermanentFailure):
    """The address isn't allowed. Raised before anything is sent, and the same for every address."""

    def __init__(self) -> None:
        super().__init__(Details("address_refused"), "address_refused")


class BadCertificate(PermanentFailure):
    def __init__(self) -> None:
        super().__init__(Details("bad_certificate"))


class TemporaryFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(
        self, details: Details, after_seconds: float = 0, most_tries: int = MOST_TRIES
    ) -> None:
        """`most_tries`: the limit while the host has sent nothing, since it may not be a server."""
        super().__init__(details.sentence)
        self.details = details
        self.after_seconds = after_seconds
        self.most_tries = most_tries
