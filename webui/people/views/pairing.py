"""Sign in a device from another: by scanning a link, or by typing a code."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.activity import events
from webui.errors import answers as error_answers
from webui.http.requests import Request, keep_cookie, leave_for, no_content
from webui.http.roles import open_to, open_to_strangers
from webui.models import Pairing, Role
from webui.people import pairing
from webui.people.device_addresses import device_addresses
from webui.people.pairing import is_over
from webui.signin import throttle
from webui.signin.devices import agent_of
from webui.signin.page import name_and_icon
from webui.signin.session import ask_to_wait, count_guess, too_many_tries, welcome_in

SECRET_COOKIE = f"ferry_pairing_{settings.PORT}"


# By a link: the device that is signed in


@open_to(Role.GUEST, "POST")
def offer(request: Request) -> HttpResponse:
    """Show a new link as a QR code and as text. Only this response contains it."""
    row, token = pairing.offer(request.user, request.session.session_key or "", timezone.now())
    events.record(request, events.Kind.LINK_OFFERED)
    offer = {
        "addresses": device_addresses(request, reverse("pair-accept", args=[token])),
        "number": pairing.number_of(token),
        "id": row.pk,
    }
    template = "people/_pairing.html" if request.htmx else "people/pair.html"
    return render(request, template, {"offer": offer})


@open_to(Role.GUEST, "GET")
def show_outcome(request: Request, pairing: int) -> HttpResponse:
    """Show the outcome to the person who offered the link; 204 until a device uses it."""
    row = get_object_or_404(Pairing, pk=pairing, user=request.user, code_digest="")
    if row.used_at:
        device = {"device": name_and_icon(row.agent)[0]}
        outcome = {"done": _("%(device)s is signed in") % device}
    elif is_over(row, timezone.now()):
        outcome = {"over": _("This code has expired. Create a new one.")}
    else:
        return HttpResponse(status=204)
    return render(request, "people/_paired.html", {"outcome": outcome})


# By a link: the device that uses it


@open_to_strangers("GET", "POST")
def accept(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in this device. A GET, as scanners and previews send, doesn't use up the link."""
    now = timezone.now()
    row = pairing.find_offer(token, now)
    if row is None or row.user is None:
        return count_guess(request)
    if request.method != "POST":
        words = {"person": row.user.username, "host": request.get_host()}
        text = _("It will sign in as %(person)s on %(host)s, without a password.") % words
        title, number = _("Sign this device in?"), pairing.number_of(token)
        page = {"title": title, "text": text, "number": number}
        return render(request, "people/accept.html", {"page": page})
    user = pairing.accept(token, agent_of(request), request.META["REMOTE_ADDR"], now)
    if user is None:
        return count_guess(request)
    return welcome_in(request, user)


# By a code: the device that waits


@open_to_strangers("GET", "POST")
def wait(request: HttpRequest) -> HttpResponse:
    """Show a code after the first POST. The secret stays in a cookie of this browser."""
    if request.method != "POST":
        return render(request, "people/wait.html", {"is_late": "late" in request.GET})
    if late := throttle.take(throttle.key_for_network("codes", request.META["REMOTE_ADDR"])):
        return ask_to_wait(request, late)
    secret, code = pairing.begin(agent_of(request), request.META["REMOTE_ADDR"], timezone.now())
    half = len(code) // 2
    page = {"code": f"{code[:half]} {code[half:]}", "spelled": " ".join(code)}
    response = render(request, "people/wait.html", {"page": page})
    keep_cookie(response, SECRET_COOKIE, secret, pairing.CODE_LIFETIME)
    return response


@open_to_strangers("GET", "POST")
def state(request: HttpRequest) -> HttpResponse:
    """Report on GET whether someone approved (204: not yet, 404: too late); sign in on POST."""
    now, secret = timezone.now(), request.COOKIES.get(SECRET_COOKIE, "")
    row = pairing.waiting(secret, now)
    if row is None:
        text = _("This code has expired. Create a new one.")
        response = error_answers.plain(request, 404, text=text)
        response["HX-Redirect"] = f"{reverse('pair')}?late"
        return response
    if request.method != "POST":
        if not row.user:
            return no_content()
        return render(request, "people/_waiting.html", {"is_approved": True})
    user = pairing.finish(secret, now)
    if user is None:
        return leave_for(request, "pair")
    response = welcome_in(request, user)
    response.delete_cookie(SECRET_COOKIE, path=settings.SESSION_COOKIE_PATH)
    return response


# By a code: the device that is signed in


@open_to(Role.GUEST, "GET", "POST")
def approve(request: Request) -> HttpResponse:
    """Show which device displays the code, then approve it on confirmation."""
    if request.method != "POST":
        return show_approval(request)
    now, key = timezone.now(), request.session.session_key or ""
    code, throttle_key = request.POST.get("code", "")[:50], throttle.key_for_session("codes", key)
    if late := throttle.take(throttle_key):
        return show_approval(request, 429, code=code, refusal=too_many_tries(late))
    row = pairing.find_pairing(code, now)
    device = name_and_icon(row.agent)[0] if row else ""
    if row is not None:
        throttle.give_back(throttle_key)
    if row is not None and "approve" not in request.POST:
        return show_approval(request, code=code, device=device, address=row.address)
    if row is None or not pairing.approve(row, request.user, key, now):
        refusal = _(
            "No device shows this code now. Check the code, or create a new one on the "
            "other device."
        )
        return show_approval(request, 422, code=code, refusal=refusal)
    events.record(request, events.Kind.CODE_APPROVED, device)
    messages.success(request, _("%(device)s will be signed in shortly") % {"device": device})
    return redirect(reverse("account", fragment="devices"))


def show_approval(request: Request, status: int = 200, **page: str) -> HttpResponse:
    return render(request, "people/approve.html", {"page": page}, status=status)
