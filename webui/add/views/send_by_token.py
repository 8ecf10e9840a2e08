"""Add items for scripts, which send a token instead of a session: tokens allow nothing else."""

import logging
from typing import cast

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from webui.add import send_tokens
from webui.add.form_body import deliver_items, nothing_words
from webui.add.pages.outcomes import results_panel, summary_words
from webui.add.send import SendResult
from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.models import Role
from webui.signin import throttle
from webui.signin.session import retry_after, too_many_tries
from webui.uploads.receiving import UploadRefused
from webui.v1.errors import Failure
from webui.words.failures import message_of

log = logging.getLogger("ferry.tokens")


@csrf_exempt
@open_to_strangers("POST")
def send(request: HttpRequest) -> HttpResponse:
    """Add items for a token. Cookies are ignored, so no other site can act in a person's name."""
    token = bearer_token(request)
    user = send_tokens.bearer_of(token, timezone.now()) if token else None
    if user is None:
        return unknown(request, is_guess=bool(token))
    if not Role(user.role).includes(Role.MEMBER):
        return respond(request, 403, _("Your account can't add items."))
    bound = cast("Request", request)
    try:
        delivery = deliver_items(bound, user)
    except UploadRefused as refused:
        return respond(request, refused.status, refused.reason)
    except Failure as failure:
        message = message_of(failure)
        return respond(request, message.status, message.words)
    return report(request, delivery)


def bearer_token(request: HttpRequest) -> str:
    scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip()[:200] if scheme.lower() == "bearer" else ""


def unknown(request: HttpRequest, *, is_guess: bool) -> HttpResponse:
    """Refuse an unknown token, and slow guesses down. A valid token never waits: with 256 random
    bits, guesses are only noise."""
    if is_guess:
        wait = throttle.take(throttle.key_for_network("tokens", request.META["REMOTE_ADDR"]))
        log.warning("unknown token address=%s", request.META["REMOTE_ADDR"])
        if wait:
            return retry_after(respond(request, 429, too_many_tries(wait)), wait)
    response = respond(
        request, 401, _("Ferry doesn't recognize this token. Create one on the account page.")
    )
    response["WWW-Authenticate"] = 'Bearer realm="Ferry"'
    return response


def report(request: HttpRequest, delivery: SendResult) -> HttpResponse:
    """Return a line or JSON record for each item, for scripts and their authors to read."""
    results, left = delivery.results, delivery.left
    if not results and not left:
        return respond(request, 422, nothing_words())
    part = results_panel(results, delivery.failure)
    is_whole = part.is_well and not left
    if wants_json(request):
        rows = [
            {"name": each.name, "outcome": each.outcome, "sentence": each.sentence}
            for each in results
        ]
        body = {"ok": is_whole, "summary": part.summary, "items": rows, "left": left}
        return JsonResponse(body, status=200 if is_whole else 422)
    lines = [f"{each.outcome}: {one_line(each.name)}: {each.sentence}" for each in results]
    lines += [f"left: {one_line(line)}" for line in left]
    return plain_text("\n".join([*lines, summary_words(results)]), 200 if is_whole else 422)


def respond(request: HttpRequest, status: int, words: str) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"ok": False, "reason": words}, status=status)
    return plain_text(words, status)


def wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def one_line(text: str) -> str:
    """Replace control characters, which terminals obey, and direction marks, which mislead."""
    return "".join(char if char.isprintable() else "?" for char in text)
