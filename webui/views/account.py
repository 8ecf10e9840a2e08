import logging
import math

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from webui import attempts, connection, shell
from webui.forms import ChangePassword, Connect
from webui.http import Request
from webui.models import Connection, Role
from webui.pages.account import (
    AccountPage,
    ConnectionPart,
    ServicePart,
    connection_part,
    ill_part,
    service_part,
)
from webui.roles import open_to, open_to_strangers
from webui.v1.address import split_service_url
from webui.v1.connection import Health
from webui.v1.errors import Failure
from webui.views import errors
from webui.views.signin import too_many_tries

log = logging.getLogger("ferry.account")


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "account/show.html", context_for(request))


def context_for(
    request: Request, form: ChangePassword | None = None, connect: Connect | None = None
) -> dict[str, object]:
    role = Role(request.user.role)
    page = AccountPage(
        request.user.username,
        str(role.label),
        service=service_of(),
        connection=connection_of() if role.includes(Role.OWNER) else None,
    )
    return {
        "page": page,
        "form": form or ChangePassword(request.user),
        "connect": connect or Connect(()),
    }


def service_of() -> ServicePart:
    """What earlier calls told: the page asks nothing by itself."""
    now = timezone.now()
    try:
        service = connection.service()
    except Failure as failure:
        return ill_part(failure, Health(), now)
    return service_part(connection.health_of(service), now)


def connection_of() -> ConnectionPart:
    fixed_url = split_service_url(settings.SERVICE_URL)[0] if settings.SERVICE_URL else ""
    stored = Connection.objects.first()
    return connection_part(fixed_url=fixed_url, stored_url=stored.url if stored else "")


@sensitive_post_parameters()
@require_POST
@open_to(Role.GUEST)
def password(request: Request) -> HttpResponse:
    """Ends every other session: their hash of the password no longer fits."""
    limits = attempts.limits_for_session(request.session.session_key or "")
    wait = attempts.take(limits, timezone.now())
    if wait:
        log.warning("limited password change name=%r", request.user.username)
        response = errors.plain(request, 429, text=too_many_tries(wait))
        response["Retry-After"] = str(math.ceil(wait.total_seconds()))
        return response
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
        context = {**context_for(request), "is_changed": True}
        return render(request, "account/_password.html", context)
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
