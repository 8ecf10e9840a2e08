"""Join sentences, and the items of lists, as each language does."""

from collections.abc import Iterable
from functools import reduce

from django.utils.translation import pgettext


def sentences(parts: Iterable[object]) -> str:
    """Return `One sentence. Another one.`, without empty ones."""
    return _join(parts, pgettext("two sentences", "%(first)s %(next)s"))


def items(parts: Iterable[str]) -> str:
    """Return `one item, another`, without empty ones."""
    return _join(parts, pgettext("items of a list", "%(first)s, %(next)s"))


def _join(parts: Iterable[object], words: str) -> str:
    texts = [str(part) for part in parts if part]
    return reduce(lambda first, then: words % {"first": first, "next": then}, texts or [""])


def day_and_time(day: str, time: str) -> str:
    """Return `18 Nov, 14:02`."""
    return pgettext("a day and a time", "%(day)s, %(time)s") % {"day": day, "time": time}
