"""The page and dialog in which people choose the folder for what they add."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse

from webui.library.snapshot import Snapshot
from webui.moving.page import FolderPicker
from webui.search.coverage import Coverage
from webui.search.pages.results import coverage_texts
from webui.words import joining


@dataclass(frozen=True)
class ChoosingPage:
    picker: FolderPicker
    path: str
    choose_url: str


def choosing_page(target: Snapshot, picker: FolderPicker, covers: Coverage | None) -> ChoosingPage:
    more = picker.more or joining.sentences(coverage_texts(covers) if covers else ())
    return ChoosingPage(
        picker=replace(picker, more=more),
        path=target.path or picker.name,
        choose_url=f"{reverse('add')}?{urlencode({'folder': target.folder})}",
    )
