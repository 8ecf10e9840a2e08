"""Find which names of a folder are taken, and the next free name."""

from collections.abc import Iterable
from itertools import islice

from common.batches import ROWS_AT_ONCE
from common.names import key_of
from service.errors import NameTaken
from service.library import names as library_names
from service.models import File, Folder, Transfer


def free_name(folder: Folder, name: str, *, is_folder: bool) -> str:
    """Return `name`, followed by the smallest free number if it is taken in `folder`."""
    variants = library_names.variants(name, is_folder=is_folder)
    first = next(variants)
    if not _taken_keys(folder, [key_of(first)]):
        return first
    while True:
        batch = list(islice(variants, ROWS_AT_ONCE))
        taken_keys = _taken_keys(folder, map(key_of, batch))
        for variant in batch:
            if key_of(variant) not in taken_keys:
                return variant


def refuse_taken(folder: Folder, name: str, but: Folder | File | None = None) -> None:
    key = key_of(name)
    is_its_own = but is not None and but.name_key == key
    if not is_its_own and _taken_keys(folder, [key]):
        raise NameTaken


def _taken_keys(folder: Folder, keys: Iterable[str]) -> set[str]:
    """Return which keys are taken, including those that running transfers reserve."""
    keys = list(keys)
    coming = Transfer.running().filter(folder=folder, title_key__in=keys)
    return {
        *folder.folders.filter(name_key__in=keys).values_list("name_key", flat=True),
        *folder.files.filter(name_key__in=keys).values_list("name_key", flat=True),
        *coming.values_list("title_key", flat=True),
    }
