import logging

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from webui import activity
from webui.activity import Kind
from webui.forms import Join
from webui.http import asks_and_acts
from webui.models import OneTimeLink, Role, User
from webui.roles import open_to_strangers
from webui.views.signin import welcome_in

log = logging.getLogger("ferry.welcome")


@sensitive_post_parameters()
@asks_and_acts
@open_to_strangers
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Makes the first owner. Looking at the link, as scanners and previews do, uses nothing up."""
    if not OneTimeLink.is_good(OneTimeLink.WELCOME, token, timezone.now()):
        raise Http404
    form = Join(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        owner = make_owner(token, form)
        response = welcome_in(request, owner, resolve_url("files"), by_password=True)
        activity.record(request, Kind.OWNER_MADE, owner.username)
        return response
    status = 422 if form.is_bound else 200
    return render(request, "welcome/show.html", {"form": form}, status=status)


def make_owner(token: str, form: Join) -> User:
    with transaction.atomic():
        is_first = OneTimeLink.consume(OneTimeLink.WELCOME, token, timezone.now())
        if not is_first or User.objects.has_owner():
            raise Http404
        owner = User.objects.create_user(
            form.cleaned_data["username"], form.cleaned_data["password"], Role.OWNER
        )
    log.info("made owner name=%r", owner.username)
    return owner
