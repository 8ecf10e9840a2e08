"""What ends a fetch, and what only interrupts it.

FetchStopped       the worker no longer wants it
PermanentFailure   a retry would fail as well; has the word and the sentence
├── AddressRefused
└── BadCertificate
TemporaryFailure   may pass, so it is retried; has the sentence and the server's Retry-After
"""

MOST_TRIES = 10
# A name that doesn't resolve is usually a typo, so it fails within seconds.
MOST_TRIES_OF_NAMES = 4


class FetchStopped(Exception):  # noqa: N818  Nothing went wrong.
    pass


class PermanentFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, sentence: str, word: str = "fetch_error") -> None:
        super().__init__(sentence)
        self.word = word
        self.sentence = sentence


class AddressRefused(PermanentFailure):
    """The address isn't allowed. Raised before anything is sent, and the same for every address."""

    def __init__(self) -> None:
        super().__init__("Nothing is fetched from addresses like this one.", "address_refused")


class BadCertificate(PermanentFailure):
    def __init__(self) -> None:
        super().__init__(
            "The server can't prove its identity, because its certificate isn't valid."
        )


class TemporaryFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(
        self, sentence: str, after_seconds: float = 0, most_tries: int = MOST_TRIES
    ) -> None:
        """`most_tries`: the limit while the host has sent nothing, since it may not be a server."""
        super().__init__(sentence)
        self.sentence = sentence
        self.after_seconds = after_seconds
        self.most_tries = most_tries
