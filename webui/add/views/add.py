"""Add items from a page, a bookmarklet, a share, or a link. Nothing is added without a click."""

import logging
from dataclasses import asdict, replace
from functools import wraps
from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from webui.add import form_body, parse
from webui.add.form_body import OutOfDate, deliver_items, nothing_words
from webui.add.pages import add as pages
from webui.add.pages.outcomes import results_panel, row_of
from webui.add.parse import Item
from webui.add.screen import box_of
from webui.add.send import SendResult
from webui.errors import answers as error_answers
from webui.http import unsent_forms
from webui.http.requests import Request, form_page_url, is_script, service_of
from webui.http.roles import DjangoView, Params, open_to, open_to_strangers
from webui.library import recent_folders
from webui.library.entries import ROOT
from webui.library.folders import LONGEST_ID
from webui.models import Role
from webui.uploads.receiving import UploadRefused, refusal_for_script

log = logging.getLogger("ferry.sending")

ASKING = ("magnet", "url", "text")
# The list follows later: from behind the `#`, the service worker, or the installed app.
AWAITED = ("list", "shared", "opened")
FIELD_TEMPLATE = "add/new.html"


# Ended sessions


def preserve_text(view: DjangoView[Params]) -> DjangoView[Params]:
    """Preserve the text of a plain form whose session has ended: it waits in the sign-in page,
    since the server keeps nothing for strangers."""

    @wraps(view)
    def wrapper(
        request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs
    ) -> HttpResponseBase:
        is_late = request.method == "POST" and not request.user.is_authenticated
        if not is_late or is_script(request):
            return view(request, *args, **kwargs)
        if waiting := unsent_forms.sign_in_first(request, form_page_url(request)):
            return waiting
        if unsent_forms.is_short(request) and not unsent_forms.fields_of(request):
            return redirect_to_login(reverse("add"))
        return too_late(request)

    return cast("DjangoView[Params]", wrapper)


def too_late(request: HttpRequest) -> HttpResponse:
    words = _(
        "You were signed out in the meantime, so Ferry didn't add anything. Go back, "
        "copy what you typed, sign in, and send it again."
    )
    return error_answers.plain(request, 403, text=words)


# The field


@csrf_exempt
@preserve_text
@open_to(Role.MEMBER, "POST")
def send(request: Request) -> HttpResponse:
    """Add the items. Django's CSRF check would read the whole body: webui.http.csrf replaces it."""
    return deliver(request, FIELD_TEMPLATE)


def deliver(request: Request, template: str) -> HttpResponse:
    try:
        delivery = deliver_items(request)
    except UploadRefused as refused:
        return refusal(request, refused)
    if service_of(request).takes_folder:
        recent_folders.remember(request, delivery.folder[:LONGEST_ID], delivery.site)
    if is_script(request):
        return for_script(delivery)
    is_done = bool(delivery.results) and all(each.is_plain for each in delivery.results)
    if is_done and not delivery.left and template == FIELD_TEMPLATE:
        return show_transfers(request, delivery)
    return show_results(request, template, delivery)


def show_transfers(request: Request, delivery: SendResult) -> HttpResponse:
    """Lead from a plain form that added everything to the list in which it moves."""
    messages.success(request, results_panel(delivery.results).summary)
    return redirect(f"{reverse('transfers')}?{urlencode({'added': delivery.folder or ROOT})}")


def refusal(request: Request, refused: UploadRefused) -> HttpResponse:
    if is_script(request):
        return refusal_for_script(request, refused)
    if isinstance(refused, OutOfDate):
        log.warning("refused form path=%s reason='out of date'", request.path)
        form_input, panel = refused.form_input, results_panel([], refused.reason)
        box = replace(box_of(request, form_input.folder), text=form_input.text, results=panel)
        return render(request, FIELD_TEMPLATE, {"box": box}, status=403)
    return error_answers.plain(request, refused.status, text=refused.reason)


def for_script(delivery: SendResult) -> JsonResponse:
    """Answer a script. `kept` goes back into the field; the script may send `left` at once."""
    results = delivery.results
    part = results_panel(results, delivery.failure)
    bad = next((result for result in results if not result.is_well), None)
    return JsonResponse(
        {
            "ok": bool(results) and part.is_well,
            "reason": bad.sentence if bad else "" if results else nothing_words(),
            "name": results[0].name if results else "",
            "items": [{**asdict(row_of(each)), "line": each.item.line} for each in results],
            "kept": delivery.kept,
            "left": delivery.left,
            "trouble": delivery.failure,
        }
    )


def show_results(request: Request, template: str, delivery: SendResult) -> HttpResponse:
    """Answer a plain form with the outcome of each item, and the rest back in the field."""
    is_nothing = not delivery.results and not delivery.left
    failure = delivery.failure or (nothing_words() if is_nothing else "")
    part = results_panel(delivery.results, failure)
    text = "\n".join(delivery.kept + delivery.left)
    left = pages.left_words(len(delivery.left))
    box = replace(box_of(request, delivery.folder), text=text, left=left, results=part)
    page = pages.ask_page(parse.read(text), box, is_awaited=False)
    status = 200 if part.is_well else 422
    return render(request, template, {"box": box, "page": page}, status=status)


@csrf_exempt
@open_to(Role.MEMBER, "POST")
def read(request: Request) -> HttpResponse:
    """Show a script how a text is parsed: in the field, or with `picks` on the page that asks."""
    try:
        form_input = form_body.read_form_input(request, takes_files=False)
    except UploadRefused as refused:
        return refusal(request, refused)
    if "picks" in request.GET:
        picks = pages.pick_list(named_items(form_input.text, form_input.title))
        rows = render_to_string("add/_picks.html", {"picks": picks})
        last = recent_folders.find_last(request, form_input.site)
        folder = [last.folder, last.path or last.name] if last else None
        return JsonResponse({"picks": rows, "folder": folder})
    reading = pages.field_reading(parse.read(form_input.text))
    marks = render_to_string("add/_marks.html", {"reading": reading})
    return JsonResponse({"found": reading.found, "button": reading.button, "marks": marks})


# The page that asks first


@csrf_exempt
@preserve_text
@open_to(Role.MEMBER, "GET", "POST")
def add(request: Request) -> HttpResponse:
    """Show the page on GET, add the items on POST. Exempt from Django's CSRF check, like `send`."""
    return deliver(request, "add/ask.html") if request.method == "POST" else ask(request)


def ask(request: Request) -> HttpResponse:
    lines = [value for name in ASKING for value in request.GET.getlist(name) if value.strip()]
    is_awaited = any(name in request.GET for name in AWAITED)
    box = box_of(request, request.GET.get("folder", ""))
    if not lines and not is_awaited:
        return render(request, FIELD_TEMPLATE, {"box": box})
    items = named_items("\n".join(lines), request.GET.get("title", ""))
    page = pages.ask_page(items, box, is_awaited=is_awaited)
    return render(request, "add/ask.html", {"box": box, "page": page})


def named_items(text: str, title: str) -> list[Item]:
    """Return the links alone if there are any: the other lines are prose that came with them."""
    items = parse.read(text)
    links: list[Item] = [item for item in items if not isinstance(item, parse.UnreadableItem)]
    if len(links) == 1:
        return [parse.add_name(links[0], title)]
    return links or items


@csrf_exempt
@open_to_strangers("GET", "POST")
def redirect_share(_request: HttpRequest) -> HttpResponse:
    """Answer a share that the phone's service worker didn't intercept. Nothing is read or kept,
    since the phone doesn't say who is asking."""
    response = redirect("add")
    response.status_code = 303
    response["Location"] += "?shared=none"
    return response
