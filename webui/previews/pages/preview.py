"""The preview of one file: its content, and its neighbors."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from zipfile import ZipInfo

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.files.pages.folder import ROWS_AT_ONCE, download_url
from webui.files.pages.rows import FilesContext
from webui.library.addresses import Addresses, ViewOptions, image_url, raw_url, thumb_url
from webui.library.entries import FILE, Entry, look_of, split_name
from webui.library.kinds import ICONS
from webui.library.snapshot import Snapshot
from webui.library.sorting import natural
from webui.previews.pages.text import TextPart
from webui.words import formatting, joining
from webui.words.formatting import clock_words

STRIP = 12  # on either side
LISTED = 50  # on either side
MOST_PACKED = 1_000
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Previous and next stay within a family. All other kinds form one family together.
FAMILIES = ("picture", "audio", "video")
SCRIPTED = ("picture", "audio", "text", "pdf")
# The usual names of film sizes, and how far a film may deviate from its name.
USUAL_LINES = (144, 240, 360, 480, 540, 576, 720, 1080, 1440, 2160, 4320)
ALIKE = 0.07
COVERS = ("cover", "folder", "front", "albumart")


def preview_page(
    snapshot: Snapshot,
    entry: Entry,
    look: ViewOptions,
    context: FilesContext,
    text: TextPart | None = None,
) -> dict[str, object]:
    """Describe a file. The view adds the player of a video, and the camera of a picture."""
    at = Addresses(snapshot.folder, look)
    entries = in_sight(snapshot, entry, look)
    like = alike(entries, entry)
    place, kind = like.index(entry), kind_of(entry, text)
    return {
        "key": entry.key,
        "kind": kind,
        "title": entry.name,
        "facts": facts(entry, position_words(place, like), text),
        "icon": ICONS[entry.look],
        "extension": split_name(entry.name)[1],
        "size": "" if entry.size_bytes is None else formatting.size_words(entry.size_bytes),
        "previous": neighbour(like, place - 1, at, context) if place else None,
        "next": neighbour(like, place + 1, at, context) if place + 1 < len(like) else None,
        "url": at.preview(entry.key),
        "back_url": back_url(entries.index(entry), entry, at),
        "back_label": _("Back to %(folder)s") % {"folder": folder_words(snapshot)},
        "pdf_url": f"{reverse('stream-pdf', args=[entry.id])}?in={at.folder}",
        "download_url": download_url(at, entry),
        "copy_url": context.origin + download_url(at, entry),
        "rename_url": f"{at.below}{entry.key}/rename/{at.shown_tail}",
        "delete_url": f"{at.below}delete/?entry={entry.key}",
        "share_url": f"{at.below}share/?entry={entry.key}" if context.can_share else "",
        "unpack_url": (
            f"{at.below}{entry.key}/unpack/{at.shown_tail}"
            if context.can_unpack and context.may_change and entry.is_unpackable
            else ""
        ),
        "may_change": context.may_change and context.stale is None,
        "script": script_of(kind),
        "picture": picture_part(like, place, at, context) if entry.preview == "picture" else None,
        "audio": (
            audio_part(snapshot, like, place, at, context) if entry.preview == "audio" else None
        ),
        "text": text,
    }


def archive_part(entry: Entry, files: Sequence[ZipInfo]) -> dict[str, object]:
    """Return what the page of an archive shows in place of its usual facts."""
    rows = sorted(files[:MOST_PACKED], key=lambda each: natural(each.filename))
    unpacked = {"size": formatting.size_words(sum(each.file_size for each in files))}
    facts = [
        formatting.items_words(len(files)),
        formatting.size_words(entry.size_bytes),
        _("%(size)s unpacked") % unpacked,
    ]
    return {
        "kind": "archive",
        "facts": joining.items(facts),
        "archive": {
            "files": [packed_file(each) for each in rows],
            "more": formatting.more_words(len(files) - len(rows)),
        },
    }


def packed_file(packed: ZipInfo) -> tuple[str, str, str, str]:
    """Return its icon, folder, name, and size."""
    path = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", packed.filename)
    folder, slash, name = path.rpartition("/")
    icon = ICONS[look_of(name)]
    return icon, folder + slash, name, formatting.size_words(packed.file_size)


def in_sight(snapshot: Snapshot, entry: Entry, look: ViewOptions) -> Sequence[Entry]:
    """Return the filtered listing in the person's order; all of it if the filter hides `entry`."""
    matches = snapshot.contents.matching(look.order, look.query)
    if entry in matches:
        return matches
    entries = snapshot.contents.in_order(look.order)
    return entries if entry in entries else snapshot.contents.in_order("name")


def alike(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    """Return the files of this entry's family, which previous and next step through."""
    family = family_of(entry)
    return [each for each in entries if not each.is_folder and family_of(each) == family]


def family_of(entry: Entry) -> str:
    return entry.preview if entry.preview in FAMILIES else ""


def kind_of(entry: Entry, text: TextPart | None) -> str:
    """Return video, audio, picture, pdf, text, empty, or none."""
    if text is not None:
        return "text"
    if entry.size_bytes == 0:
        return "empty"
    return entry.preview if entry.preview in (*FAMILIES, "pdf") else "none"


def script_of(kind: str) -> str:
    """Return the script module for this kind of preview, if there is one."""
    if kind == "video":
        return "js/player/main.js"
    return f"js/previews/{kind}.js" if kind in SCRIPTED else ""


def position_words(place: int, like: Sequence[Entry]) -> str:
    return _("%(number)s of %(count)s") % numbers(place, like) if len(like) > 1 else ""


def numbers(place: int, like: Sequence[Entry]) -> dict[str, str]:
    count_words = formatting.count_words
    return {"number": count_words(place + 1), "count": count_words(len(like))}


def facts(entry: Entry, position: str, text: TextPart | None) -> str:
    """Return facts such as `4 of 10, 3.8 MB, 4032 by 2520`, `1080p, 1 h 4 min, 4.1 GB`, or
    `26 lines, 1 KB, Python`."""
    size = formatting.size_words(entry.size_bytes)
    lasts = formatting.duration_words(entry.duration_seconds) if entry.duration_seconds else ""
    parts = {
        "video": [lines_words(entry), lasts, size],
        "audio": [position, lasts, size],
        "picture": [position, size, pixels_words(entry)],
    }.get(family_of(entry), [text.lines_text, size, text.language] if text else [size])
    return joining.items(parts)


def pixels_words(entry: Entry) -> str:
    if not (entry.width and entry.height):
        return ""
    return _("%(width)s by %(height)s") % {"width": entry.width, "height": entry.height}


def lines_words(entry: Entry) -> str:
    """Return `1080p`, even if a film has fewer lines because it is wide, or deviates slightly."""
    long, short = max(entry.width, entry.height), min(entry.width, entry.height)
    lines = max(short, long * 9 // 16)
    usual = min(USUAL_LINES, key=lambda each: abs(each - lines))
    named = usual if abs(usual - lines) <= lines * ALIKE else lines
    return f"{named}p" if short else ""


def neighbour(
    like: Sequence[Entry], place: int, at: Addresses, context: FilesContext, *, current: int = -1
) -> dict[str, object]:
    entry = like[place]
    return {
        "name": entry.name,
        "label": f"{split_name(entry.name)[0]}, {position_words(place, like)}",
        "url": at.preview(entry.key),
        "thumb_url": thumb_url(entry, at, by_kind=context.thumbs_by_kind),
        "image_url": image_url(at, entry) if entry.preview == "picture" else "",
        "is_current": place == current,
    }


def places_around(place: int, most: int, like: Sequence[Entry]) -> range:
    return range(max(place - most, 0), min(place + most + 1, len(like)))


def back_url(place: int, entry: Entry, at: Addresses) -> str:
    """Return the URL of the listing as it was shown, at this entry's row."""
    first = 0 if at.look.is_all else place // ROWS_AT_ONCE * ROWS_AT_ONCE
    return f"{at.at(replace(at.look, first=first))}#{entry.key}"


def tags_url(at: Addresses, file: str) -> str:
    return f"{at.root}files/file/{file}/tags/?in={at.folder}"


def folder_words(snapshot: Snapshot) -> str:
    return snapshot.name or _("All files")


def picture_part(
    like: Sequence[Entry], place: int, at: Addresses, context: FilesContext
) -> dict[str, object]:
    entry, places = like[place], places_around(place, STRIP, like)
    strip = [neighbour(like, each, at, context, current=place) for each in places]
    return {
        "image_url": image_url(at, entry),
        "full_url": raw_url(at, entry.id) if entry.is_showable_picture else "",
        "strip": strip if len(like) > 1 else [],
    }


def audio_part(
    snapshot: Snapshot, like: Sequence[Entry], place: int, at: Addresses, context: FilesContext
) -> dict[str, object]:
    entry, places = like[place], places_around(place, LISTED, like)
    return {
        "url": raw_url(at, entry.id),
        "tags_url": tags_url(at, entry.id),
        "cover_url": image_url(at, entry) if entry.picture else folder_cover_url(snapshot, at),
        "title": split_name(entry.name)[0],
        "text": track_words(snapshot, place, like),
        "folder": folder_words(snapshot),
        "queue": [track(like[each], at, is_current=each == place) for each in places],
        "queue_url": f"{at.below}{entry.key}/queue/{at.shown_tail}" if len(like) > 1 else "",
    }


def track(entry: Entry, at: Addresses, *, is_current: bool) -> dict[str, object]:
    return {
        "url": at.preview(entry.key),
        "name": split_name(entry.name)[0],
        "length": clock_words(entry.duration_seconds) if entry.duration_seconds else "",
        "is_current": is_current,
    }


def folder_cover_url(snapshot: Snapshot, at: Addresses) -> str:
    """Return the picture that is named like a cover, or else the only one beside the music."""
    pictures = [each for each in snapshot.contents.entries if each.is_showable_picture]
    cover = min(pictures, key=cover_rank, default=None)
    if cover is None or (cover_rank(cover) > 1 and (len(pictures) > 1 or snapshot.is_root)):
        return ""
    return image_url(at, cover)


def cover_rank(picture: Entry) -> int:
    stem = split_name(picture.name)[0].lower()
    return 0 if stem in COVERS else 1 if any(word in stem for word in COVERS) else 2


def track_words(snapshot: Snapshot, place: int, like: Sequence[Entry]) -> str:
    folder = folder_words(snapshot)
    if len(like) == 1:
        return folder
    words = numbers(place, like) | {"folder": folder}
    return _("%(folder)s, track %(number)s of %(count)s") % words


def queue_of(snapshot: Snapshot, entry: Entry, look: ViewOptions) -> dict[str, Any]:
    """Return all tracks that play with this one. Their URLs differ only in the file's id."""
    at = Addresses(snapshot.folder, look)
    return {
        "folder": folder_words(snapshot),
        "cover": folder_cover_url(snapshot, at),
        "url": at.preview(f"{FILE}-{{id}}"),
        "source": raw_url(at, "{id}"),
        "tagsUrl": tags_url(at, "{id}"),
        "tracks": [queue_row(each, at) for each in alike(in_sight(snapshot, entry, look), entry)],
    }


def queue_row(entry: Entry, at: Addresses) -> dict[str, str]:
    own_cover = {"cover": image_url(at, entry)} if entry.picture else {}
    return {"id": entry.id, "name": split_name(entry.name)[0], **own_cover}
