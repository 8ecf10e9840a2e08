"""The page and dialog in which people choose the folder for what they add."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.library.snapshot import Snapshot
from webui.moving.page import Place, crumb, places_of, recent_place, root_place
from webui.search.coverage import Coverage
from webui.search.pages.results import coverage_texts
from webui.v1.records import SearchResult
from webui.words import joining


@dataclass(frozen=True)
class ChoosingPage:
    query: str
    to: str
    name: str
    path: str
    choose_url: str
    crumbs: Sequence[Place]
    recent: Sequence[Place]
    places: Sequence[Place]
    more: str
    places_label: str
    empty_text: str


class FolderSearch(NamedTuple):
    """What a search by name found. Without a query, there is no result."""

    query: str
    result: SearchResult | None
    covers: Coverage | None


def choosing_page(
    target: Snapshot,
    above: Iterable[tuple[str, str]],
    recent: Iterable[Snapshot],
    search: FolderSearch,
) -> ChoosingPage:
    query, result, covers = search
    name = target.name or _("All files")
    places, more = places_of(target, (), result)
    return ChoosingPage(
        query=query,
        to=target.folder,
        name=name,
        path=target.path or name,
        choose_url=f"{reverse('add')}?{urlencode({'folder': target.folder})}",
        crumbs=[] if target.is_root else [root_place(), *map(crumb, above)],
        recent=[recent_place(each) for each in recent],
        places=places,
        more=more or joining.sentences(coverage_texts(covers) if covers else ()),
        places_label=_("Folders found")
        if result
        else _("Folders in %(folder)s") % {"folder": name},
        empty_text=_("No folder is called that.") if result else _("There are no folders in here."),
    )
