"""Signed links: each gives access to one thing for a day, without credentials."""

import hmac
import re
from binascii import b2a_base64
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import blake2s
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from service.errors import Refusal
from service.library.portable_names import safe_name
from service.models import Account, File

LIFETIME = timedelta(hours=24)
# Within one window the same link comes out, so that what names it may be cached.
WINDOW = timedelta(hours=1)
# Links stand in listings by the thousand, and pictures in caches by their links.
LISTING_WINDOW = timedelta(days=1)
# As much as anybody could ever guess at, and short: a listing may carry 50,000 of them.
SIGNATURE_BYTES = 16
FOR_URLS = bytes.maketrans(b"+/", b"-_")
# The first playlist of a stream, which names the others.
MASTER = "master.m3u8"
EXPIRY = re.compile(r"[1-9][0-9]{0,10}")


class BadLink(Refusal):
    """Not signed by us for this account as it is now. Says nothing of what there is."""

    reason = "bad_link"


class LinkExpired(Refusal):
    reason = "link_expired"


def file_link(account: Account, file: File, *, now: datetime, inline: bool = False) -> str:
    """Path and query; `inline` shows it in the browser, where its type is known to be safe."""
    path = reverse("content-file", args=[account.pk, file.pk, safe_name(file.name)])
    return path + signed_query(account, "file", str(file.pk), now=now, inline=inline)


def zip_link(account: Account, pin: str, name: str, *, now: datetime) -> str:
    path = reverse("content-zip", args=[account.pk, pin, f"{safe_name(name)}.zip"])
    return path + signed_query(account, "zip", pin, now=now)


def signed_query(
    account: Account, purpose: str, subject: str, *, now: datetime, inline: bool = False
) -> str:
    """`subject` names what may be read, among all that this purpose knows."""
    expires = expiry_of(now)
    signature = _signature(account, purpose, subject, expires, inline=inline)
    query = {"e": str(expires), "s": signature} | ({"i": "1"} if inline else {})
    return f"?{urlencode(query)}"


def signed_ticket(account: Account, purpose: str, subject: str, *, now: datetime) -> str:
    """The same as a part of a path, for what is to cover all that lies below."""
    expires = expiry_of(now)
    return f"{expires}.{_signature(account, purpose, subject, expires, inline=False)}"


def query_of(ticket: str) -> dict[str, str]:
    """For `check`."""
    expires, _, signature = ticket.partition(".")
    return {"e": expires, "s": signature}


class ListingLinks:
    """Of all the files of one account, quickly: whoever holds one may see that file's pictures, or
    its stream."""

    def __init__(self, account: Account, base: str, now: datetime) -> None:
        """`base`: scheme and host, where the links are to be absolute."""
        expires = expiry_of(now, LISTING_WINDOW)
        key = _key(account)
        self._picture_begun = _begun(key, f"picture\n{account.pk}\n")
        self._stream_begun = _begun(key, f"hls\n{account.pk}\n")
        self._behind = f"\n{expires}\n".encode()
        self._expires = expires
        some_picture = reverse("content-picture", args=[account.pk, 0, "size"])
        some_stream = reverse("content-stream", args=[account.pk, 0, "ticket", MASTER])
        self._pictures = base + some_picture.removesuffix("0/size")
        self._streams = base + some_stream.removesuffix(f"0/ticket/{MASTER}")

    def picture(self, file_id: int) -> tuple[str, str]:
        """What stands before and behind the name of the size."""
        signature = self._signed(self._picture_begun, file_id)
        return f"{self._pictures}{file_id}/", f"?e={self._expires}&s={signature}"

    def stream(self, file_id: int) -> str:
        signature = self._signed(self._stream_begun, file_id)
        return f"{self._streams}{file_id}/{self._expires}.{signature}/{MASTER}"

    def _signed(self, begun: "blake2s", file_id: int) -> str:
        words = begun.copy()
        words.update(b"%d%b" % (file_id, self._behind))
        return _written(words.digest())


def expiry_of(now: datetime, length: timedelta = WINDOW) -> int:
    window = int(length.total_seconds())
    next_window = -(-int(now.timestamp()) // window) * window
    return next_window + int(LIFETIME.total_seconds())


def check(
    account_id: int, purpose: str, subject: str, query: Mapping[str, str], *, now: datetime
) -> Account:
    """The account whose link this is. Raises BadLink, LinkExpired."""
    account = Account.objects.filter(pk=account_id).first()
    expires = query.get("e", "")
    if account is None or not EXPIRY.fullmatch(expires):
        raise BadLink
    wanted = _signature(account, purpose, subject, int(expires), inline=is_inline(query))
    if not hmac.compare_digest(wanted.encode(), query.get("s", "").encode(errors="replace")):
        raise BadLink
    if int(expires) <= now.timestamp():
        raise LinkExpired
    return account


def is_inline(query: Mapping[str, str]) -> bool:
    return query.get("i") == "1"


def _signature(account: Account, purpose: str, subject: str, expires: int, *, inline: bool) -> str:
    words = (purpose, str(account.pk), subject, str(expires), "inline" if inline else "")
    return _written(_begun(_key(account), "\n".join(words)).digest())


def _key(account: Account) -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), f"link {account.link_key}".encode(), "sha256")


def _begun(key: bytes, words: str) -> "blake2s":
    """With a key of its own BLAKE2 is a signature, at a third of what HMAC costs."""
    return blake2s(words.encode(), key=key, digest_size=SIGNATURE_BYTES)


def _written(signature: bytes) -> str:
    return b2a_base64(signature, newline=False).translate(FOR_URLS, b"=").decode()
