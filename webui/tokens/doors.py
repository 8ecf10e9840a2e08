"""Let programs in by their tokens, at the doors that are for them. Sessions open none of these."""

import base64
import binascii
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from common.http.forms import decode
from common.storage import database_connection
from webui.http.requests import plain_text, service_of
from webui.models import Role, Token
from webui.signin import throttle
from webui.signin.session import retry_after, too_many_tries
from webui.tokens import tokens

log = logging.getLogger("ferry.tokens")

LONGEST_TOKEN = 200


@dataclass
class NotAdmitted(Exception):  # noqa: N818  Errors are nouns here.
    """The token doesn't open this door: 401 if it is unknown, 403 if it is for something else, and
    429 after many unknown ones."""

    status: int
    words: str
    wait: timedelta | None = None

    def answer(self, scheme: str) -> HttpResponse:
        return self.set_headers(plain_text(self.words, self.status), scheme)

    def set_headers(self, response: HttpResponse, scheme: str) -> HttpResponse:
        """Tell programs by headers what to send, and when."""
        if self.status == 401:
            response["WWW-Authenticate"] = f'{scheme} realm="Ferry"'
        return retry_after(response, self.wait) if self.wait else response


def token_in(request: HttpRequest) -> str:
    """Return a Bearer token, or the password of Basic; any name works."""
    scheme, _blank, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = decode(base64.b64decode(sent.strip()[: 8 * LONGEST_TOKEN]))
        except (binascii.Error, ValueError):
            return ""
        return pair.partition(":")[2][:LONGEST_TOKEN]
    return sent.strip()[:LONGEST_TOKEN] if scheme.lower() == "bearer" else ""


def admit(request: HttpRequest, purpose: tokens.Purpose, *, writes: bool) -> Token:
    """Find the request's token, and set the request's user and bounds from it. Raises NotAdmitted.
    Cookies are ignored, so no other site can act in a person's name."""
    return admit_token(request, token_in(request), purpose, writes=writes)


def admit_token(
    request: HttpRequest, token: str, purpose: tokens.Purpose, *, writes: bool
) -> Token:
    row = tokens.find(token) if token else None
    if row is None:
        raise unknown(request, is_guess=bool(token))
    return enter(request, row, purpose, writes=writes)


def enter(request: HttpRequest, row: Token, purpose: tokens.Purpose, *, writes: bool) -> Token:
    """Let a known token in. Raises NotAdmitted."""
    check_rights(request, row, purpose, writes=writes)
    request.user = row.user
    vars(request).update(token=row, bounds=tokens.bounds_of(row))
    tokens.note_use(row, timezone.now())
    return row


def admit_again(request: HttpRequest, *, writes: bool) -> None:
    """Raise NotAdmitted if the request's token was revoked meanwhile, or lost a right: a request
    may take hours."""
    admitted: Token = vars(request)["token"]
    try:
        row = tokens.find_by_digest(admitted.digest)
    finally:
        database_connection.give_back()
    if row is None:
        raise not_recognized()
    check_rights(request, row, admitted.purpose, writes=writes)


def end_with_token(request: HttpRequest) -> None:
    """Let the web server break the response off once the request's token is revoked."""

    def may_go_on() -> bool:
        # While the database is away, nothing is revoked.
        with suppress(DatabaseError):
            try:
                admit_again(request, writes=False)
            except NotAdmitted:
                return False
        return True

    request.META["ferry.may_go_on"] = may_go_on


def unknown(request: HttpRequest, *, is_guess: bool) -> NotAdmitted:
    """Refuse an unknown token, and slow guesses down. A valid token never waits: with 256 random
    bits, guesses are only noise."""
    if is_guess:
        address = request.META["REMOTE_ADDR"]
        wait = throttle.take(throttle.key_for_network("tokens", address))
        log.warning("unknown token address=%s", address)
        if wait:
            return NotAdmitted(429, too_many_tries(wait), wait)
    return not_recognized()


def not_recognized() -> NotAdmitted:
    words = _("Ferry doesn't recognize this token. Create one on the account page.")
    return NotAdmitted(401, words)


def check_rights(request: HttpRequest, row: Token, purpose: str, *, writes: bool) -> None:
    if row.purpose != purpose:
        raise NotAdmitted(403, _("This token is for something else. Create one for this purpose."))
    if not tokens.may_do(Role(row.user.role), purpose, writes=writes):
        raise NotAdmitted(403, _("Your account can't do this."))
    if writes and not row.may_write:
        raise NotAdmitted(403, _("This token can only read."))
    if row.folder and row.service != service_of(request).key:
        raise NotAdmitted(403, _("This token is for a folder of another storage service."))
