"""What Chromium loads of a page before anybody touches it, counted as the wire carries it."""

from collections import Counter

from playwright.sync_api import Browser, Page, Request, StorageState

KINDS = {"document": "HTML", "stylesheet": "CSS", "script": "JS"}


def first_loaded(chromium: Browser, url: str, state: StorageState | None = None) -> Counter[str]:
    """With an empty cache; `state` brings the cookies."""
    with chromium.new_context(storage_state=state) as context:
        return loaded(context.new_page(), url)


def loaded(page: Page, url: str) -> Counter[str]:
    """Bytes of bodies by kind, of all that is no document, style or script as "other"; imported
    modules too. The cache has to be empty."""
    done: list[Request] = []
    page.on("requestfinished", lambda request: done.append(request))  # noqa: PLW0108  It is marked by Playwright, and methods of lists can't be.
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
    """HTML, CSS and JavaScript together."""
    return sum(sizes[kind] for kind in KINDS.values())
