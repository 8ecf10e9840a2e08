"""The pages on which people see, change, and revoke a link, and the owners' list of all links."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from webui.people.qr_codes import DeviceAddress
from webui.shares.pages.links import ShareFacts, ShareRow, share_row
from webui.words.formatting import Calendar
from webui.words.joining import sentences


@dataclass(frozen=True)
class ManagedSharePage:
    """A link as its maker sees it. Without `addresses`, Ferry can't show the link again."""

    title: str
    share: ShareRow
    addresses: Sequence[DeviceAddress]
    list_url: str


@dataclass(frozen=True)
class RevokePage:
    title: str
    share: ShareRow
    back_url: str
    back_label: str


def row_with_maker(share: ShareFacts, maker: str, calendar: Calendar) -> ShareRow:
    """Return a link as owners see it: without its address."""
    row = share_row(share, calendar)
    return replace(row, use=sentences([maker_words(share, maker), row.use]))


def maker_words(share: ShareFacts, maker: str) -> str:
    """Say who made a link, and what it opens if a title hides that."""
    if not share.label:
        return _("Created by %(name)s.") % {"name": maker}
    words = {"name": maker, "target": share.name or _("All files")}
    return _("Created by %(name)s for “%(target)s”.") % words


def managed_page(
    share: ShareFacts, addresses: Sequence[DeviceAddress], list_url: str, calendar: Calendar
) -> ManagedSharePage:
    row = share_row(share, calendar)
    return ManagedSharePage(row.name, row, addresses, list_url)


def revoke_page(
    share: ShareFacts, maker: str, back_url: str, back_label: str, calendar: Calendar
) -> RevokePage:
    row = row_with_maker(share, maker, calendar)
    title = _("Revoke the link “%(name)s”?") % {"name": row.name}
    return RevokePage(title, row, back_url, back_label)
