"""Signed links: whoever holds one may read one thing for a day, without credentials."""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from service.errors import Refusal
from service.models import Account, File
from service.safe_names import safe_name

LIFETIME = timedelta(hours=24)
# Within one window the same link comes out, so that what names it may be cached.
WINDOW = timedelta(hours=1)
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


def expiry_of(now: datetime) -> int:
    window = int(WINDOW.total_seconds())
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
    key = hmac.digest(settings.SECRET_KEY.encode(), f"link {account.link_key}".encode(), "sha256")
    words = [purpose, str(account.pk), subject, str(expires), "inline" if inline else ""]
    digest = hmac.digest(key, "\n".join(words).encode(), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
