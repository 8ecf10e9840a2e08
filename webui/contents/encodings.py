"""Guess the encoding of a text, and decode it."""

import codecs

from charset_normalizer import from_bytes

MARKS = {
    codecs.BOM_UTF8: "utf_8",
    codecs.BOM_UTF32_LE: "utf_32_le",
    codecs.BOM_UTF32_BE: "utf_32_be",
    codecs.BOM_UTF16_LE: "utf_16_le",
    codecs.BOM_UTF16_BE: "utf_16_be",
}
GUESSED = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("koi8_r", "cp932", "euc_jp", "gb18030", "big5", "euc_kr", "cp874", "cp866"),
]
USUAL = "cp1252"
OF_ARTISTS = "cp437"  # .nfo files are drawn with the characters of the first PC
KNOWN = frozenset({"utf_8", OF_ARTISTS, *MARKS.values(), *GUESSED})
SAMPLE_BYTES = 8 * 1024
LEAST_GUESSED_BYTES = 40
MOST_CONTROLS = 0.1
# Control characters that texts contain: tab, line feed, form feed, carriage return, escape.
USUAL_CONTROLS = bytes((9, 10, 12, 13, 27))
CONTROLS = bytes(set(range(32)) - set(USUAL_CONTROLS))


def encoding_of(data: bytes, *, is_art: bool) -> str:
    """Return the encoding, or an empty string if the data isn't text."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return encoding
    sample = data[:SAMPLE_BYTES]
    if b"\0" in sample:
        return wide(sample)
    if len(sample) - len(sample.translate(None, CONTROLS)) > len(sample) * MOST_CONTROLS:
        return ""
    if is_utf_8(data):
        return "utf_8"
    return OF_ARTISTS if is_art else guess_encoding(sample)


def wide(sample: bytes) -> str:
    """Detect UTF-16 without a byte order mark: one byte of most Latin letters is zero."""
    if len(sample) < 4:
        return ""
    halves = (len(sample) + 1) // 2
    even, odd = sample[::2].count(0) / halves, sample[1::2].count(0) / halves
    if odd > 0.4 and even < 0.05:
        return "utf_16_le"
    return "utf_16_be" if even > 0.4 and odd < 0.05 else ""


def is_utf_8(data: bytes) -> bool:
    """Return whether the data is UTF-8. Its last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf_8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def guess_encoding(sample: bytes) -> str:
    if len(sample) < LEAST_GUESSED_BYTES:
        return USUAL
    guess = from_bytes(sample, steps=4, chunk_size=512, cp_isolation=GUESSED).best()
    return guess.encoding if guess and guess.encoding in KNOWN else USUAL


def decode(data: bytes, encoding: str, *, is_last: bool) -> tuple[str, int]:
    """Return the text and the number of bytes decoded: a character cut in two is left for later."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    text = decoder.decode(data, final=is_last)
    pending, _state = (b"", 0) if is_last else decoder.getstate()
    return text.removeprefix("\ufeff"), len(data) - len(pending)
