"""Read from the service: by link, without credentials, in this process; and by traversal."""

from collections.abc import Iterable

import httpx
from django.http import HttpResponseBase
from django.test import RequestFactory

from config.embedded import service, upstream
from service.content.archive import ArchiveFiles, Step
from service.library import library
from service.library.library import FolderContents
from service.models import Account


def reader() -> httpx.Client:
    return httpx.Client(transport=upstream.transport(), base_url=upstream.URL)


def contents_of(account: Account, folder_id: int) -> FolderContents:
    return library.listing(library.folder(account, folder_id))


def browser_gets(link: str, **headers: str) -> HttpResponseBase:
    """Request a link from outside. What `reader` requests counts as a call of the site itself."""
    request = RequestFactory().get(link, headers={"host": "localhost", **headers})
    return service.handler().get_response(request)


def walked(steps: Iterable[Step]) -> list[tuple[int, str]]:
    """Return the depth and name of each entry; a folder's name ends with a slash."""
    found: list[tuple[int, str]] = []
    for depth, what in steps:
        names = what.names if isinstance(what, ArchiveFiles) else [f"{what.name}/"]
        found += ((depth, name) for name in names)
    return found
