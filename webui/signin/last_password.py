"""When a person last entered their password in this session."""

from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone

FRESH = timedelta(minutes=10)
ENTERED_AT = "password_entered_at"


def note_password(request: HttpRequest) -> None:
    """Record that the right password was just entered in this session."""
    request.session[ENTERED_AT] = timezone.now().timestamp()


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the password was entered recently. After the clock was set back, an entry in
    the future doesn't count."""
    entered_at: float = request.session.get(ENTERED_AT, 0)
    return 0 <= timezone.now().timestamp() - entered_at < FRESH.total_seconds()
