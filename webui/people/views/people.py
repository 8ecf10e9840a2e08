"""People on the Server screen, for owners, and the link by which a person joins."""

from django.contrib import messages
from django.contrib.auth import logout
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.activity import events
from webui.forms import Join
from webui.http.requests import Request
from webui.http.roles import open_to, open_to_strangers
from webui.models import OneTimeLink, Role, User
from webui.people import people
from webui.people.device_addresses import device_addresses
from webui.people.pages.people import invited_page, person_page, role_choices
from webui.signin import devices, one_time_links
from webui.signin.ask_password import require_password
from webui.signin.session import count_guess, welcome_in
from webui.words.formatting import Calendar, role_words

# One person


@open_to(Role.OWNER, "GET", "POST")
@require_password("account-server", "people", lambda request: wanted_role(request) is Role.OWNER)
def person(request: Request, person: int) -> HttpResponse:
    user = get_object_or_404(User, pk=person)
    if request.method != "POST":
        return show(request, user)
    role = wanted_role(request)
    if role is None:
        return show(request, user, _("Choose a role."))
    try:
        people.change_role(user, role, request.user)
    except people.ChangeRefused as refused:
        return show(request, user, refusal_of(refused))
    events.record(request, events.Kind.ROLE_CHANGED, user.username, detail=role)
    words = {"name": user.username, "role": role_words(role)}
    return leave(request, _("%(name)s now has the role %(role)s") % words)


@open_to(Role.OWNER, "POST")
def sign_out(request: Request, person: int) -> HttpResponse:
    user = get_object_or_404(User, pk=person)
    devices.sign_out_everywhere(user, request)
    events.record(request, events.Kind.PERSON_SIGNED_OUT, user.username)
    return leave(request, _("%(name)s is signed out everywhere") % {"name": user.username})


@open_to(Role.OWNER, "POST")
def remove(request: Request, person: int) -> HttpResponse:
    user = get_object_or_404(User, pk=person)
    name, is_self = user.username, user.pk == request.user.pk
    try:
        people.remove(user, request.user)
    except people.ChangeRefused as refused:
        return show(request, user, refusal_of(refused))
    events.record(request, events.Kind.REMOVED, name)
    if is_self:
        logout(request)
        return redirect("signin")
    return leave(request, _("%(name)s removed") % {"name": name})


def show(request: Request, user: User, refusal: str = "") -> HttpResponse:
    count = devices.of(user, timezone.now()).count()
    page = person_page(user, request.user, count, Calendar.now(), refusal)
    return render(request, "people/person.html", {"page": page}, status=422 if refusal else 200)


def refusal_of(refused: people.ChangeRefused) -> str:
    words = {
        "last_owner": _("Ferry needs an owner. Make someone else an owner first."),
        "no_owner": _("You're no longer an owner."),
        "too_many_invitations": _("There are too many open invitations. Revoke some first."),
    }
    return words[str(refused)]


def leave(request: Request, message: str) -> HttpResponse:
    messages.success(request, message)
    return redirect(reverse("account-server", fragment="people"))


def wanted_role(request: Request) -> Role | None:
    value = request.POST.get("role", "")
    return Role(value) if value in Role.values else None


# Invitations


@open_to(Role.OWNER, "GET", "POST")
@require_password("account-server", "people", lambda request: wanted_role(request) is Role.OWNER)
def invite(request: Request) -> HttpResponse:
    """Show a new link. It appears in this response only: in no URL, log, or database."""
    if request.method != "POST":
        return show_invite(request)
    role = wanted_role(request)
    if role is None:
        return show_invite(request, _("Choose a role."))
    now = timezone.now()
    try:
        token = people.invite(role, request.user, now)
    except people.ChangeRefused as refused:
        return show_invite(request, refusal_of(refused))
    events.record(request, events.Kind.INVITED, detail=role)
    addresses = device_addresses(request, reverse("join", args=[token]))
    expires = Calendar.now().to_the_minute(now + people.INVITATION_LIFETIME)
    page = invited_page(role, addresses, expires)
    return render(request, "people/invited.html", {"page": page})


def show_invite(request: Request, refusal: str = "") -> HttpResponse:
    page = {"role": Role.MEMBER, "roles": role_choices(), "refusal": refusal}
    return render(request, "people/invite.html", {"page": page}, status=422 if refusal else 200)


@open_to(Role.OWNER, "POST")
def revoke(request: Request, invitation: int) -> HttpResponse:
    """Revoke an invitation. A used or expired one counts as revoked."""
    rows = one_time_links.invitations(timezone.now()).filter(pk=invitation)
    if rows.delete()[0]:
        events.record(request, events.Kind.INVITATION_REVOKED)
    return leave(request, _("Invitation revoked"))


# Joining


@sensitive_post_parameters()
@open_to_strangers("GET", "POST")
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Add a person by a link. A GET, as scanners and previews send, doesn't use up the link."""
    if not one_time_links.find(OneTimeLink.INVITATION, token, timezone.now()):
        return count_guess(request)
    form = Join(request.POST if request.method == "POST" else None)
    if form.is_valid():
        name, password = form.cleaned_data["username"], form.cleaned_data["password"]
        try:
            user = people.join(token, name, password, timezone.now())
        except IntegrityError:
            form.add_error("username", _("Someone already has this name."))
        else:
            return welcome(request, user)
    status = 422 if form.is_bound else 200
    return render(request, "people/join.html", {"form": form}, status=status)


def welcome(request: HttpRequest, user: User | None) -> HttpResponse:
    if user is None:
        raise Http404
    response = welcome_in(request, user, by_password=True)
    events.record(request, events.Kind.JOINED, detail=user.role)
    return response
