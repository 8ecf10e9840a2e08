"""Looks at what the service gives: by a link and nothing else, in this process, and on a walk."""

from collections.abc import Iterable

import httpx

from config.embedded import upstream
from service.content.traversal import Passed, Step


def reader() -> httpx.Client:
    return httpx.Client(transport=upstream.transport(), base_url=upstream.URL)


def walked(steps: Iterable[Step]) -> list[tuple[int, str]]:
    """Depth and name of each; a folder has a slash behind it."""
    found: list[tuple[int, str]] = []
    for depth, what in steps:
        names = [f"{what.name}/"] if isinstance(what, Passed) else what.names
        found += ((depth, name) for name in names)
    return found
