"""The service worker in real Chromium: what it caches, what it shows while Ferry can't be reached,
and how a new version of Ferry replaces it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import Visitor
from tests.running import Ferry, bring_static_files, free_port, running

pytestmark = pytest.mark.browser("Only a browser runs a service worker, and keeps its caches.")
KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      const answer = await cache.match(request, { ignoreVary: true });
      found.push([name, new URL(request.url).pathname, await answer.text()]);
    }
  }
  return found;
}"""

WITHOUT = """async (old) => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const names = await caches.keys();
    if (!names.includes(old)) return names;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${old} is kept for ever`);
}"""


@pytest.fixture
def here(page, ferry) -> Visitor:
    visitor = Visitor(page, ferry.url, ferry)
    visitor.sign_in()
    visitor.meet_worker()
    return visitor


def cached_responses(page: Page) -> list[tuple[str, str, str]]:
    return page.evaluate(KEPT)


def versions(page: Page) -> list[str]:
    return page.evaluate("async () => (await caches.keys()).filter((name) => /shell/.test(name))")


@pytest.mark.journey
def test_the_offline_cache_contains_only_the_frame_and_no_personal_data(here):
    page = here.page
    for path in ("/account/", "/transfers/", "/add/", "/"):
        here.open(path)
    session = next(each for each in page.context.cookies() if "session" in each["name"])
    found = cached_responses(page)
    assert len(found) > 10
    for _name, path, text in found:
        assert path.startswith("/static/") or path == "/offline/", path
        assert session["value"] not in text
        assert "alice" not in text


def test_after_sign_out_no_cache_has_a_private_response(here):
    page = here.page
    page.evaluate(
        "caches.open('ferry-shared /').then((cache) => cache.put('/x', new Response('x')))"
    )
    here.open("/account/")
    assert "/x" in [path for _name, path, _text in cached_responses(page)]
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/signin/**")
    left = {path for _name, path, _text in cached_responses(page)}
    assert {path for path in left if not path.startswith("/static/")} == {"/offline/"}


def test_pages_bytes_and_forms_pass_the_worker_as_they_are(here):
    sent = here.page.evaluate("fetch('/account/').then((response) => response.text())")
    assert "<title>Account" in sent
    here.open("/nowhere/")
    assert here.heading() == "Ferry can't find this"
    here.open("/account/")
    here.page.locator("#language").get_by_role("button").click()
    expect(here.page.locator("#language")).to_be_visible()


def successors(page: Page, old: list[str]) -> list[str]:
    """Return the names of the caches after the first old one has been deleted."""
    return page.evaluate(WITHOUT, old[0])


def leave(page: Page) -> None:
    """Open an empty page: if Ferry ended during a request, it would reset the connection."""
    page.goto("about:blank")


# Ferry stops, and returns with another version


@contextmanager
def at(port: int, folder: Path, version: str) -> Iterator[Ferry]:
    """Run Ferry as after an update, which changed one static file."""
    listed = folder / "static" / "staticfiles.json"
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"hash": version}))
    with running(folder, PORT=str(port), WEB_PROCESSES="1") as ferry:
        yield ferry


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a data folder with the static files that a first start would make."""
    folder = tmp_path / "data"
    folder.mkdir()
    bring_static_files(folder)
    return folder


def test_the_offline_page_shows_until_ferry_is_back(page, folder, troubles):
    port = free_port()
    with at(port, folder, "one") as ferry:
        ferry.make_owner()
        visitor = Visitor(page, ferry.url, ferry)
        visitor.sign_in()
        visitor.meet_worker()
        first = versions(page)
        assert len(first) == 1
        leave(page)

    visitor.open("/account/")
    assert visitor.heading() == "Can't reach Ferry"
    assert page.evaluate("getComputedStyle(document.querySelector('a.primary')).borderRadius")
    assert page.evaluate("document.styleSheets.length") == 2
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Can't reach Ferry")

    with at(port, folder, "two"):
        expect(page.get_by_role("heading", level=1)).to_have_text("Account")
        assert page.url.endswith("/account/")
        second = successors(page, first)
        assert len(second) == 1
        leave(page)

    with at(port, folder, "one"):
        visitor.open("/account/")
        assert successors(page, second) == first
        assert visitor.heading() == "Account"
        leave(page)
    # The browser notes each connection that failed, and htmx notes it once more.
    failed = re.compile("ERR_CONNECTION_REFUSED|^htmx:(afterRequest|sendError)")
    troubles[:] = [trouble for trouble in troubles if not failed.search(trouble)]
