"""List the files in a ZIP by the directory at its end, without fetching the rest."""

import struct
from typing import IO, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from webui.contents.content_check import Expected
from webui.contents.remote_file import RemoteFile, TooFar
from webui.v1.client import Client

# 2 MB of directory, some 25,000 names, which take a quarter of a second to read.
MOST_PIECES = 9
# What `zipfile` raises for damaged or malicious directories.
UNREADABLE = (
    *(BadZipFile, NotImplementedError, OSError, OverflowError, TooFar, ValueError, struct.error),
)


def files_in(v1: Client, file: str, expected: Expected) -> list[ZipInfo] | None:
    """Return the files in a ZIP, or None if it can't be read or its directory is too long."""
    if not expected.size_bytes:
        return None
    try:
        with ZipFile(cast("IO[bytes]", RemoteFile(v1, file, expected, MOST_PIECES))) as archive:
            entries = archive.infolist()
    except UNREADABLE:
        return None
    # In some releases of Python 3.11, `is_dir` fails for an entry without a name.
    return [each for each in entries if each.filename and not each.is_dir()]
