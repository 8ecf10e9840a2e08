"""HEIF pictures as phones write them: HEVC tiles, and a grid that joins them."""

import struct

from tests.service.media.samples import short_film


def heif(columns: int = 1, *, width: int = 320, height: int = 240) -> bytes:
    """Return a single picture, or several tiles in a row."""
    encoded = short_film(
        "mp4",
        *("-frames:v", "1", "-c:v", "libx265", "-tag:v", "hvc1", "-pix_fmt", "yuv420p"),
        source=f"testsrc2=s={width}x{height}:d=1",
        sound=False,
    )
    configuration, tile = found(encoded, b"hvcC"), found(encoded, b"mdat")[8:]
    items = [(number, b"hvc1", tile) for number in range(1, columns + 1)]
    if columns > 1:
        grid = struct.pack(">BBBBHH", 0, 0, 0, columns - 1, columns * width, height)
        items.append((columns + 1, b"grid", grid))
    primary = items[-1][0]
    head = box(b"ftyp", b"heic" + bytes(4) + b"mif1heic")
    sizes = box(b"ispe", bytes(4) + struct.pack(">II", width, height))
    sizes += box(b"ispe", bytes(4) + struct.pack(">II", columns * width, height))
    properties = box(b"iprp", box(b"ipco", configuration + sizes) + associations(items))
    parts = box(b"hdlr", bytes(8) + b"pict" + bytes(13))
    parts += box(b"pitm", bytes(4) + struct.pack(">H", primary))
    parts += box(b"iinf", bytes(4) + struct.pack(">H", len(items)) + infos(items)) + properties
    if columns > 1:
        tiles = b"".join(struct.pack(">H", number) for number in range(1, columns + 1))
        dimg = box(b"dimg", struct.pack(">HH", primary, columns) + tiles)
        parts += box(b"iref", bytes(4) + dimg)
    length = len(head) + 12 + len(parts) + len(locations(items, 0)) + 8
    meta = box(b"meta", bytes(4) + parts + locations(items, length))
    return head + meta + box(b"mdat", b"".join(content for _number, _kind, content in items))


def found(film: bytes, kind: bytes) -> bytes:
    at = film.index(kind) - 4
    return film[at : at + struct.unpack(">I", film[at : at + 4])[0]]


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def infos(items) -> bytes:
    facts = (struct.pack(">BBBBHH", 2, 0, 0, 0, number, 0) + kind for number, kind, _ in items)
    return b"".join(box(b"infe", each + b"\0") for each in facts)


def associations(items) -> bytes:
    """Return the ipma box: tiles have a configuration and a size, the grid only a size."""
    rows = b""
    for number, kind, _content in items:
        rows += struct.pack(">H", number) + (b"\1\3" if kind == b"grid" else b"\2\x81\2")
    return box(b"ipma", bytes(4) + struct.pack(">I", len(items)) + rows)


def locations(items, start: int) -> bytes:
    rows = b""
    for number, _kind, content in items:
        rows += struct.pack(">HHHII", number, 0, 1, start, len(content))
        start += len(content)
    return box(b"iloc", bytes(4) + b"\x44\0" + struct.pack(">H", len(items)) + rows)
