import logging

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from webui import attempts, connection, shell
from webui.forms import ChangePassword
from webui.http import Request
from webui.models import Role
from webui.pages.account import AccountPage, ServicePart, service_part
from webui.pages.measures import Calendar
from webui.roles import open_to, open_to_strangers
from webui.v1.errors import Failure
from webui.views import errors

log = logging.getLogger("ferry.account")


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    form = ChangePassword(request.user)
    return render(request, "account/show.html", context_for(request, form))


def context_for(request: Request, form: ChangePassword) -> dict[str, object]:
    label = str(Role(request.user.role).label)
    page = AccountPage(request.user.username, label, service_of(request))
    return {"page": page, "form": form}


def service_of(request: Request) -> ServicePart | None:
    """What earlier calls told: the page asks nothing by itself."""
    try:
        service = connection.service()
    except Failure:
        return None
    health = service.v1.health
    return service_part(
        service.v1.base_url,
        is_embedded=service.is_embedded,
        last_ok_at=health.last_ok_at,
        last_error=health.last_error,
        latency_seconds=health.latency_seconds,
        calendar=Calendar(timezone.now(), timezone.get_current_timezone()),
    )


@sensitive_post_parameters()
@require_POST
@open_to(Role.GUEST)
def password(request: Request) -> HttpResponse:
    """Ends every other session: their hash of the password no longer fits."""
    limits = attempts.limits_for_session(request.user.pk)
    if attempts.take(limits, timezone.now()):
        return errors.plain(request, 429)
    form = ChangePassword(request.user, request.POST)
    if form.is_valid():
        attempts.give_back(limits)
        return _change(request, form)
    if request.htmx:
        return render(request, "account/_password.html", context_for(request, form), status=422)
    return render(request, "account/show.html", context_for(request, form), status=422)


def _change(request: Request, form: ChangePassword) -> HttpResponse:
    request.user.set_password(form.cleaned_data["password"])
    request.user.save(update_fields=["password"])
    update_session_auth_hash(request, request.user)
    log.info("changed password name=%r", request.user.username)
    if request.htmx:
        context = context_for(request, ChangePassword(request.user))
        return render(request, "account/_password.html", {**context, "is_changed": True})
    messages.success(request, _("Password changed. Every other device is signed out."))
    return redirect("account")


@require_POST
@open_to_strangers
def look(request: HttpRequest) -> HttpResponse:
    """Keeps the colour scheme in this browser. The page itself has changed at once, by CSS."""
    is_htmx = bool(getattr(request, "htmx", None))
    response = HttpResponse(status=204) if is_htmx else redirect("account")
    shell.keep_theme(response, request.POST.get("theme", ""))
    return response
