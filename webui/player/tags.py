"""Read the tags of an audio file, at a bounded cost, since strangers wrote them."""

import logging

from tinytag import TinyTag

from webui.contents.content_check import Expected
from webui.contents.remote_file import RemoteFile
from webui.v1.client import Client
from webui.v1.errors import Failure

log = logging.getLogger("ferry.tags")

MOST_PIECES = 4
LONGEST = 200

# tinytag compares each further field with all others of its name, which takes minutes for a
# megabyte of them. We read none of these fields, and the library has no setting for this.
setattr(TinyTag, "_set_other_field", lambda _tag, fieldname, value: None)  # noqa: ARG005, B010


def read_tags(v1: Client, file: str, expected: Expected) -> dict[str, str]:
    """Return the tags, empty if none can be read. Raises `Failure`."""
    remote = RemoteFile(v1, file, expected, MOST_PIECES)
    try:
        read = TinyTag.get(expected.name, file_obj=remote, duration=False)  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001  Damaged files make the library raise anything.
        # tinytag wraps exceptions raised by a read.
        if isinstance(error.__cause__, Failure):
            raise error.__cause__ from None
        log.info("no tags file=%s: %r", file, error)
        return dict.fromkeys(("title", "artist", "album"), "")
    artist = read.artist or read.albumartist
    return {"title": plain(read.title), "artist": plain(artist), "album": plain(read.album)}


def plain(text: str | None) -> str:
    return " ".join((text or "").replace("\0", " ").split())[:LONGEST]
