"""The Account screen: a person's own password, language, devices, and tokens."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.account.forms import ChangePassword, TokenForm
from webui.activity import events
from webui.add.screen import load_from_elsewhere
from webui.http.requests import Request, respond, service_of
from webui.http.roles import open_to, open_to_strangers
from webui.models import ProgramPassword, Role
from webui.shares.screen import shares_of
from webui.shell import context as shell_context
from webui.signin import devices
from webui.signin.ask_password import require_password
from webui.signin.page import MOST_DEVICES, devices_part, name_and_icon
from webui.signin.session import check_own_password, note_password, remember_device
from webui.tokens import tokens
from webui.tokens.page import NewToken
from webui.tokens.screen import tokens_of
from webui.tokens.tokens import Purpose
from webui.words.formatting import Calendar

# Below the site's address, which programs for qBittorrent and Transmission need themselves.
DOORS = {Purpose.DRIVE: "dav/", Purpose.PROGRAMS: ""}


@open_to(Role.GUEST, "GET")
def show(request: Request) -> HttpResponse:
    return render(request, "account/show.html", context_for(request))


@sensitive_post_parameters()
@open_to(Role.GUEST, "POST")
def password(request: Request) -> HttpResponse:
    """Change the password. All other sessions end, as their password hash no longer matches."""
    form = ChangePassword(request.user, request.POST)
    refusal = check_own_password(request, form, "old_password")
    if refusal:
        return refusal
    if form.is_valid():
        return change_password(request, form)
    template = "account/_password.html" if request.htmx else "account/show.html"
    return render(request, template, context_for(request, form), status=422)


def change_password(request: Request, form: ChangePassword) -> HttpResponse:
    request.user.set_password(form.cleaned_data["password"])
    request.user.save(update_fields=["password"])
    devices.stay(request, request.user)
    note_password(request)
    own_key = request.session.session_key or ""
    devices.sign_out(request.user.devices.exclude(session_key=own_key))
    events.record(request, events.Kind.PASSWORD_CHANGED, request.user.username)
    if request.htmx:
        context = {**context_for(request), "is_changed": True}
        response = render(request, "account/_password.html", context)
    else:
        messages.success(request, _("Password changed. Your other devices are signed out."))
        response = redirect(reverse("account", fragment="password"))
    remember_device(response, request.user)
    return response


@open_to(Role.GUEST, "POST")
def language(request: Request) -> HttpResponse:
    """Save the language for all devices of a person. If it's unknown, let the browser decide."""
    chosen = request.POST.get("language", "")
    request.user.language = chosen if chosen in dict(settings.LANGUAGES) else ""
    request.user.save(update_fields=["language"])
    translation.activate(request.user.language or translation.get_language_from_request(request))
    messages.success(request, _("Language saved"))
    return redirect(reverse("account", fragment="language-save"))


@open_to_strangers("POST")
def choose_look(request: HttpRequest) -> HttpResponse:
    """Save the color scheme in this browser, which CSS has already changed, or its distance."""
    is_htmx = bool(getattr(request, "htmx", None))
    back_url = reverse("account", fragment="browser")
    response = HttpResponse(status=204) if is_htmx else redirect(back_url)
    if "television" in request.POST:
        shell_context.keep_television(response, request.POST["television"])
    else:
        shell_context.keep_theme(response, request.POST.get("theme", ""))
    return response


# Devices


@open_to(Role.GUEST, "POST")
def sign_out_device(request: Request, device: int) -> HttpResponse:
    """Sign out a device. A device that is already gone counts as signed out."""
    chosen = request.user.devices.filter(pk=device)
    for each in chosen:
        events.record(request, events.Kind.DEVICE_SIGNED_OUT, name_and_icon(each.agent)[0])
    devices.sign_out(chosen)
    return render_devices(request, _("Device signed out"))


@open_to(Role.GUEST, "POST")
def sign_out_others(request: Request) -> HttpResponse:
    devices.sign_out_everywhere(request.user, request)
    events.record(request, events.Kind.OTHERS_SIGNED_OUT)
    return render_devices(request, _("All other devices signed out"))


def render_devices(request: Request, message: str) -> HttpResponse:
    context = {**context_for(request), "said": message}
    page = reverse("account", fragment="devices")
    return respond(request, "signin/_devices.html", context, page=page, message=message)


# Tokens for programs


@open_to(Role.GUEST, "POST")
@require_password("account", "tokens")
def make_token(request: Request) -> HttpResponse:
    """Make a token. Only this response contains it: no URL, session, or log does."""
    form = TokenForm(request.user, service_of(request), request.POST)
    if not form.is_valid():
        return render_tokens(request, {"token_form": form}, status=422)
    token, purpose = form.create(timezone.now()), form.cleaned_data["purpose"]
    events.record(request, events.Kind.TOKEN_MADE, form.cleaned_data["name"])
    door = DOORS.get(purpose)
    address = "" if door is None else request.build_absolute_uri(f"{reverse('files')}{door}")
    lacks_folder = purpose == Purpose.PROGRAMS and settings.HANDOVER_DIR is None
    new_token = NewToken(token, request.user.username, address, lacks_folder)
    return render_tokens(request, {"token": new_token})


@open_to(Role.GUEST, "POST")
def revoke_token(request: Request, token: int) -> HttpResponse:
    """Revoke a token: one's own, or, as an owner, anyone's."""
    row = tokens.find_revocable(request.user, token)
    if row is not None:
        row.delete()
        events.record(request, events.Kind.TOKEN_REVOKED, row.name)
    is_of_server = request.GET.get("from") == "server"
    if request.htmx and not is_of_server:
        return render_tokens(request, {"is_revoked": True})
    messages.success(request, _("Token revoked"))
    return redirect(reverse("account-server" if is_of_server else "account", fragment="tokens"))


def render_tokens(request: Request, more: dict[str, object], status: int = 200) -> HttpResponse:
    template = "account/_tokens.html" if request.htmx else "account/show.html"
    context = {**context_for(request), **more}
    return render(request, template, context, status=status)


# What they all show


def context_for(request: Request, form: ChangePassword | None = None) -> dict[str, object]:
    user, role = request.user, Role(request.user.role)
    page = {
        "name": user.username,
        "role_label": role.label,
        "languages": [("", _("Same as browser")), *settings.LANGUAGES],
        "language": user.language,
        "devices": devices_of(request),
        "has_programs": role.includes(Role.OWNER) and ProgramPassword.objects.exists(),
    }
    return {
        "page": page,
        "shares": shares_of(request),
        "form": form or ChangePassword(user),
        "tokens": tokens_of(user=user),
        "token_form": TokenForm(user, None),
        "ways": load_from_elsewhere(request) if role.includes(Role.MEMBER) else None,
    }


def devices_of(request: Request) -> dict[str, object]:
    now, own_key = timezone.now(), request.session.session_key or ""
    own_devices = devices.of(request.user, now)
    latest = list(own_devices[:MOST_DEVICES])
    return devices_part(latest, own_devices.count(), own_key, Calendar.now(), now)
