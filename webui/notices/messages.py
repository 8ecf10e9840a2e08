"""The request that tells a channel of a notice, in the form that its receiver reads."""

import hmac
import json
import time
from collections.abc import Mapping
from typing import NamedTuple

from django.utils import translation

from webui import owner_settings
from webui.models import Channel, Notice
from webui.notices import web_push
from webui.words.notices import notice_words

Kind = Channel.Kind
# How long a push service keeps what it can't deliver.
TTL_SECONDS = 24 * 3600
URGENT = (Notice.Kind.DEVICE, Notice.Kind.TEST)
DECLARATIVE = 8030  # By this number, WebKit recognizes a notification that needs no script.


class Message(NamedTuple):
    url: str
    headers: dict[str, str]
    content: bytes


def message_of(notice: Notice) -> Message:
    channel = notice.channel
    facts = channel.unseal()
    with translation.override(channel.language or None):
        title, text = owner_settings.server_name(), notice_words(notice.kind, notice.subject)
    page_url = facts["site"] + ("account/" if notice.kind == Notice.Kind.DEVICE else "transfers/")
    match channel.kind:
        case Kind.DEVICE:
            return push(notice, facts, title, text, page_url)
        case Kind.NTFY:
            return ntfy(facts, title, text, page_url)
        case Kind.APPRISE:
            kind = "failure" if notice.kind == Notice.Kind.FAILED else "info"
            return in_json(facts["url"], {"title": title, "body": text, "type": kind})
        case _webhook:
            return webhook(notice, facts, text, page_url)


def push(notice: Notice, facts: dict[str, str], title: str, text: str, page_url: str) -> Message:
    tag = f"ferry-{notice.pk}"
    notification = {
        "title": title,
        "body": text,
        "navigate": page_url,
        "lang": notice.channel.language,
        "tag": tag,
        "app_badge": str(count_unseen(notice.channel)),
    }
    payload = {"web_push": DECLARATIVE, "notification": notification}
    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(TTL_SECONDS),
        "Urgency": "high" if notice.kind in URGENT else "normal",
        "Topic": tag,
        "Authorization": web_push.authorization(facts["url"], facts["site"], time.time()),
    }
    return Message(facts["url"], headers, web_push.encrypt(body, facts["key"], facts["auth"]))


def count_unseen(channel: Channel) -> int:
    """Return how many notices came since the device last opened a page."""
    device = channel.device
    return channel.notices.filter(at__gt=device.last_seen_at).count() if device else 0


def ntfy(facts: dict[str, str], title: str, text: str, page_url: str) -> Message:
    """Publish as JSON to the server of the topic: headers can't hold every language."""
    server, _slash, topic = facts["url"].rstrip("/").rpartition("/")
    body = {"topic": topic, "title": title, "message": text, "click": page_url}
    token = facts.get("token", "")
    return in_json(f"{server}/", body, {"Authorization": f"Bearer {token}"} if token else {})


def webhook(notice: Notice, facts: dict[str, str], text: str, page_url: str) -> Message:
    body = {
        "id": notice.pk,
        "event": notice.kind,
        "name": notice.subject,
        "text": text,
        "at": notice.at.isoformat(),
        "url": page_url,
    }
    message = in_json(facts["url"], body)
    signature = hmac.new(facts["secret"].encode(), message.content, "sha256").hexdigest()
    message.headers["X-Ferry-Signature"] = f"sha256={signature}"
    return message


def in_json(url: str, body: Mapping[str, object], headers: dict[str, str] | None = None) -> Message:
    content = json.dumps(body, ensure_ascii=False).encode()
    return Message(url, {"Content-Type": "application/json", **(headers or {})}, content)
