"""Read a text of any size piece by piece, within limits on bytes, lines, and time."""

import re
from dataclasses import dataclass

from webui.contents import encodings
from webui.contents.content_check import Expected
from webui.contents.remote_file import PIECE_BYTES, fetch_piece
from webui.v1.client import Client

COLOURS = re.compile(r"\x1b\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]")
# Control characters, which move a terminal's cursor, are shown as their Unicode symbols.
PICTURES_OF = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}


@dataclass(frozen=True)
class TextPiece:
    text: str
    encoding: str
    start: int
    stop: int  # in bytes; where the next piece begins
    is_last: bool

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.is_last


@dataclass(frozen=True)
class TextRequest:
    file: str
    expected: Expected
    start: int
    most_lines: int
    encoding: str  # "" if not yet detected
    is_art: bool


def read(v1: Client, text_request: TextRequest) -> TextPiece | None:
    """Return a piece, or None if the file isn't text. Pieces end at line ends, unless a line is
    longer than a piece."""
    start, size_bytes = text_request.start, text_request.expected.size_bytes
    data = fetch_piece(v1, text_request.file, text_request.expected, start)
    # If the service doesn't send the size, the first piece that isn't full is the last.
    is_last = start + len(data) >= size_bytes if size_bytes else len(data) < PIECE_BYTES
    if not data:
        return TextPiece("", text_request.encoding or "utf_8", start, start, is_last=True)
    encoding = text_request.encoding or encodings.encoding_of(data, is_art=text_request.is_art)
    if not encoding:
        return None
    stop = end_of_lines(data, encoding, text_request.most_lines, is_last=is_last)
    if stop and stop < len(data):
        data, is_last = data[:stop], False
    text, byte_count = encodings.decode(data, encoding, is_last=is_last)
    return TextPiece(plain(text), encoding, start, start + max(byte_count, 1), is_last)


def end_of_lines(data: bytes, encoding: str, most_lines: int, *, is_last: bool) -> int:
    """Return the end of the last complete line, or of the last line that may be shown; 0 if no line
    ends here."""
    end = "\n".encode(encoding)
    stop = count = place = 0
    while count < most_lines:
        place = data.find(end, place)
        if place < 0:
            break
        is_letter = place % len(end) == 0  # otherwise the match spans two characters
        place += len(end) if is_letter else 1
        if is_letter:
            stop, count = place, count + 1
    return len(data) if is_last and count < most_lines else stop


def plain(text: str) -> str:
    """Remove terminal colors, and make control characters visible."""
    text = COLOURS.sub("", text.replace("\r\n", "\n"))
    return text.translate(PICTURES_OF)
