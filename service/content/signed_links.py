"""Signed links: each gives access to one thing for a day, without credentials."""

import hmac
import re
from binascii import b2a_base64
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2s
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from common.names import safe_name
from service.errors import Refusal
from service.models import Account, File

LIFETIME = timedelta(hours=24)
# Links made within one window are equal, so that responses with them can be cached.
WINDOW = timedelta(hours=1)
# Longer, since listings have thousands of links, and caches keep pictures by their links.
LISTING_WINDOW = timedelta(days=1)
# Too long to guess, yet short: a listing may have 50,000 signatures.
SIGNATURE_BYTES = 16
FOR_URLS = bytes.maketrans(b"+/", b"-_")
# The first playlist of a stream, which names the others.
MASTER = "master.m3u8"
EXPIRY = re.compile(r"[1-9][0-9]{0,10}")
# Sending a smaller body takes less time than a redirect.
DIRECT_BYTES = 2**20


class BadLink(Refusal):
    """A link that this account's current key didn't sign; doesn't reveal what exists."""

    reason = "bad_link"
    status = 403


class LinkExpired(Refusal):
    reason = "link_expired"
    status = 403


class Delivery(StrEnum):
    """How a link delivers its bytes. It never changes, and each delivery has its own ETags."""

    ATTACHMENT = ""
    INLINE = "inline"
    # The object store sends them.
    DIRECT = "direct"


QUERY_OF: dict[Delivery, dict[str, str]] = {
    Delivery.ATTACHMENT: {},
    Delivery.INLINE: {"i": "1"},
    Delivery.DIRECT: {"d": "1"},
}


def file_link(account: Account, file: File, *, now: datetime, inline: bool = False) -> str:
    """Return path and query; `inline` shows the file in the browser if its type is safe."""
    path = reverse("content-file", args=[account.pk, file.pk, safe_name(file.name)])
    is_direct = bool(settings.STORE_PUBLIC_URL) and file.size_bytes >= DIRECT_BYTES
    delivery = Delivery.DIRECT if is_direct else Delivery.ATTACHMENT
    delivery = Delivery.INLINE if inline else delivery
    return path + signed_query(account, "file", str(file.pk), now=now, delivery=delivery)


def link(account: Account, purpose: str, subject: str, name: str, *, now: datetime) -> str:
    """Return path and query of anything else; the path ends with `name`."""
    path = reverse(f"content-{purpose}", args=[account.pk, subject, name])
    return path + signed_query(account, purpose, subject, now=now)


def signed_query(
    account: Account,
    purpose: str,
    subject: str,
    *,
    now: datetime,
    delivery: Delivery = Delivery.ATTACHMENT,
) -> str:
    """Return the signed query of a link; within `purpose`, `subject` is what may be read."""
    expires = expiry_of(now)
    signature = _signature(account, purpose, subject, expires, delivery)
    query = {"e": str(expires), "s": signature} | QUERY_OF[delivery]
    return f"?{urlencode(query)}"


def signed_ticket(account: Account, purpose: str, subject: str, *, now: datetime) -> str:
    """Return the signature as a part of a path, which covers all paths below it."""
    expires = expiry_of(now)
    return f"{expires}.{_signature(account, purpose, subject, expires, Delivery.ATTACHMENT)}"


def query_of(ticket: str) -> dict[str, str]:
    """Return a ticket as a query for `check`."""
    expires, _, signature = ticket.partition(".")
    return {"e": expires, "s": signature}


class ListingLinks:
    """Links for all files of one account, made quickly: forms for an id and its signature.

    Anyone with a link may see that file's pictures, or its stream.
    """

    def __init__(self, account: Account, base: str, now: datetime) -> None:
        """`base`: scheme and host if the links must be absolute."""
        self._expires = expiry_of(now, LISTING_WINDOW)
        key = _key(account)
        self._picture_prefix = _begin(key, f"picture\n{account.pk}\n")
        self._stream_prefix = _begin(key, f"hls\n{account.pk}\n")
        self._behind = f"\n{self._expires}\n".encode()
        some_picture = reverse("content-picture", args=[account.pk, 0, "size"])
        some_stream = reverse("content-stream", args=[account.pk, 0, "ticket", MASTER])
        self._pictures = f"{base}{some_picture.removesuffix('0/size')}".replace("%", "%%")
        self._streams = f"{base}{some_stream.removesuffix(f'0/ticket/{MASTER}')}".replace("%", "%%")

    def picture(self, size: str) -> bytes:
        return f"{self._pictures}%d/{size}?e={self._expires}&s=%b".encode()

    def stream(self) -> bytes:
        return f"{self._streams}%d/{self._expires}.%b/{MASTER}".encode()

    def sign_pictures(self, file_id: int) -> bytes:
        return self._sign(self._picture_prefix, file_id)

    def sign_stream(self, file_id: int) -> bytes:
        return self._sign(self._stream_prefix, file_id)

    def _sign(self, prefix: "blake2s", file_id: int) -> bytes:
        signature = prefix.copy()
        signature.update(b"%d%b" % (file_id, self._behind))
        return _encode(signature.digest())


def expiry_of(now: datetime, length: timedelta = WINDOW) -> int:
    window = int(length.total_seconds())
    next_window = -(-int(now.timestamp()) // window) * window
    return next_window + int(LIFETIME.total_seconds())


def check(
    account_id: int, purpose: str, subject: str, query: Mapping[str, str], *, now: datetime
) -> Account:
    """Check a link, and return its account. Raises BadLink, LinkExpired."""
    account = Account.objects.filter(pk=account_id).first()
    expires = query.get("e", "")
    if account is None or not EXPIRY.fullmatch(expires):
        raise BadLink
    signature = _signature(account, purpose, subject, int(expires), delivery_of(query))
    if not hmac.compare_digest(signature.encode(), query.get("s", "").encode(errors="replace")):
        raise BadLink
    if int(expires) <= now.timestamp():
        raise LinkExpired
    return account


def delivery_of(query: Mapping[str, str]) -> Delivery:
    if query.get("i") == "1":
        return Delivery.INLINE
    return Delivery.DIRECT if query.get("d") == "1" else Delivery.ATTACHMENT


def _signature(
    account: Account, purpose: str, subject: str, expires: int, delivery: Delivery
) -> str:
    words = (purpose, str(account.pk), subject, str(expires), delivery)
    return _encode(_begin(_key(account), "\n".join(words)).digest()).decode()


def _key(account: Account) -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), f"link {account.link_key}".encode(), "sha256")


def _begin(key: bytes, words: str) -> "blake2s":
    """Begin a signature: keyed BLAKE2 costs a third of HMAC."""
    return blake2s(words.encode(), key=key, digest_size=SIGNATURE_BYTES)


def _encode(signature: bytes) -> bytes:
    return b2a_base64(signature, newline=False).translate(FOR_URLS, b"=")
