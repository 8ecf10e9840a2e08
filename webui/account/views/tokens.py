"""Make and revoke tokens for scripts on the Account screen."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webui.account import screen
from webui.activity import events
from webui.activity.events import Kind
from webui.add import send_tokens
from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role, SendToken, User
from webui.signin.ask_password import require_password

MOST_EACH = 20
LONGEST_NAME = 60


@require_POST
@open_to(Role.MEMBER)
@require_password("account", "tokens")
def make(request: Request) -> HttpResponse:
    """Make a token. Only this response contains it: no URL, session, or log does."""
    name = " ".join(request.POST.get("name", "").split())[:LONGEST_NAME]
    error = find_name_error(request.user, name)
    if error:
        return render_tokens(request, {"token_error": error, "token_name": name}, status=422)
    token = send_tokens.create(request.user, name, timezone.now())
    events.record(request, Kind.TOKEN_MADE, name)
    return render_tokens(request, {"token": token})


def find_name_error(user: User, name: str) -> str:
    own = SendToken.objects.filter(user=user)
    if not name:
        return _("Enter a name, so that you can recognize this token later.")
    if own.filter(name=name).exists():
        return _("You already have a token with this name.")
    if own.count() >= MOST_EACH:
        words = _("You already have %(count)s tokens. Revoke one that you don't need.")
        return words % {"count": MOST_EACH}
    return ""


@require_POST
@open_to(Role.MEMBER)
def revoke(request: Request, token: int) -> HttpResponse:
    row = SendToken.objects.filter(user=request.user, pk=token).first()
    if row is not None:
        row.delete()
        events.record(request, Kind.TOKEN_REVOKED, row.name)
    if request.htmx:
        return render_tokens(request, {"is_revoked": True})
    messages.success(request, _("Token revoked"))
    return redirect(reverse("account", fragment="tokens"))


def render_tokens(request: Request, more: dict[str, object], status: int = 200) -> HttpResponse:
    template = "account/_tokens.html" if request.htmx else "account/show.html"
    context = {**screen.context_for(request), **more}
    return render(request, template, context, status=status)
