"""Record in Activity what other programs do at /rest."""

from typing import Any

from django.http import HttpRequest

from service import signals
from service.http.responses import IN_PROCESS
from service.models import Transfer
from webui.activity import events
from webui.activity.events import Kind


def start() -> None:
    signals.deleted.connect(record_deletion)
    signals.password_failed.connect(record_failure)


def record_deletion(sender: type, request: HttpRequest, name: str, **_signal: Any) -> None:
    """Record what a program deleted; the site itself records what people delete."""
    if IN_PROCESS in request.META:
        return
    kind = Kind.PROGRAM_TRANSFER_REMOVED if sender is Transfer else Kind.PROGRAM_DELETED
    account: str = request.account.email  # type: ignore[attr-defined]
    events.record_outsider(kind, account, name, request.META.get("REMOTE_ADDR", ""))


def record_failure(email: str, address: str, **_signal: Any) -> None:
    events.record_program_failure(email, address)
