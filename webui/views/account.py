import logging

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from webui import shell
from webui.forms import ChangePassword
from webui.http import Request
from webui.models import Role
from webui.pages.account import AccountPage
from webui.roles import open_to, open_to_strangers

log = logging.getLogger("ferry.account")


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render_with(request, ChangePassword(request.user))


def render_with(request: Request, form: ChangePassword, status: int = 200) -> HttpResponse:
    page = AccountPage(request.user.username, str(Role(request.user.role).label))
    context = {"page": page, "form": form}
    return render(request, "account/show.html", context, status=status)


@sensitive_post_parameters()
@require_POST
@open_to(Role.GUEST)
def password(request: Request) -> HttpResponse:
    """Ends every other session: their hash of the password no longer fits."""
    form = ChangePassword(request.user, request.POST)
    if form.is_valid():
        return _change(request, form)
    if request.htmx:
        return render(request, "account/_password.html", {"form": form}, status=422)
    return render_with(request, form, status=422)


def _change(request: Request, form: ChangePassword) -> HttpResponse:
    request.user.set_password(form.cleaned_data["password"])
    request.user.save(update_fields=["password"])
    update_session_auth_hash(request, request.user)
    log.info("changed password name=%r", request.user.username)
    done = _("Password changed. Every other device is signed out.")
    if request.htmx:
        context = {"form": ChangePassword(request.user), "done": done}
        return render(request, "account/_password.html", context)
    messages.success(request, done)
    return redirect("account")


@require_POST
@open_to_strangers
def look(request: HttpRequest) -> HttpResponse:
    """Keeps the colour scheme in this browser. The page itself has changed at once, by CSS."""
    is_htmx = bool(getattr(request, "htmx", None))
    response = HttpResponse(status=204) if is_htmx else redirect("account")
    shell.keep_theme(response, request.POST.get("theme", ""))
    return response
