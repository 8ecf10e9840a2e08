"""The Notifications screen, where people choose what they are told, and where; and their feeds."""

import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from webui.http.requests import Request, is_secure_context, respond
from webui.http.roles import open_to, open_to_strangers
from webui.models import Channel, Device, Notice, Role
from webui.notices import channels, page, web_push
from webui.notices.channels import ChannelRefused
from webui.owner_settings import server_name
from webui.signin import devices
from webui.signin.ask_password import require_password
from webui.signin.session import count_guess
from webui.words.notices import notice_words

MOST_OF_FEED = 100
LONGEST_TOKEN = 200
SCREEN, PARTIAL = "notices/show.html", "notices/_channels.html"


@open_to(Role.GUEST, "GET")
def show(request: Request) -> HttpResponse:
    return render(request, SCREEN, context_for(request))


@open_to(Role.GUEST, "POST")
def add_device(request: Request) -> HttpResponse:
    """Tell the browser of this session, with the subscription that it got from its push service."""
    facts = {name: request.POST.get(name, "") for name in ("url", "key", "auth")}
    try:
        device = device_of(request)
        channels.add_device(device, facts | site_of(request), topics_in(request), timezone.now())
    except ChannelRefused as refused:
        return show_again(request, 422, device_error=words_of(refused))
    return answer(request, _("Ferry will notify you on this device."))


def device_of(request: Request) -> Device:
    key, now = request.session.session_key, timezone.now()
    if not request.user.devices.filter(session_key=key).exists():
        devices.note(request, now)
    return request.user.devices.select_related("user").get(session_key=key)


@open_to(Role.MEMBER, "POST")
@require_password("account-notices", "other")
def add(request: Request) -> HttpResponse:
    """Add a server or a feed. Only this response contains its secret."""
    kind, url = request.POST.get("kind", ""), request.POST.get("url", "").strip()
    facts = {"url": url, "token": request.POST.get("token", "").strip()[:LONGEST_TOKEN]}
    facts |= site_of(request)
    topics, now = topics_in(request), timezone.now()
    try:
        if kind == Channel.Kind.FEED:
            token = channels.add_feed(request.user, site_of(request), topics, now)
            feed_url = request.build_absolute_uri(reverse("feed", args=[token]))
            return show_again(request, secret=feed_url, is_feed=True)
        if kind not in dict(page.kinds()) or not facts["token"].isascii():
            raise ChannelRefused("bad_address")  # noqa: TRY301  As if the address were wrong.
        secret = channels.add_server(request.user, kind, facts, topics, now)
    except ChannelRefused as refused:
        return show_again(request, 422, error=words_of(refused), kind=kind, url=url)
    return show_again(request, secret=secret, said=_("Added"))


@open_to(Role.GUEST, "POST")
def test(request: Request, channel: int) -> HttpResponse:
    rows = Channel.alive().filter(pk=channel, user=request.user)
    # A person who asks for a test doesn't wait for the end of a pause.
    rows.update(resumes_at=None)
    Notice.put(rows, f"test {secrets.token_hex(8)}", Notice.Kind.TEST, "")
    return answer(request, _("Sent. It arrives within seconds."))


@open_to(Role.GUEST, "POST")
def remove(request: Request, channel: int) -> HttpResponse:
    request.user.channels.filter(pk=channel).delete()
    return answer(request, _("Removed"))


def answer(request: Request, message: str) -> HttpResponse:
    context = context_for(request) | {"said": message}
    home = reverse("account-notices")
    return respond(request, PARTIAL, context, page=home, message=message)


def show_again(request: Request, status: int = 200, **more: object) -> HttpResponse:
    template = PARTIAL if request.htmx else SCREEN
    return render(request, template, context_for(request) | more, status=status)


def words_of(refused: ChannelRefused) -> str:
    return page.refusal_words(str(refused), channels.MOST_EACH)


def site_of(request: Request) -> dict[str, str]:
    return {"site": request.build_absolute_uri(reverse("files"))}


def topics_in(request: Request) -> list[str]:
    sent = request.POST.getlist("topic")
    return [each for each in topics_for(request) if each in sent]


def topics_for(request: Request) -> list[str]:
    """Return what concerns a person: guests add no transfers, and free no space."""
    is_member = Role(request.user.role).includes(Role.MEMBER)
    return [each for each in channels.TOPICS if is_member or each == Notice.Kind.DEVICE]


def context_for(request: Request) -> dict[str, object]:
    key, topics = request.session.session_key, topics_for(request)
    rows = Channel.alive().filter(user=request.user).select_related("device").order_by("pk")
    own = next((each for each in rows if is_on(each, key)), None)
    return {
        "rows": [
            page.row_of(each, each.device.agent if each.device else "", is_this=is_on(each, key))
            for each in rows
        ],
        "topics": page.choices(topics, own.topics.split() if own else topics),
        "all_topics": page.choices(topics, topics),
        "has_device": own is not None,
        "is_secure": is_secure_context(request),
        "kinds": page.kinds() if Role(request.user.role).includes(Role.MEMBER) else [],
        "push_key": web_push.public_key(),
    }


def is_on(channel: Channel, session_key: str | None) -> bool:
    return channel.device is not None and channel.device.session_key == session_key


# Feeds


@open_to_strangers("GET")
def feed(request: HttpRequest, token: str) -> HttpResponse:
    """Send a person's notices as Atom. Anyone with the address can read it until it is removed."""
    channel = channels.find_feed(token)
    if channel is None:
        return count_guess(request)
    with translation.override(channel.language or None):
        notices = channel.notices.order_by("-pk")[:MOST_OF_FEED]
        entries = [(each, notice_words(each.kind, each.subject)) for each in notices]
        context = {"entries": entries, "channel": channel, "site": channel.unseal()["site"]}
        context |= {"title": server_name(), "updated": entries[0][0].at if entries else None}
        response = render(
            request, "notices/feed.xml", context, content_type="application/atom+xml; charset=utf-8"
        )
    response["Cache-Control"] = "private, no-cache"
    response["X-Robots-Tag"] = "noindex"
    return response
