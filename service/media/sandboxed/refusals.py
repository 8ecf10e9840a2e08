"""What a child reports about a media file that it can't use."""


class Unfit(Exception):  # noqa: N818  Errors are nouns here.
    def __init__(self, reason: str, *, is_limit: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_limit = is_limit
