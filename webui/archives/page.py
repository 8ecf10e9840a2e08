"""The page of a ZIP that is ready to be downloaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.words import formatting

MOST_LISTED = 50


@dataclass(frozen=True)
class ArchivePage:
    text: str
    items: list[str]
    more: str


def archive_page(names: Sequence[str], size_bytes: int | None) -> ArchivePage:
    count, size = formatting.items_words(len(names)), formatting.size_words(size_bytes)
    return ArchivePage(
        text=_("%(items)s, %(size)s") % {"items": count, "size": size},
        items=list(names[:MOST_LISTED]),
        more=formatting.more_words(len(names) - MOST_LISTED),
    )
