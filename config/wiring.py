"""Join the halves and the host, which otherwise don't know each other."""

from typing import Any

from django.http import HttpRequest

from common.host import EmbeddedService, Host, Https, run_on
from service import signals
from service.errors import TooManyTries
from service.http.refusals import AccessDenied, NotPermitted
from service.http.responses import IN_PROCESS
from service.models import Transfer
from webui import owner_settings
from webui.activity import events
from webui.activity.events import Kind
from webui.models import Role
from webui.tokens import doors
from webui.tokens.tokens import PREFIX, Purpose

SAFE = ("GET", "HEAD")


def wire() -> None:
    signals.deleted.connect(record_deletion)
    signals.password_failed.connect(record_failure)
    run_on(make_host)


def make_host() -> Host:
    # Together they take 0.3 s and 12 MB, which most commands can spare.
    from config.embedded import upstream  # noqa: PLC0415
    from host import health, local_name  # noqa: PLC0415
    from host.tls import certificate, listening  # noqa: PLC0415

    return Host(
        embedded=EmbeddedService(
            account=upstream.EMBEDDED_ACCOUNT,
            transport=upstream.transport,
            credentials=upstream.credentials,
            set_password=upstream.set_password,
            set_space=upstream.set_space,
            end_links=upstream.end_links,
        ),
        https=Https(
            port=listening.https_port, best_host=certificate.best_host, root=certificate.root
        ),
        local_name=local_name.current,
        report_health=health.report,
        find_library_trouble=health.library,
        find_setting=owner_settings.find,
        admit_to_v1=admit_to_v1,
    )


def admit_to_v1(request: HttpRequest) -> bool:
    """Return whether a program sent a token. Raises Refusal if it doesn't open v1, which has no
    roles, and no folders as limits."""
    if not doors.token_in(request).startswith(PREFIX):
        return False
    try:
        token = doors.admit(request, Purpose.PROGRAMS, writes=request.method not in SAFE)
    except doors.NotAdmitted as refused:
        if refused.wait:
            raise TooManyTries(refused.wait) from refused
        raise (AccessDenied if refused.status == 401 else NotPermitted) from refused
    if token.folder or not Role(token.user.role).includes(Role.OWNER):
        raise NotPermitted
    return True


def record_deletion(sender: type, request: HttpRequest, name: str, **_signal: Any) -> None:
    """Record in Activity what a program deleted; the site itself records what people delete."""
    if IN_PROCESS in request.META:
        return
    kind = Kind.PROGRAM_TRANSFER_REMOVED if sender is Transfer else Kind.PROGRAM_DELETED
    account: str = request.account.email  # type: ignore[attr-defined]
    events.record_outsider(kind, account, name, request.META.get("REMOTE_ADDR", ""))


def record_failure(email: str, address: str, **_signal: Any) -> None:
    events.count_failure(Kind.PROGRAM_FAILED, email, address)
