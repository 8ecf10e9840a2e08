"""The bookmarklet, scripts, and tokens that send items to Ferry, as the Account page shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from webui.add.bookmarklet import bookmarklet
from webui.words.formatting import Calendar


@dataclass(frozen=True)
class TokenRow:
    id: int
    name: str
    note: str


@dataclass(frozen=True)
class FromElsewherePanel:
    bookmarklet: str
    handler_url: str
    is_secure: bool
    tokens: list[TokenRow]
    curl: str  # two commands


def from_elsewhere_panel(
    add_url: str, send_url: str, tokens: list[TokenRow], *, is_secure: bool
) -> FromElsewherePanel:
    curl = "curl --header @ferry.token"
    return FromElsewherePanel(
        bookmarklet=bookmarklet(add_url),
        handler_url=f"{add_url}?magnet=%s",
        is_secure=is_secure,
        tokens=tokens,
        curl=f"{curl} --data-urlencode 'text=magnet:?xt=…' {send_url}\n"
        f"{curl} --form file=@name.torrent {send_url}",
    )


def token_rows(
    tokens: Iterable[tuple[int, str, datetime, datetime | None]], calendar: Calendar
) -> list[TokenRow]:
    return [
        TokenRow(id_, name, token_words(calendar.words(made_at), calendar.words(used_at)))
        for id_, name, made_at, used_at in tokens
    ]


def token_words(creation_date: str, last_use: str) -> str:
    words = {"made": creation_date, "used": last_use}
    if last_use:
        return _("Created: %(made)s. Last used: %(used)s") % words
    return _("Created: %(made)s. Never used") % words
