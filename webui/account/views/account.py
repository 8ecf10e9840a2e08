from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from webui.account.forms import ChangePassword
from webui.account.screen import context_for
from webui.activity import events
from webui.activity.events import Kind
from webui.http import languages
from webui.http.requests import Request
from webui.http.roles import open_to, open_to_strangers
from webui.models import Role
from webui.shell import context as shell_context
from webui.signin import devices
from webui.signin.session import check_own_password, note_password, remember_device


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "account/show.html", context_for(request))


@sensitive_post_parameters()
@require_POST
@open_to(Role.GUEST)
def password(request: Request) -> HttpResponse:
    """Change the password. All other sessions end, as their password hash no longer matches."""
    form = ChangePassword(request.user, request.POST)
    refusal = check_own_password(request, form, "old_password")
    if refusal:
        return refusal
    if form.is_valid():
        return _change(request, form)
    template = "account/_password.html" if request.htmx else "account/show.html"
    return render(request, template, context_for(request, form), status=422)


def _change(request: Request, form: ChangePassword) -> HttpResponse:
    request.user.set_password(form.cleaned_data["password"])
    request.user.save(update_fields=["password"])
    devices.stay(request, request.user)
    note_password(request)
    own_key = request.session.session_key or ""
    devices.sign_out(request.user.devices.exclude(session_key=own_key))
    events.record(request, Kind.PASSWORD_CHANGED, request.user.username)
    if request.htmx:
        context = {**context_for(request), "is_changed": True}
        response = render(request, "account/_password.html", context)
    else:
        messages.success(request, _("Password changed. Your other devices are signed out."))
        response = redirect(reverse("account", fragment="password"))
    remember_device(response, request.user)
    return response


@require_POST
@open_to(Role.GUEST)
def language(request: Request) -> HttpResponse:
    """Save the language for all devices of a person. If it's unknown, let the browser decide."""
    chosen = request.POST.get("language", "")
    request.user.language = chosen if languages.is_spoken(chosen) else ""
    request.user.save(update_fields=["language"])
    translation.activate(request.user.language or translation.get_language_from_request(request))
    messages.success(request, _("Language saved"))
    return redirect(reverse("account", fragment="language-save"))


@require_POST
@open_to_strangers
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Save the color scheme in this browser. The page itself has already changed, by CSS."""
    is_htmx = bool(getattr(request, "htmx", None))
    back_url = reverse("account", fragment="browser")
    response = HttpResponse(status=204) if is_htmx else redirect(back_url)
    shell_context.keep_theme(response, request.POST.get("theme", ""))
    return response
