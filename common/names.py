"""Which names files and folders may have, and which names are equal."""

import re
import unicodedata

LONGEST_NAME = 255
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
