from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.activity import events
from webui.activity.events import Kind
from webui.errors import answers as error_answers
from webui.errors.page import Action, error_page
from webui.forms import Join
from webui.http.requests import asks_and_acts
from webui.http.roles import open_to_strangers
from webui.models import OneTimeLink, Role, User
from webui.signin import one_time_links
from webui.signin.session import welcome_in


@sensitive_post_parameters()
@asks_and_acts
@open_to_strangers
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Create the first owner. A GET, as scanners and previews send, doesn't use up the link."""
    if not one_time_links.find(OneTimeLink.WELCOME, token, timezone.now()):
        return unusable(request)
    form = Join(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        owner = make_owner(token, form)
        if owner is None:
            return unusable(request)
        response = welcome_in(request, owner, by_password=True)
        events.record(request, Kind.OWNER_MADE, owner.username)
        return response
    status = 422 if form.is_bound else 200
    return render(request, "signin/welcome.html", {"form": form}, status=status)


def unusable(request: HttpRequest) -> HttpResponse:
    """Say why the link doesn't work. The response is the same for used and guessed links."""
    if User.objects.has_owner():
        actions = [Action(reverse("signin"), _("Sign in"), is_primary=True)]
        title = _("Ferry already has an owner")
        text = _("A welcome link works once. Sign in, or ask the owner to invite you.")
    else:
        actions = []
        title = _("This link has expired")
        text = _("Restart Ferry. It prints a new link each time it starts, until it has an owner.")
    return error_answers.answer(request, error_page(404, actions, title=title, text=text), 404)


def make_owner(token: str, form: Join) -> User | None:
    """Create the first owner, or return None if someone else was first."""
    with transaction.atomic():
        is_first = one_time_links.consume(OneTimeLink.WELCOME, token, timezone.now())
        if not is_first or User.objects.has_owner():
            return None
        return User.objects.create_user(
            form.cleaned_data["username"], form.cleaned_data["password"], Role.OWNER
        )
