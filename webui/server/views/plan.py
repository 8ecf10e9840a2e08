"""The wishlist of the account at the storage service, on the Server screen."""

import logging

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webui.add import parse
from webui.add import send as add_send
from webui.add.send import SendContext
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.models import Role
from webui.server import wishlist
from webui.transfers import actions
from webui.v1.errors import NotFound
from webui.v1.records import Account, Wish

log = logging.getLogger("ferry.account")


@require_POST
@open_to(Role.MEMBER)
def retry(request: Request, wish: str) -> HttpResponse:
    account, target = find_wish(request, wish)
    items = parse.read(target.magnet or "")
    if not items:
        raise NotFound("not_found", status=404)
    context = SendContext(service_of(request), request.user, None, timezone.now())
    result = add_send.send(context, items[:1]).results[0]
    if result.is_well:
        wishlist.hide(service_of(request), account, target)
        actions.mark_changed(service_of(request))
    tell = messages.success if result.is_well else messages.error
    tell(request, f"{result.name}: {result.sentence}")
    return redirect(reverse("account-server", fragment="plan"))


@require_POST
@open_to(Role.MEMBER)
def forget(request: Request, wish: str) -> HttpResponse:
    account, target = find_wish(request, wish)
    wishlist.hide(service_of(request), account, target)
    log.info("removed wish name=%r", request.user.username)
    messages.success(request, _("Hidden. The item stays on the service's list."))
    return redirect(reverse("account-server", fragment="plan"))


def find_wish(request: Request, key: str) -> tuple[Account, Wish]:
    account = service_of(request).v1.account()
    for wish in wishlist.visible_wishes(service_of(request), account):
        if wishlist.key_of(wish) == key:
            return account, wish
    raise NotFound("not_found", status=404)
