"""Parse single values of a response. Nothing is trusted: what can't be read becomes its default."""

import json
import math
import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any

MOST_BYTES = 2**63 - 1
LONGEST_NAME = 1_024
LONGEST_LINK = 4_096
MOST_WARNINGS = 20

# Ids become parts of paths. They need a digit, so that no id is ever the name of an endpoint.
ID = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
HASH = re.compile(r"[0-9a-fA-F]{40}")
LINK = re.compile(r"https?://[^\s\\\x00-\x1f\x7f]+")


def id_of(value: Any) -> str | None:
    """Return a valid id or None. Ids exceed 32 bits, are numbers or digits, and may be hostile."""
    kind = type(value)
    if kind is int:
        return str(value) if 0 <= value <= MOST_BYTES else None
    if kind is str:
        return value if ID.fullmatch(value) else None
    if kind is float and value.is_integer() and 0 <= value <= 2**53:
        return str(int(value))
    return None


def reference_of(value: Any) -> str | None:
    """Return the id of something else, where 0 and -1 mean none."""
    reference = id_of(value) if value else None
    return None if reference == "0" else reference


def text_of(value: Any) -> str:
    if type(value) is not str:
        return str(value) if type(value) is int and -MOST_BYTES < value < MOST_BYTES else ""
    return sound(value if len(value) <= LONGEST_NAME else value[:LONGEST_NAME])


def scalar_of(value: Any) -> str:
    """Return a single value as text; "" for anything else."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return str(value) if math.isfinite(value) else ""
    return text_of(value).strip()


def sound(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can contain but pages can't."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def bytes_of(value: Any) -> int:
    """Return a count; 0 if it is missing or invalid."""
    return size_of(value) or 0


def size_of(value: Any) -> int | None:
    """Return a size; None if it is null, missing, negative, or not a number."""
    if type(value) is int:
        return min(value, MOST_BYTES) if value >= 0 else None
    number = _finite(value)
    return None if number is None or number < 0 else int(min(number, 2.0**62))


def number_of(value: Any) -> float:
    return _finite(value) or 0.0


def _finite(value: Any) -> float | None:
    if type(value) is bool or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value[:32] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def within(value: Any, most: int) -> int:
    if value is None:
        return 0
    number = value if type(value) is int else round(number_of(value))
    return number if 0 < number <= most else 0


def percent_of(value: Any, most: float) -> float:
    return min(max(number_of(value), 0.0), most)


def flag_of(value: Any) -> bool:
    is_word = type(value) is str and value.lower() in ("true", "yes")
    return value is True or is_word or number_of(value) > 0


def hash_of(value: Any) -> str | None:
    return value.lower() if type(value) is str and HASH.fullmatch(value) else None


def link_of(value: Any) -> str | None:
    if type(value) is not str or len(value) > LONGEST_LINK or not LINK.fullmatch(value):
        return None
    return sound(value)


def moment_of(value: Any) -> datetime | None:
    """Parse `YYYY-MM-DD HH:MM:SS`, in UTC, without a zone."""
    if type(value) is not str or len(value) != 19:
        return None
    try:
        return datetime.fromisoformat(value + "+00:00")
    except ValueError:
        return None


def seconds_of(value: Any) -> int | None:
    moment = moment_of(value)
    return None if moment is None else int(moment.timestamp())


def warnings_of(value: Any) -> tuple[str, ...]:
    """Read a string of JSON, an array, or nothing; some services send a plain sentence."""
    if not value or value == "[]":
        return ()
    if isinstance(value, str):
        try:
            value = json.loads(value[:65_536])
        except (ValueError, RecursionError):
            value = [value]
    rows: Iterable[Any] = value if isinstance(value, list) else [value]
    texts = (text_of(row) for row in islice(rows, MOST_WARNINGS))
    return tuple(text for text in texts if text)
