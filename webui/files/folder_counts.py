"""Count the contents of folders before they are deleted."""

from collections.abc import Sequence
from contextlib import suppress

from webui.files import screen
from webui.files.pages import delete as delete_page
from webui.files.pages.delete import Below
from webui.http.requests import Request
from webui.library.entries import Entry
from webui.v1.errors import Failure, NotFound

MOST_LISTINGS = 24


def below_of(request: Request, chosen: Sequence[Entry]) -> dict[str, Below]:
    """Count the folders' contents at any depth, until MOST_LISTINGS are read or the service
    fails."""
    below_by_key: dict[str, Below] = {}
    remaining = MOST_LISTINGS
    for entry in chosen[: delete_page.MOST_LISTED]:
        if remaining <= 0:
            break
        try:
            below_by_key[entry.key], listing_count = count_below(request, entry.id, remaining)
        except Failure:
            break
        remaining -= listing_count
    return below_by_key


def count_below(request: Request, folder: str, most_listings: int) -> tuple[Below, int]:
    files_below = folders_below = listing_count = 0
    waiting = [folder]
    while waiting and listing_count < most_listings:
        listing_count += 1
        with suppress(NotFound):
            below = screen.read(request, waiting.pop(), at_once=True).snapshot.contents.entries
            inner = [entry.id for entry in below if entry.is_folder]
            files_below += len(below) - len(inner)
            folders_below += len(inner)
            waiting += inner
    return Below(files_below, folders_below, is_all=not waiting), listing_count
