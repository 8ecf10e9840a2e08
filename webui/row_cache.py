"""Cache what was read from the database until the database changes."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from django.conf import settings
from django.utils.module_loading import import_string

T = TypeVar("T")
_read: Callable[[Hashable, Callable[[], Any]], Any] = import_string(settings.ROW_CACHE)


def read(key: Hashable, load: Callable[[], T]) -> T:
    """Return the value of a key, which the caller must not change."""
    return cast("T", _read(key, load))
