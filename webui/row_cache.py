"""Keep what was read from the database until anyone changes it."""

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

T = TypeVar("T")


class Read(Protocol):
    def __call__(self, key: Hashable, load: Callable[[], T]) -> T: ...


read: Read = import_string(settings.ROW_CACHE)
