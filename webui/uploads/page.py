"""The form that uploads files to a folder."""

from django.utils.translation import gettext as _

from webui.library.addresses import Addresses, ViewOptions
from webui.library.snapshot import Snapshot
from webui.storage_meter import gauge_of


def upload_page(snapshot: Snapshot, *, takes_folder: bool) -> dict[str, object]:
    at = Addresses(snapshot.folder, ViewOptions())
    gauge = gauge_of(snapshot.space_used_bytes, snapshot.space_max_bytes)
    room = {"free": gauge.free, "total": gauge.total} if gauge else None
    return {
        "title": _("Upload to %(folder)s") % {"folder": snapshot.name or _("All files")},
        "action": f"{at.below}upload/",
        "back_url": at.page,
        "note": upload_note(snapshot, takes_folder=takes_folder),
        "room_text": _("%(free)s free of %(total)s") % room if room else "",
    }


def upload_note(snapshot: Snapshot, *, takes_folder: bool) -> str:
    return "" if takes_folder or snapshot.is_root else no_folder_words()


def no_folder_words() -> str:
    return _("Ferry puts these files in All files, because this service doesn't accept a folder.")
