"""Secure this device: the certificate to trust, and the way from http to https."""

import plistlib
import uuid

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, parse_cookie
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django_htmx.http import HttpResponseClientRedirect

from common.host import host
from webui.http.content_types import PAGE
from webui.http.requests import Request, is_own_https, own_https_origin
from webui.http.roles import open_to, open_to_strangers
from webui.models import Role
from webui.people import pairing
from webui.securing.page import secure_page
from webui.signin.devices import agent_of
from webui.signin.session import count_guess, welcome_in


@open_to_strangers("GET")
def show(request: HttpRequest) -> HttpResponse:
    origin = origin_of(request)
    page = secure_page(
        origin,
        request.headers.get("User-Agent", ""),
        is_secure=is_own_https(request),
        has_root=host().https.root() is not None,
    )
    response = render(request, "securing/show.html", {"page": page})
    # A picture from there shows whether this browser trusts the certificate. Policies can't name
    # addresses of IPv6.
    source = "https:" if "[" in origin else origin
    response["Content-Security-Policy"] = PAGE.replace("img-src 'self'", f"img-src 'self' {source}")
    return response


@open_to_strangers("GET")
def certificate(_request: HttpRequest) -> HttpResponse:
    return attachment(root(), "application/x-x509-ca-cert", "ferry.crt")


@open_to_strangers("GET")
def profile(_request: HttpRequest) -> HttpResponse:
    """Send the certificate as iOS takes it. A newer one of the same authority replaces it."""
    content = root()
    mark = uuid.uuid5(uuid.NAMESPACE_OID, content.hex())
    facts = {"PayloadVersion": 1, "PayloadDisplayName": "Ferry at home"}
    payload = facts | {
        "PayloadType": "com.apple.security.root",
        "PayloadIdentifier": f"ferry.{mark}.root",
        "PayloadUUID": str(uuid.uuid5(mark, "root")),
        "PayloadContent": content,
    }
    plist = facts | {
        "PayloadType": "Configuration",
        "PayloadIdentifier": f"ferry.{mark}",
        "PayloadUUID": str(mark),
        "PayloadContent": [payload],
    }
    body = plistlib.dumps(plist)
    return attachment(body, "application/x-apple-aspen-config", "ferry.mobileconfig")


@open_to(Role.GUEST, "POST")
def move(request: Request) -> HttpResponse:
    """Offer this browser a link that signs it in at https. A form can't lead to another origin
    by itself, so the response has the link."""
    origin = origin_of(request)
    _row, token = pairing.offer(request.user, request.session.session_key or "", timezone.now())
    url = f"{origin}{reverse('secure-enter', args=[token])}"
    if request.htmx:
        return HttpResponseClientRedirect(url)
    return render(request, "securing/move.html", {"url": url})


@open_to_strangers("GET")
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in the browser that got the link. Its cookie for http proves this: browsers send it to
    the same host's https, too. Any other has to confirm, as with every link of a pairing."""
    now = timezone.now()
    row = pairing.find_offer(token, now)
    if row is None:
        return count_guess(request)
    cookies = parse_cookie(request.META.get("HTTP_COOKIE", ""))
    key = cookies.get(settings.SESSION_COOKIE_NAME, "")
    if not is_own_https(request) or not constant_time_compare(key, row.session_key):
        return redirect("pair-accept", token)
    user = pairing.accept(token, agent_of(request), request.META["REMOTE_ADDR"], now)
    return welcome_in(request, user, "secure") if user else count_guess(request)


def origin_of(request: HttpRequest) -> str:
    origin = own_https_origin(request)
    if origin is None:
        raise Http404
    return origin


def root() -> bytes:
    content = host().https.root()
    if content is None or host().https.port() is None:
        raise Http404
    return content


def attachment(content: bytes, content_type: str, name: str) -> HttpResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=disposition)
