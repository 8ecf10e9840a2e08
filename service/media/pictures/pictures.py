"""Pictures of media: made by a child of the worker, stored, and served."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from service.errors import Busy, CannotConvert, NotFound
from service.library import kinds
from service.media import content_folders, probing
from service.media.content_folders import content_of
from service.media.pictures.heif_and_svg import heif_to_jpeg, svg_to_png
from service.media.pictures.sizes import FILMSTRIP, SIZES
from service.media.sandbox.children import Children
from service.media.sandbox.launcher import Failed
from service.media.serving import workers
from service.models import File, Media
from service.store.blobs import library_store

MAKE_SECONDS = 20.0
JPEG, RIFF = b"\xff\xd8\xff", b"RIFF"
# What the child that draws can't read, as `sandboxed/child.py` names it.
CONVERTERS = {"heif": heif_to_jpeg, "svg": svg_to_png}


def read(file: File, name: str) -> bytes:
    """Return the stored picture, or let the worker make it now. Raises NotFound, Busy.

    Runs in a web process.
    """
    content = content_of(file)
    media = probing.find_media(content)
    if name not in (*SIZES, FILMSTRIP) or not may_have_picture(media, file.name):
        raise NotFound
    if picture := find(content.picture(name)):
        return picture
    if name == FILMSTRIP:
        raise NotFound  # The worker makes it once it is idle.
    try:
        workers.ask(file, "picture", size=name)
    except CannotConvert as none:
        raise NotFound from none
    if picture := find(content.picture(name)):
        return picture
    raise Busy


def find(path: Path) -> bytes | None:
    """Return a picture from this machine's disk or another's, or None. Raises Busy."""
    return find_whole(path) or (find_whole(path) if library_store().fetch_published(path) else None)


def find_whole(path: Path) -> bytes | None:
    """Return a picture, or None if it is missing, or a power cut left only a part of it."""
    with suppress(FileNotFoundError):
        picture = path.read_bytes()
        if is_whole(picture):
            return picture
    return None


def is_whole(picture: bytes) -> bool:
    if picture.startswith(JPEG):
        return picture.endswith(b"\xff\xd9")
    return picture.startswith(RIFF) and len(picture) == int.from_bytes(picture[4:8], "little") + 8


def may_have_picture(media: Media | None, name: str) -> bool:
    """Return whether a file may have a picture: its name decides until the probe, moments later."""
    if media is None or media.state == Media.State.WANTED:
        return kinds.kind_of(name) is not None
    return media.has_picture


def type_of(picture: bytes) -> str:
    """Return the content type of a whole picture."""
    return "image/jpeg" if picture.startswith(JPEG) else "image/webp"


def make(children: Children, media: Media, medium: BinaryIO, names: Sequence[str]) -> None:
    """Draw and store the pictures that are missing. Raises Failed."""
    content = content_of(media)
    missing = []
    for name in names:
        if find_whole(content.picture(name)):
            content_folders.publish_again(content.picture(name))
        elif not find(content.picture(name)):
            missing.append(name)
    if missing:
        files = draw(children, media, medium, missing)
        for name, file in zip(missing, files, strict=True):
            content_folders.write_and_publish(content.picture(name), file)


def draw(children: Children, media: Media, medium: BinaryIO, names: Sequence[str]) -> list[bytes]:
    convert = CONVERTERS.get(media.probed.get("container", ""))
    if convert is None:
        return ask_for_pictures(children, media.kind, medium.fileno(), names)
    with tempfile.TemporaryFile(dir=content_folders.scratch_folder()) as plain:
        plain.write(convert(medium))
        plain.flush()
        return ask_for_pictures(children, media.kind, plain.fileno(), names)


def ask_for_pictures(
    children: Children, kind: str, medium: int, names: Sequence[str]
) -> list[bytes]:
    """Let a child draw, and accept only pictures. Raises Failed.

    A child taken over by a hostile file can't send a web page or a program.
    """
    question = {"do": "draw", "kind": kind, "sizes": list(names)}
    files = children.ask(medium, question, MAKE_SECONDS).files
    if len(files) != len(names) or not all(map(is_whole, files)):
        raise Failed("its picture is none")
    return files
