"""Refusals of v1's HTTP layer, before it calls the service."""

from service.errors import Refusal


class AccessDenied(Refusal):
    reason = "access_denied"
    status = 401


class PremiumRequired(Refusal):
    reason = "premium_required"
    status = 403


class NotPermitted(Refusal):
    """The token is known, but for something else, or for less."""

    reason = "not_permitted"
    status = 403


class ForeignPage(Refusal):
    """A browser sent the request for a page of another site."""

    reason = "foreign_page"
    status = 403


class NothingPassed(Refusal):
    """An add call without anything to add."""

    reason = "no_torrent_passed"
    status = 400


class MissingField(Refusal):
    status = 400

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.reason = f"{field}_missing"


class UnreadableField(Refusal):
    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.reason = f"{field}_unreadable"


class BadEntry(UnreadableField):
    def __init__(self, index: int, why: str) -> None:
        super().__init__("archive_arr")
        self.index = index
        self.why = why


class BodyCutOff(Refusal):
    """The body ended, or stalled, before its declared length."""

    reason = "body_cut_off"
    status = 400


class BodyMalformed(Refusal, ValueError):  # noqa: N818  Errors are nouns here.
    """The body's chunked encoding is malformed. The site, too, reads bodies in which it occurs."""

    reason = "body_unreadable"
    status = 400


class TooLarge(Refusal):
    reason = "too_large"
    status = 413


class LengthRequired(Refusal):
    """The body has no length, and the server can't detect its end."""

    reason = "length_required"
    status = 411
