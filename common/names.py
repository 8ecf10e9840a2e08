"""Which names files and folders may have, which are equal, and what downloads are called."""

import re
import unicodedata

LONGEST_NAME = 255
LONGEST_NAME_BYTES = 255
LONGEST_EXTENSION = 10
# The slash, control characters (Cc), and lone surrogates (Cs), which UTF-8 can't encode. Direction
# marks stay: they are part of names in some languages, and pages only have to show them safely.
NEVER_IN_A_NAME = re.compile(r"[/\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def key_of(name: str) -> str:
    """Return the key of a name: names with the same key are the same, however they were typed."""
    return unicodedata.normalize("NFC", name)


def find_name_error(name: str) -> str:
    """Return the reason, as v1 says it, why a name can't be kept as it is, or an empty string."""
    if not name.strip():
        return "name_empty"
    if max(len(name), len(key_of(name))) > LONGEST_NAME:
        return "name_too_long"
    if name in (".", "..") or NEVER_IN_A_NAME.search(name):
        return "name_not_allowed"
    return ""


# Names that Windows, macOS, and Linux can all hold

# Separators and what Windows forbids, control characters, line and paragraph separators,
# characters that reverse the reading direction ("exe.mp4" for "4pm.exe"), lone surrogates.
UNSAFE = re.compile(
    r'[\x00-\x1f\x7f-\x9f"*/:<>?\\|\u2028-\u202e\u2066-\u2069\ud800-\udfff]',
)
DEVICES = r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\xb9\xb2\xb3])"
DEVICE = re.compile(rf"{DEVICES} *(?:\.|\Z)", re.IGNORECASE)


def safe_name(raw_name: str) -> str:
    """Return one path component, never empty, that names the same file on every system."""
    name = UNSAFE.sub("_", unicodedata.normalize("NFC", raw_name))
    name = clip(name, LONGEST_NAME_BYTES)
    if DEVICE.match(name):
        name = clip(f"_{name}", LONGEST_NAME_BYTES)
    return name or "_"


def clip(name: str, limit_bytes: int) -> str:
    # Windows drops trailing dots and spaces, so "a." would overwrite "a"; "." and ".." become "".
    name = name.rstrip(". ")
    if len(name) * 4 <= limit_bytes or len(name.encode()) <= limit_bytes:
        return name
    stem, extension = split_extension(name)
    room = limit_bytes - len(extension.encode())
    return (stem.encode()[:room].decode(errors="ignore") + extension).rstrip(". ")


def split_extension(name: str) -> tuple[str, str]:
    stem, _, extension = name.rpartition(".")
    if stem and extension.isalnum() and len(extension) <= LONGEST_EXTENSION:
        return stem, f".{extension}"
    return name, ""
