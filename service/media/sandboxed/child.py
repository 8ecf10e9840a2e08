"""The process that reads media: it answers one question after another over a socket, its input.

A question is a line of JSON, sent with the media file's descriptor. The answer is a line of JSON
that lists the lengths of the files that follow it. A crash in here breaks nothing else: the caller
sees the end of the socket.
"""

import errno
import json
import os
import re
import socket
from typing import Any, BinaryIO

import av
from msgspec import to_builtins

from service.media.pictures.sizes import SIZES
from service.media.probe import Probed, TrackKind
from service.media.sandboxed import documents, drawing, exif, films
from service.media.sandboxed.confinement import landlock, seccomp
from service.media.sandboxed.drawing import Unfit

HEAD_BYTES = 4096
MOST_QUESTION_BYTES = 65_536
# Common files that aren't media, so that no decoder tries to read them.
OTHERS = (b"PK\x03\x04", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"\x7fELF", b"MZ", b"d8:")
PDF = b"%PDF-"
NOT_NOW = (errno.EIO, errno.ESTALE, errno.ENOTCONN)
# An SVG's root element, behind nothing that could define entities.
SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*"
    rb"(?:<!DOCTYPE svg[^\[>]*>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]",
    re.DOTALL,
)
HEIF_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}

Facts = dict[str, Any]


def main() -> None:
    drawing.make_ready()
    films.make_ready()
    is_refused = seccomp.are_refused()
    is_sealed = landlock.seal({}) and is_refused
    with socket.socket(fileno=os.dup(0)) as asker:
        asker.sendall(json.dumps({"is_sealed": is_sealed}).encode() + b"\n")
        while True:
            line, descriptors, _flags, _address = socket.recv_fds(asker, MOST_QUESTION_BYTES, 1)
            if not line:
                return
            with open(descriptors[0], "rb") as medium:
                facts, files = answer(json.loads(line), medium)
            lengths = [len(each) for each in files]
            asker.sendall(json.dumps({**facts, "lengths": lengths}).encode() + b"\n")
            asker.sendall(b"".join(files))


def answer(question: Facts, medium: BinaryIO) -> tuple[Facts, list[bytes]]:
    medium.seek(0)
    try:
        return carry_out(question, medium)
    except Exception as trouble:  # noqa: BLE001  Decoders raise anything.
        unfit = unfit_of(trouble)
    return {"refused": unfit.reason, "is_limit": unfit.is_limit, "is_late": unfit.is_late}, []


def carry_out(question: Facts, medium: BinaryIO) -> tuple[Facts, list[bytes]]:
    match question["do"]:
        case "probe":
            return probe(medium), []
        case "chapters":
            with films.open_film(medium) as container:
                return {"chapters": films.chapters(container)}, []
        case "filmstrip":
            with films.open_film(medium) as container:
                return {}, [films.draw_filmstrip(container)]
    return {}, draw(medium, question)


def unfit_of(trouble: Exception) -> Unfit:
    if isinstance(trouble, Unfit):
        return trouble
    if isinstance(trouble, MemoryError):
        return Unfit("it takes too much memory", is_limit=True)
    is_not_now = isinstance(trouble, OSError) and trouble.errno in NOT_NOW
    # From libav, the same errors may mean a damaged file.
    if is_not_now and not isinstance(trouble, av.FFmpegError):
        return Unfit("the disk can't read it", is_limit=True, is_late=True)
    return Unfit(f"it is damaged ({type(trouble).__name__})")


def probe(medium: BinaryIO) -> Facts:
    """Return the columns of models.Media."""
    head = medium.read(HEAD_BYTES)
    medium.seek(0)
    if SVG.match(head):
        probed = to_builtins(Probed("svg", 0, ()))
        return {"kind": "picture", "has_picture": True, "probed": probed, "camera": {}}
    if head.startswith(PDF):
        return {"kind": "other", "has_picture": True, "camera": {}}
    if not head or head.startswith(OTHERS) or is_text(head):
        return {"kind": "other", "camera": {}}
    image = drawing.open_image(medium)
    if image is not None:
        width, height = drawing.shown_size(image)
        size = {"width": width, "height": height}
        return {"kind": "picture", "has_picture": True, **size, **exif.of_image(image)}
    medium.seek(0)
    if head[4:8] == b"ftyp" and head[8:12] in HEIF_BRANDS:
        probed = {"probed": to_builtins(Probed("heif", 0, ()))}
        return {"kind": "picture", "has_picture": True, **probed, **exif.of_heif(medium)}
    with films.open_film(medium) as container:
        return film_facts(films.probe(container))


def is_text(head: bytes) -> bool:
    """Return whether it is text, such as playlists: no text but SVG is media."""
    if b"\0" in head:
        return False
    try:
        head[:-4].decode()
    except UnicodeDecodeError:
        return False
    return True


def film_facts(probed: Probed) -> Facts:
    video = next(iter(probed.of_kind(TrackKind.VIDEO)), None)
    covers = probed.of_kind(TrackKind.PICTURE)
    if video is None and not probed.of_kind(TrackKind.AUDIO):
        raise Unfit("it has neither video nor sound")
    facts: Facts = {
        "kind": "video" if video else "audio",
        "has_picture": bool(video or covers),
        "duration_ms": round(probed.duration_seconds * 1000) or None,
        "probed": to_builtins(probed),
    }
    if video:
        is_sideways = video.rotation_degrees % 180 == 90
        size = (video.height, video.width) if is_sideways else (video.width, video.height)
        facts |= {"width": size[0], "height": size[1]}
    return facts


def draw(medium: BinaryIO, question: Facts) -> list[bytes]:
    sizes = [SIZES[name] for name in question["sizes"]]
    if question["kind"] == "other":
        return documents.draw(medium, sizes)
    if question["kind"] == "picture":
        image = drawing.open_image(medium)
        if image is None:
            raise Unfit("it is no picture")
        return drawing.draw(image, sizes)
    with films.open_film(medium) as container:
        return films.draw(container, sizes)


if __name__ == "__main__":
    main()
