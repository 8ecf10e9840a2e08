"""What v1's HTTP face refuses by itself, before the service is asked.

Refusal
├── AccessDenied       access_denied
├── PremiumRequired    premium_required
├── ForeignPage        foreign_page
├── NothingPassed      no_torrent_passed
├── Missing            path_missing, rename_to_missing …
├── Unreadable         folder_id_unreadable, body_unreadable …
│   └── BadEntry       archive_arr_unreadable; knows which entry, and why
├── BodyCutOff         body_cut_off
├── BodyMalformed      body_unreadable
├── TooLarge           too_large
└── LengthRequired     length_required
"""

from service.errors import Refusal

CHALLENGE = 'Basic realm="Ferry", charset="UTF-8"'


class AccessDenied(Refusal):
    reason = "access_denied"


class PremiumRequired(Refusal):
    reason = "premium_required"


class ForeignPage(Refusal):
    """Sent by a browser for a page of another site."""

    reason = "foreign_page"


class NothingPassed(Refusal):
    """An add call without anything to add."""

    reason = "no_torrent_passed"


class MissingField(Refusal):
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
    """It ended, or stalled, before the length that was promised."""

    reason = "body_cut_off"


class BodyMalformed(Refusal):
    """It came in chunks that are none."""

    reason = "body_unreadable"


class TooLarge(Refusal):
    reason = "too_large"


class LengthRequired(Refusal):
    """Neither a length nor a server that knows where the body ends."""

    reason = "length_required"
