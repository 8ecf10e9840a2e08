"""Add channels, and judge the addresses that people enter or that browsers send."""

import secrets
from collections.abc import Collection
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language

from webui.connection.address_policy import LinkPolicy
from webui.models import Channel, Device, Notice, User, digest_of
from webui.notices import web_push

Kind = Channel.Kind
Facts = dict[str, str]
MOST_EACH = 20
LONGEST_ADDRESS = 1000
# What people may be told, in the order of the screen; all else is sent to every channel.
TOPICS = (Notice.Kind.DONE, Notice.Kind.FAILED, Notice.Kind.SPACE, Notice.Kind.DEVICE)


class ChannelRefused(Exception):  # noqa: N818  Errors are nouns here.
    """The reason, in a word: `bad_address` or `too_many`."""


def policy() -> LinkPolicy:
    """Return what Ferry may contact: public addresses, and the hosts that NOTICE_HOSTS names."""
    return LinkPolicy("", settings.NOTICE_HOSTS)


def add_device(device: Device, facts: Facts, topics: Collection[str], now: datetime) -> None:
    """Add the browser of a session, even if someone else used it before. Raises ChannelRefused."""
    try:
        web_push.check_keys(facts["key"], facts["auth"])
    except ValueError:
        raise ChannelRefused("bad_address") from None
    channel = Channel(user=device.user, device=device, kind=Kind.DEVICE)
    channel.digest = digest_of(f"push {facts['url']}")
    with transaction.atomic():
        Channel.objects.filter(device=device).delete()
        _add(channel, facts, topics, now)


def add_server(user: User, kind: str, facts: Facts, topics: Collection[str], now: datetime) -> str:
    """Add another server. Return the secret with which Ferry signs, if it does.

    Raises ChannelRefused.
    """
    secret = secrets.token_urlsafe(32) if kind == Kind.WEBHOOK else ""
    channel = Channel(user=user, kind=kind, digest=digest_of(f"{kind} {user.pk} {facts['url']}"))
    _add(channel, {**facts, "secret": secret}, topics, now)
    return secret


def add_feed(user: User, facts: Facts, topics: Collection[str], now: datetime) -> str:
    """Return the token of a new feed, which only its address contains. Raises ChannelRefused."""
    token = secrets.token_urlsafe(32)
    _save(Channel(user=user, kind=Kind.FEED, digest=digest_of(token)), facts, topics, now)
    return token


def _add(channel: Channel, facts: Facts, topics: Collection[str], now: datetime) -> None:
    """Add a channel in place of the one with the same address."""
    if not may_send(channel.kind, facts["url"]):
        raise ChannelRefused("bad_address")
    channel.host = urlsplit(facts["url"]).hostname or ""
    with transaction.atomic():
        Channel.objects.filter(digest=channel.digest).delete()
        _save(channel, facts, topics, now)


def may_send(kind: str, url: str) -> bool:
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if not is_plain or len(url) > LONGEST_ADDRESS or not policy().may_follow(url):
        return False
    return kind != Kind.DEVICE or urlsplit(url).scheme == "https"


def _save(channel: Channel, facts: Facts, topics: Collection[str], now: datetime) -> None:
    if channel.user.channels.count() >= MOST_EACH:
        raise ChannelRefused("too_many")
    channel.seal(**facts)
    channel.topics = " ".join(each for each in TOPICS if each in topics)
    channel.language, channel.epoch = get_language() or "", channel.user.epoch
    channel.created_at = now
    channel.save()


def find_feed(token: str) -> Channel | None:
    rows = Channel.alive().filter(digest=digest_of(token), kind=Kind.FEED)
    return rows.select_related("user").first()
