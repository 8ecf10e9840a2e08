"""Sessions of programs that sign in with a token: a cookie that only this door accepts."""

from collections.abc import Mapping

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, parse_cookie

from webui.models import Token
from webui.tokens import doors, tokens

# Programs look for this name, so it is the same for http and https.
COOKIE = "SID"
SALT = "webui.programs"
SECONDS = 24 * 3600
# Of a form with which a stranger begins a session.
MOST_BYTES = 64 * 1024


def admit(request: HttpRequest, *, writes: bool) -> Token:
    """Return the token that began the session, or that came with the request, as programs send a
    proxy's password beside their cookie. Raises NotAdmitted."""
    row = find(request)
    if row is None:
        return doors.admit(request, tokens.Purpose.PROGRAMS, writes=writes)
    return doors.enter(request, row, tokens.Purpose.PROGRAMS, writes=writes)


def find(request: HttpRequest) -> Token | None:
    """Return the token that began the session, unless it was revoked since."""
    cookie = parse_cookie(request.META.get("HTTP_COOKIE", "")).get(COOKIE, "")
    try:
        facts = signing.loads(cookie[:500], salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    row = Token.objects.select_related("user").filter(pk=facts[0], user__is_active=True).first()
    return row if row and row.digest.startswith(facts[1]) else None


def begin(request: HttpRequest, response: HttpResponse, row: Token) -> None:
    value = signing.dumps([row.pk, row.digest[:16]], salt=SALT)
    response["Set-Cookie"] = cookie(request, value)


def end(request: HttpRequest, response: HttpResponse) -> None:
    response["Set-Cookie"] = f"{cookie(request, '')}; Max-Age=0"


def cookie(request: HttpRequest, value: str) -> str:
    """Return the header's value. Django's own cookies get another name over https."""
    path = f"{settings.URL_PREFIX}/api/v2/"
    secure = "; Secure" if request.is_secure() else ""
    return f"{COOKIE}={value}; HttpOnly; SameSite=Strict; Path={path}{secure}"


def is_from_elsewhere(headers: Mapping[str, str], host: str) -> bool:
    """Return whether a page of another site sent the request."""
    origin = headers.get("Origin", "")
    return bool(origin) and origin.partition("://")[2] != host
