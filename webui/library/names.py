"""Check names of files and folders as the service would."""

import re
import unicodedata

LONGEST_NAME = 255
NEVER_IN_A_NAME = re.compile(r"[/\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def key_of(name: str) -> str:
    """Return the key of a name: the service takes names with the same key for the same."""
    return unicodedata.normalize("NFC", name)


def find_name_error(name: str) -> str:
    """Return the reason why the service would refuse the name, or an empty string."""
    if not name.strip():
        return "name_empty"
    if max(len(name), len(key_of(name))) > LONGEST_NAME:
        return "name_too_long"
    if name in (".", "..") or NEVER_IN_A_NAME.search(name):
        return "name_not_allowed"
    return ""
