"""Add items for scripts, which send a token instead of a session: tokens allow nothing else."""

from typing import cast

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from webui.add.form_body import deliver_items, nothing_words
from webui.add.pages.outcomes import results_panel, summary_words
from webui.add.send import SendResult
from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.tokens.tokens import Purpose
from webui.uploads.receiving import UploadRefused
from webui.v1.errors import Failure
from webui.words.failures import message_of


@csrf_exempt
@open_to_strangers("POST")
def send(request: HttpRequest) -> HttpResponse:
    """Add items for a token. Cookies are ignored, so no other site can act in a person's name."""
    try:
        user = doors.admit(request, Purpose.SEND, writes=True).user
    except NotAdmitted as refused:
        return refused.set_headers(respond(request, refused.status, refused.words), "Bearer")
    bound = cast("Request", request)
    try:
        delivery = deliver_items(bound, user)
    except UploadRefused as refused:
        return respond(request, refused.status, refused.reason)
    except Failure as failure:
        message = message_of(failure)
        return respond(request, message.status, message.words)
    return report(request, delivery)


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
