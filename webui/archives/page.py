"""The page of a ZIP that is ready to be downloaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.words import formatting

MOST_LISTED = 50


@dataclass(frozen=True)
class ArchivePage:
    title: str
    text: str
    items: list[str]
    more: str
    download_url: str
    back_url: str


def archive_page(
    names: Sequence[str], size_bytes: int | None, *, download_url: str, back_url: str
) -> ArchivePage:
    count, size = formatting.items_words(len(names)), formatting.size_words(size_bytes)
    return ArchivePage(
        title=_("Your ZIP is ready"),
        text=_("%(items)s, %(size)s") % {"items": count, "size": size},
        items=list(names[:MOST_LISTED]),
        more=formatting.more_words(len(names) - MOST_LISTED),
        download_url=download_url,
        back_url=back_url,
    )
