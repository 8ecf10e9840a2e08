"""The queue of tracks: those of a folder, in the order of its listing."""

from typing import Any

from webui.library.addresses import Addresses, ViewOptions, image_url, raw_url
from webui.library.entries import FILE, Entry, split_name
from webui.library.snapshot import Snapshot
from webui.previews.pages.preview import alike, folder_cover_url, folder_words, in_sight, tags_url


def queue_of(snapshot: Snapshot, entry: Entry, look: ViewOptions) -> dict[str, Any]:
    """Return all tracks that play with this one. Their URLs differ only in the file's id."""
    at = Addresses(snapshot.folder, look)
    return {
        "folder": folder_words(snapshot),
        "cover": folder_cover_url(snapshot, at),
        "url": at.preview(f"{FILE}-{{id}}"),
        "source": raw_url(at, "{id}"),
        "tagsUrl": tags_url(at, "{id}"),
        "tracks": [track_of(each, at) for each in alike(in_sight(snapshot, entry, look), entry)],
    }


def track_of(entry: Entry, at: Addresses) -> dict[str, str]:
    own_cover = {"cover": image_url(at, entry)} if entry.picture else {}
    return {"id": entry.id, "name": split_name(entry.name)[0], **own_cover}
