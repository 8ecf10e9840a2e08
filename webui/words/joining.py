"""Join sentences, and the items of lists, as each language does."""

from collections.abc import Iterable
from functools import reduce

from django.utils.translation import pgettext


def sentences(parts: Iterable[object]) -> str:
    """Return `One sentence. Another one.`, without empty ones."""
    return reduce(_sentence_after, [str(part) for part in parts if part], "")


def _sentence_after(first: str, then: str) -> str:
    words = pgettext("two sentences", "%(first)s %(next)s")
    return words % {"first": first, "next": then} if first else then


def items(parts: Iterable[str]) -> str:
    """Return `one item, another`, without empty ones."""
    return reduce(_item_after, filter(None, parts), "")


def _item_after(first: str, then: str) -> str:
    words = pgettext("items of a list", "%(first)s, %(next)s")
    return words % {"first": first, "next": then} if first else then


def day_and_time(day: str, time: str) -> str:
    """Return `18 Nov, 14:02`."""
    return pgettext("a day and a time", "%(day)s, %(time)s") % {"day": day, "time": time}
