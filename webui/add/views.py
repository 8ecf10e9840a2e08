"""Every way in that a browser knows. Opening a page adds nothing; only its button does."""

import logging
from contextlib import suppress
from dataclasses import asdict
from functools import wraps
from typing import cast
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from webui import folders, intake, sending, transfers
from webui.connection import Service
from webui.http import Request, asks_and_acts, is_script
from webui.intake import Intake, Item
from webui.models import Role, User
from webui.pages import sending as pages
from webui.pages.entries import ROOT
from webui.pages.gauge import gauge_of
from webui.pages.sending import AddBox
from webui.pages.verdicts import Verdict, row_of, verdicts_part
from webui.roles import DjangoView, Params, open_to, open_to_strangers
from webui.sending import Errand, Sending
from webui.v1.errors import Failure
from webui.views import errors, parcels
from webui.views.parcels import TEXT_FIELDS, OutOfDate, Parcel
from webui.views.uploads import Refused, refusal_for_script

log = logging.getLogger("ferry.sending")

MOST_FOLDERS = 300
LONGEST_ADDRESS = 6_000  # Servers refuse request lines of more than 8,190 bytes.
ASKING = ("magnet", "url", "text", "title")
# The list stands after `#`, in the worker's keep, or in the hands of the installed app.
AWAITED = ("list", "shared", "opened")


# Whose session has ended


def keeping_text(view: DjangoView[Params]) -> DjangoView[Params]:
    """Of a plain form that comes too late, what was typed waits behind the sign-in, in the address
    of the page that asks first: nothing of a stranger's is kept here."""

    @wraps(view)
    def kept(request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponseBase:
        is_late = request.method == "POST" and not request.user.is_authenticated
        if not is_late or is_script(request):
            return view(request, *args, **kwargs)
        return asked_later(request) or too_late(request)

    return cast("DjangoView[Params]", kept)


def asked_later(request: HttpRequest) -> HttpResponse | None:
    """None of what no address can hold; of that, nothing is read."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal() or int(length) > 2 * LONGEST_ADDRESS:
        return None
    lines = [line for name in TEXT_FIELDS for line in request.POST.getlist(name) if line]
    query = urlencode({"text": "\n".join(lines)})
    response = redirect_to_login(f"{reverse('add')}?{query}" if lines else reverse("add"))
    return response if len(response.url) <= LONGEST_ADDRESS else None


def too_late(request: HttpRequest) -> HttpResponse:
    words = _(
        "You were signed out meanwhile, so nothing was added. Go back, copy what you typed, sign "
        "in, and send it again."
    )
    return errors.plain(request, 403, text=words)


# The field


@csrf_exempt
@require_POST
@keeping_text
@open_to(Role.MEMBER)
def send(request: Request) -> HttpResponse:
    """Exempt from Django's check, which would read the whole body: see webui.forgery."""
    try:
        parcel = parcels.unpacked(request, lambda folder: errand_of(request, folder))
    except Refused as refused:
        return refusal(request, refused)
    taken, done = delivered(request, parcel)
    if is_script(request):
        return for_script(request, parcel, taken, done)
    return answered(request, "add/new.html", parcel, taken, done)


def errand_of(request: Request, folder: str, by: User | None = None) -> Errand:
    is_elsewhere = request.service.takes_folder and folder not in ("", ROOT)
    return Errand(
        request.service, by or request.user, folder if is_elsewhere else None, timezone.now()
    )


def delivered(request: Request, parcel: Parcel, by: User | None = None) -> tuple[Intake, Sending]:
    taken = intake.taken(parcel.text)
    items = taken.items
    if len(items) == 1:
        items = [intake.named(items[0], parcel.title)]
    done = sending.send(errand_of(request, parcel.folder, by), items)
    if any(verdict.is_well for verdict in parcel.verdicts + done.verdicts):
        transfers.changed(request.service)
    return taken, done


def refusal(request: Request, refused: Refused) -> HttpResponse:
    if is_script(request):
        return refusal_for_script(request, refused)
    if isinstance(refused, OutOfDate):
        log.warning("refused form path=%s reason='out of date'", request.path)
        box = box_of(request, refused.parcel.folder, text=refused.parcel.text)
        box = pages.with_verdicts(box, verdicts_part([], refused.reason))
        return render(request, "add/new.html", {"box": box}, status=403)
    return errors.plain(request, refused.status, text=refused.reason)


def for_script(request: Request, parcel: Parcel, taken: Intake, done: Sending) -> JsonResponse:
    """`kept` belongs back into the field; `left` may be sent at once."""
    verdicts = parcel.verdicts + done.verdicts
    part = verdicts_part(verdicts, done.trouble)
    bad = next((verdict for verdict in verdicts if not verdict.is_well), None)
    return JsonResponse(
        {
            "ok": bool(verdicts) and part.is_well,
            "reason": bad.sentence if bad else "" if verdicts else nothing_words(),
            "name": verdicts[0].name if verdicts else "",
            "items": [script_item(verdict) for verdict in verdicts],
            "kept": [verdict.line for verdict in verdicts if verdict.line],
            "left": left_lines(taken, done),
            "trouble": done.trouble,
        }
    )


def script_item(verdict: Verdict) -> dict[str, str]:
    return {**asdict(row_of(verdict)), "line": verdict.item.line}


def nothing_words() -> str:
    return _("Paste a link or choose a file first.")


def left_lines(taken: Intake, done: Sending) -> list[str]:
    return [item.line for item in done.left] + taken.rest.splitlines()


def answered(
    request: Request, template: str, parcel: Parcel, taken: Intake, done: Sending
) -> HttpResponse:
    """For a plain form: what became of each, and what is left back in the field."""
    verdicts = parcel.verdicts + done.verdicts
    trouble = done.trouble or ("" if verdicts or done.left else nothing_words())
    part = verdicts_part(verdicts, trouble)
    left = left_lines(taken, done)
    text = "\n".join([verdict.line for verdict in verdicts if verdict.line] + left)
    box = box_of(request, parcel.folder, text=text, left_count=len(left))
    box = pages.with_verdicts(box, part)
    page = pages.ask_page(intake.read(text), box, is_awaited=False)
    status = 200 if part.is_well else 422
    return render(request, template, {"box": box, "page": page}, status=status)


def box_beside(request: Request) -> AddBox:
    """On a page that asks the service for something else: the folders that are known will do."""
    return box_of(request, is_asking=False)


def box_of(
    request: Request,
    folder: str = "",
    *,
    text: str = "",
    left_count: int = 0,
    is_asking: bool = True,
) -> AddBox:
    """What `transfers/_add.html` shows. It must not come to grief over a service that is away."""
    choices: list[tuple[str, str]] = []
    gauge = None
    with suppress(Failure):
        service = request.service
        gauge = gauge_of(*folders.store().space(service.key))
        choices = choices_of(service, folder, is_asking=is_asking)
    return pages.add_box(choices, folder, gauge, text=text, left_count=left_count)


def choices_of(service: Service, folder: str, *, is_asking: bool) -> list[tuple[str, str]]:
    """Those of the root, and the one that is open now."""
    if not service.takes_folder:
        return []
    if is_asking:
        folders.read(service, ROOT, now=timezone.now())
    root = folders.store().known(service.key, ROOT)
    if root is None:
        return []
    entries = root.snapshot.contents
    found = [(each.id, each.name) for each in entries.in_order("name") if each.is_folder]
    choices = found[:MOST_FOLDERS]
    if folder not in ("", ROOT) and folder not in dict(choices):
        known = folders.store().known(service.key, folder)
        choices += [(folder, known.snapshot.name)] if known else []
    return choices


# The page that asks first


@csrf_exempt
@asks_and_acts
@keeping_text
@open_to(Role.MEMBER)
def add(request: Request) -> HttpResponse:
    """GET shows, POST acts. Exempt from Django's check as above."""
    if request.method != "POST":
        return asked(request)
    try:
        parcel = parcels.unpacked(request, lambda folder: errand_of(request, folder))
    except Refused as refused:
        return refusal(request, refused)
    taken, done = delivered(request, parcel)
    return answered(request, "add/ask.html", parcel, taken, done)


def asked(request: Request) -> HttpResponse:
    lines = [value for name in ASKING[:3] for value in request.GET.getlist(name) if value.strip()]
    is_awaited = any(name in request.GET for name in AWAITED)
    folder = request.GET.get("folder", "")
    if not lines and not is_awaited:
        return render(request, "add/new.html", {"box": box_of(request, folder)})
    items = named_items("\n".join(lines), request.GET.get("title", ""))
    box = box_of(request, folder)
    page = pages.ask_page(items, box, is_awaited=is_awaited)
    return render(request, "add/ask.html", {"box": box, "page": page})


def named_items(text: str, title: str) -> list[Item]:
    """What is no link beside links is prose that came with them."""
    items = intake.read(text)
    links: list[Item] = [item for item in items if not isinstance(item, intake.Unreadable)]
    if len(links) == 1:
        return [intake.named(links[0], title)]
    return links or items


@csrf_exempt
@asks_and_acts
@open_to_strangers
def shared(_request: HttpRequest) -> HttpResponse:
    """Where the phone's worker takes what was shared. Without it nothing is read and nothing is
    kept: the phone doesn't say who is asking."""
    response = redirect("add")
    response.status_code = 303
    response["Location"] += "?shared=none"
    return response
