"""The largest files of the whole library."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.library.addresses import Addresses, ViewOptions, folder_url
from webui.library.entries import FILE, ROOT, split_name
from webui.library.kinds import ICONS, KIND_OF
from webui.v1.records import FoundEntry
from webui.words import formatting
from webui.words.formatting import name_parts


@dataclass(frozen=True)
class LargeRow:
    """One of the largest files. `delete_url` is empty for people who may not delete."""

    icon: str
    name_parts: tuple[str, ...]
    url: str
    size: str
    size_title: str
    folder_parts: tuple[str, ...]
    folder_url: str
    delete_url: str
    delete_label: str


def large_row(file: FoundEntry, *, may_change: bool) -> LargeRow:
    folder = file.folder_id if file.folder_path else ROOT
    at, key = Addresses(folder, ViewOptions()), f"{FILE}-{file.id}"
    return LargeRow(
        icon=ICONS[KIND_OF.get(split_name(file.name)[1][1:].lower(), "")],
        name_parts=name_parts(file.name),
        url=at.preview(key),
        size=formatting.size_words(file.size_bytes),
        size_title=formatting.exact_size(file.size_bytes),
        folder_parts=name_parts(file.folder_path or _("All files")),
        folder_url=folder_url(folder),
        delete_url=f"{at.act('delete')}?entry={key}" if may_change else "",
        delete_label=_("Delete %(name)s") % {"name": file.name},
    )
