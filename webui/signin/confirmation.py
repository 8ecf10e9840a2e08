"""When a person last typed their password in this session."""

from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone

FRESH = timedelta(minutes=10)
ENTERED_AT = "password_entered_at"


def note_password(request: HttpRequest) -> None:
    """The right password has just been typed in this session."""
    request.session[ENTERED_AT] = timezone.now().timestamp()


def is_fresh(request: HttpRequest) -> bool:
    """A clock that was set back makes no password fresh again."""
    entered_at: float = request.session.get(ENTERED_AT, 0)
    return 0 <= timezone.now().timestamp() - entered_at < FRESH.total_seconds()
