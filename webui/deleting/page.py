"""What was deleted and can be restored."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.entries import FOLDER, look_of
from webui.library.kinds import ICONS
from webui.v1.own_records import Restorable, Restorables
from webui.words import formatting
from webui.words.formatting import Calendar, name_parts


def deleted_page(deleted: Restorables, calendar: Calendar, days: int) -> dict[str, object]:
    text = ngettext(
        "Ferry keeps deleted items for %(days)s day. They take %(size)s of your space.",
        "Ferry keeps deleted items for %(days)s days. They take %(size)s of your space.",
        days,
    )
    size = formatting.size_words(deleted.size_bytes)
    return {
        "text": text % {"days": formatting.count_words(days), "size": size},
        "rows": [deleted_row(item, calendar) for item in deleted.items],
        "more": _("Only the latest items are shown.") if deleted.has_more else "",
    }


def deleted_row(item: Restorable, calendar: Calendar) -> dict[str, object]:
    return {
        "id": item.id,
        "icon": ICONS[FOLDER if item.kind == FOLDER else look_of(item.name)],
        "name_parts": name_parts(item.name),
        "folder_parts": name_parts(item.folder_path or _("All files")),
        "size": formatting.size_words(item.size_bytes),
        "date": calendar.words(item.deleted_at),
        "date_title": calendar.exact(item.deleted_at),
    }


def final_page(ids: Sequence[str], until: str) -> dict[str, object]:
    """Ask before items are deleted for good: all up to the one with the id `until`, or `ids`."""
    title, button = _("Delete all items for good?"), _("Delete all for good")
    if ids:
        items = {"items": formatting.items_words(len(ids))}
        title = _("Delete %(items)s for good?") % items
        button = _("Delete %(items)s for good") % items
    return {"title": title, "button": button, "ids": ids, "until": until}


def restored_words(count: int) -> str:
    words = ngettext("%(count)s item restored", "%(count)s items restored", count)
    return words % {"count": formatting.count_words(count)}


def deleted_for_good_words(count: int) -> str:
    words = ngettext("%(count)s item deleted for good", "%(count)s items deleted for good", count)
    return words % {"count": formatting.count_words(count)}
