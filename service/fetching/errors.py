"""What ends a fetch, and what only interrupts it.

Stopped            the worker wants no more of it
Failure            it will not be otherwise the next time; knows the word and the sentence
├── AddressRefused
└── BadCertificate
Trouble            may pass: it is tried again; knows the sentence and when the server wants us back
"""

MOST_TRIES = 10


class FetchStopped(Exception):  # noqa: N818  Nothing went wrong.
    pass


class PermanentFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, sentence: str, word: str = "fetch_error") -> None:
        super().__init__(sentence)
        self.word = word
        self.sentence = sentence


class AddressRefused(PermanentFailure):
    """The same whatever is there, and before anything was sent to it."""

    def __init__(self) -> None:
        super().__init__("Nothing is fetched from addresses like this one.", "address_refused")


class BadCertificate(PermanentFailure):
    def __init__(self) -> None:
        super().__init__("The server can't prove that it is the one meant: its certificate is bad.")


class TemporaryFailure(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(
        self, sentence: str, after_seconds: float = 0, most_tries: int = MOST_TRIES
    ) -> None:
        """`most_tries`: where nothing ever came from there, which may be no server at all."""
        super().__init__(sentence)
        self.sentence = sentence
        self.after_seconds = after_seconds
        self.most_tries = most_tries
