"""Count what Chromium loads for a page before anyone touches it, in bytes on the wire."""

from collections import Counter

from playwright.sync_api import Browser, Page, Request, StorageState

KINDS = {"document": "HTML", "stylesheet": "CSS", "script": "JS"}


def first_loaded(chromium: Browser, url: str, state: StorageState | None = None) -> Counter[str]:
    """Load the page with an empty cache; `state` brings the cookies."""
    with chromium.new_context(storage_state=state) as context:
        return loaded(context.new_page(), url)


def loaded(page: Page, url: str) -> Counter[str]:
    """Return the bytes of the bodies by kind, imported modules included.

    All but documents, styles, and scripts count as "other". The cache must be empty.
    """
    done: list[Request] = []
    page.on("requestfinished", lambda request: done.append(request))  # noqa: PLW0108  Playwright sets an attribute on it, which methods of lists refuse.
    page.goto(url)
    page.wait_for_load_state("networkidle")
    sizes: Counter[str] = Counter()
    for request in done:
        kind = KINDS.get(request.resource_type, "other")
        sizes[kind] += request.sizes()["responseBodySize"]
        sizes["answers"] += 1
    assert all(sizes[kind] for kind in KINDS.values()), sizes
    return sizes


def weight(sizes: Counter[str]) -> int:
    """Return the bytes of HTML, CSS, and JavaScript together."""
    return sum(sizes[kind] for kind in KINDS.values())
