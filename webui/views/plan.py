"""The Account screen: the account at the storage service, and what waits on its wishlist."""

import logging
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webui import intake, plans, sending, transfers, wishes
from webui.http import Request
from webui.models import Role
from webui.pages.measures import Calendar
from webui.pages.plan import PlanPart, absent_part, aged_words, plan_part
from webui.pages.verdicts import Verdict
from webui.roles import open_to
from webui.sending import Errand
from webui.v1.errors import Failure, NotFound
from webui.v1.models import Account, Wish

log = logging.getLogger("ferry.account")


def plan_of(request: Request) -> PlanPart:
    """One question to the service; where it can't be answered, the page says so and is whole."""
    now = timezone.now()
    try:
        told = plans.told(request.service, now)
    except Failure as failure:
        return absent_part(failure)
    shown = [(wishes.key_of(wish), wish) for wish in wishes.shown(request.service, told.account)]
    calendar = Calendar(now, timezone.get_current_timezone())
    is_owner = Role(request.user.role).includes(Role.OWNER)
    trouble = aged_words(told.failure, now - told.at) if told.failure else ""
    part = plan_part(told.account, shown, calendar, is_owner=is_owner, trouble=trouble)
    return replace(part, is_embedded=request.service.is_embedded)


@require_POST
@open_to(Role.MEMBER)
def retry(request: Request, wish: str) -> HttpResponse:
    """Once it is a transfer, it is a wish no more."""
    account, found = wish_of(request, wish)
    items = intake.read(found.magnet or "")
    if not items:
        raise NotFound("not_found", status=404)
    errand = Errand(request.service, request.user, None, timezone.now())
    verdict = sending.send(errand, items[:1]).verdicts[0]
    if verdict.is_well:
        wishes.hide(request.service, account, found)
        transfers.changed(request.service)
    say(request, verdict)
    return redirect(f"{reverse('account')}#plan")


@require_POST
@open_to(Role.MEMBER)
def forget(request: Request, wish: str) -> HttpResponse:
    account, found = wish_of(request, wish)
    wishes.hide(request.service, account, found)
    log.info("forgot wish name=%r", request.user.username)
    messages.success(request, _("Forgotten here. The service keeps it on its list."))
    return redirect(f"{reverse('account')}#plan")


def wish_of(request: Request, key: str) -> tuple[Account, Wish]:
    account = request.v1.account()
    found = wishes.found(request.service, account, key)
    if found is None:
        raise NotFound("not_found", status=404)
    return account, found


def say(request: Request, verdict: Verdict) -> None:
    tell = messages.success if verdict.is_well else messages.error
    tell(request, f"{verdict.name}: {verdict.sentence}")
