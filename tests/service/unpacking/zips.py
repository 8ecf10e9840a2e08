"""Build ZIP files, also hostile ones."""

import io
import struct
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

DIRECTORY_ENTRY = b"PK\1\2"


def a_zip(*files: tuple[str, bytes], method: int = ZIP_DEFLATED, mode: int = 0) -> bytes:
    """Return a ZIP of these names and contents; `mode`: of all of them, as Unix has it."""
    made = io.BytesIO()
    with ZipFile(made, "w", method) as zip_file:
        for name, content in files:
            info = ZipInfo("x")
            # The constructor changes some names, and would refuse none.
            info.filename, info.compress_type = name, method
            info.external_attr = mode << 16
            zip_file.writestr(info, content)
            # A repeated name would cause a warning.
            zip_file.NameToInfo.clear()
    return made.getvalue()


def changed(content: bytes, offset: int, value: bytes) -> bytes:
    """Change each entry of the directory at an offset in it."""
    result, at = bytearray(content), content.find(DIRECTORY_ENTRY)
    while at >= 0:
        result[at + offset : at + offset + len(value)] = value
        at = content.find(DIRECTORY_ENTRY, at + 1)
    return bytes(result)


def encrypted(content: bytes) -> bytes:
    return changed(content, 8, struct.pack("<H", 1))


def with_method(content: bytes, method: int) -> bytes:
    return changed(content, 10, struct.pack("<H", method))


def with_size(content: bytes, size_bytes: int) -> bytes:
    return changed(content, 24, struct.pack("<L", size_bytes))


def with_wrong_sum(content: bytes) -> bytes:
    return changed(content, 16, b"\x12\x34\x56\x78")


def with_harm(content: bytes) -> bytes:
    """Change a byte of the first file, which must be stored as it is."""
    at = content.index(b"content")
    return content[:at] + b"C" + content[at + 1 :]


def overlapping(count: int) -> bytes:
    """Return a ZIP whose entries all have the same bytes, as of a bomb."""
    content = a_zip(("zeros", bytes(10**6)))
    begin = content.find(DIRECTORY_ENTRY)
    end = content.rfind(b"PK\5\6")
    entries = content[begin:end] * count
    tail = bytearray(content[end:])
    tail[8:16] = struct.pack("<HHL", count & 0xFFFF, count & 0xFFFF, len(entries))
    return content[:begin] + entries + bytes(tail)


def stored(*files: tuple[str, bytes]) -> bytes:
    return a_zip(*files, method=ZIP_STORED)
