"""How pages describe tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.utils.translation import gettext as _

from webui.words import joining
from webui.words.formatting import Calendar


class TokenFacts(Protocol):
    pk: int
    name: str
    may_write: bool
    folder: str
    folder_name: str
    created_at: datetime
    used_at: datetime | None

    def get_purpose_display(self) -> str: ...


@dataclass(frozen=True)
class TokenRow:
    id: int
    name: str
    note: str
    use: str


@dataclass(frozen=True)
class NewToken:
    """A token, and what a program asks for beside it. `address` is empty if it sends items.

    `lacks_folder`: programs look for files in the hand-over folder, and there is none.
    """

    token: str
    person: str
    address: str
    lacks_folder: bool


def token_row(token: TokenFacts, calendar: Calendar, maker: str = "") -> TokenRow:
    """Return a token as its person sees it, or an owner, who also sees whose it is."""
    folder = _("only in %(name)s") % {"name": token.folder_name} if token.folder else ""
    read_only = "" if token.may_write else _("read-only")
    what = [maker, token.get_purpose_display(), read_only, folder]
    dates = use_words(calendar.words(token.created_at), calendar.words(token.used_at))
    return TokenRow(token.pk, token.name, joining.items([each for each in what if each]), dates)


def use_words(creation_date: str, last_use: str) -> str:
    words = {"made": creation_date, "used": last_use}
    if last_use:
        return _("Created: %(made)s. Last used: %(used)s") % words
    return _("Created: %(made)s. Never used") % words
