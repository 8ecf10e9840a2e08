"""The service worker in real Chromium: what it caches, what it shows while Ferry can't be reached,
and how a new version of Ferry replaces it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.running import Ferry, bring_static_files, free_port, running
from tests.service.working import until

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
    if (!names.includes(old)) return names.filter((name) => /shell/.test(name));
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


def session_of(page: Page) -> str:
    return next(each["value"] for each in page.context.cookies() if "session" in each["name"])


@pytest.mark.journey
def test_the_offline_cache_contains_only_the_frame_and_lists_and_no_other_personal_data(here):
    page = here.page
    for path in ("/account/", "/transfers/", "/add/", "/"):
        here.open(path)
    session = session_of(page)
    wait_for_lists(page, {"/", "/transfers/"})
    found = cached_responses(page)
    assert len(found) > 10
    for name, path, text in found:
        is_list = name.startswith("ferry-lists / ")
        assert is_list or path.startswith("/static/") or path == "/offline/", path
        assert session not in text
        # A list says who added what, once there are several people.
        assert is_list or "alice" not in text


def test_after_sign_out_no_cache_has_a_private_response(here):
    page = here.page
    page.evaluate(
        "caches.open('ferry-shared /').then((cache) => cache.put('/x', new Response('x')))"
    )
    here.open("/account/")
    assert "/x" in [path for _name, path, _text in cached_responses(page)]
    here.open("/")
    wait_for_lists(page, {"/"})
    here.open("/account/")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/signin/**")
    wait_for_lists(page, set())
    left = {path for _name, path, _text in cached_responses(page)}
    assert {path for path in left if not path.startswith("/static/")} == {"/offline/"}


# The lists that a person opened last


def lists(page: Page) -> set[str]:
    found = cached_responses(page)
    return {path for name, path, _text in found if name.startswith("ferry-lists / ")}


def wait_for_lists(page: Page, paths: set[str]) -> None:
    """Wait until the worker has kept these lists, and no others: it does so beside the pages."""
    until(lambda: lists(page) == paths)


@pytest.fixture
def folder_path(here, shelf) -> str:
    folder = shelf.films()
    here.open("/")
    here.page.get_by_role("link", name=folder.name).first.click()
    here.page.wait_for_url(f"**{folder.path}")
    expect(here.page.locator('[title="Elms.txt"]')).to_be_visible()
    return folder.path


@pytest.mark.journey
def test_lists_show_their_last_state_offline_and_nothing_there_can_be_changed(
    here, folder_path, troubles
):
    page = here.page
    here.open("/transfers/")
    wait_for_lists(page, {"/", folder_path, "/transfers/"})
    page.context.set_offline(True)
    here.open("/")
    expect(page.locator("[data-offline]")).to_contain_text("You're seeing an earlier state (")
    page.locator(f'a[href="{folder_path}"]').first.click()
    expect(page.locator('[title="Elms.txt"]')).to_be_visible()
    controls = page.locator("button, input, select, textarea, form, .page-actions a")
    assert controls.count() > 10
    assert not any(each.is_visible() for each in controls.all())
    scripts = page.locator("script[src]")
    assert [urlsplit(each.get_attribute("src")).path[:18] for each in scripts.all()] == [
        "/static/js/offline"
    ]
    for width in (390, 1440):
        assert faults_at(page, width) == []
    here.open("/transfers/")
    assert here.heading() == "Transfers"
    here.open("/account/")
    assert here.heading() == "Can't reach Ferry"
    here.open(folder_path)
    page.context.set_offline(False)
    expect(page.locator("[data-offline]")).to_have_count(0)
    expect(page.get_by_role("button", name="Actions for Elms.txt")).to_be_visible()
    troubles.clear()


def test_a_list_is_never_shown_with_another_filter(here, troubles):
    page = here.page
    for path in ("/", "/transfers/?filter=failed"):
        here.open(path)
    wait_for_lists(page, {"/", "/transfers/"})
    page.context.set_offline(True)
    here.open("/?sort=size")
    expect(page.locator("[data-offline]")).to_be_visible()
    here.open("/transfers/?filter=failed")
    expect(page.locator("[data-offline]")).to_be_visible()
    for path in ("/transfers/", "/transfers/?filter=done"):
        here.open(path)
        assert here.heading() == "Can't reach Ferry"
    page.context.set_offline(False)
    troubles.clear()


END_SESSION = """
from django.contrib.sessions.models import Session
Session.objects.get(session_key={key!r}).delete()
"""
ADD_BOB = """
from webui.models import Role, User
User.objects.create_user("bob", "a quiet harbour at noon", Role.MEMBER)
"""
REMOVE_BOB = "from webui.models import User; User.objects.filter(username='bob').delete()"


def test_a_device_that_was_signed_out_elsewhere_forgets_its_lists(here, ferry, folder_path):
    wait_for_lists(here.page, {"/", folder_path})
    ferry.manage("shell", "--no-imports", "-c", END_SESSION.format(key=session_of(here.page)))
    here.open("/account/")
    assert "/signin/" in here.page.url
    wait_for_lists(here.page, set())


def test_the_next_person_on_a_device_sees_no_lists_of_the_one_before(here, ferry, folder_path):
    """Alice didn't sign out: her cookies are gone, but not the worker's caches."""
    page = here.page
    wait_for_lists(page, {"/", folder_path})
    ferry.manage("shell", "--no-imports", "-c", ADD_BOB)
    try:
        page.context.clear_cookies()
        here.sign_in("bob")
        wait_for_lists(page, {"/"})
    finally:
        ferry.manage("shell", "--no-imports", "-c", REMOVE_BOB)


# The worker keeps a list beside its page, so wait for each.
OPEN_MANY = """async (count) => {
  const deadline = Date.now() + 60_000;
  for (let number = 0; number < count; number += 1) {
    const url = `/?number=${number}`;
    await (await fetch(url, { headers: { "HX-Boosted": "true" } })).text();
    while (!(await caches.match(url)) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
}"""
KEPT_NUMBERS = """async () => {
  const name = (await caches.keys()).find((each) => each.startsWith("ferry-lists"));
  const urls = await caches.open(name).then((cache) => cache.keys());
  return urls.map(({ url }) => Number(new URL(url).searchParams.get("number")));
}"""


def test_only_the_last_thirty_lists_are_kept(here):
    here.page.evaluate(OPEN_MANY, 40)
    until(lambda: here.page.evaluate(KEPT_NUMBERS) == [*range(10, 40)])


def test_pages_bytes_and_forms_pass_the_worker_as_they_are(here):
    sent = here.page.evaluate("fetch('/account/').then((response) => response.text())")
    assert "<title>Account" in sent
    here.open("/nowhere/")
    assert here.heading() == "Ferry can't find this"
    here.open("/account/")
    here.page.locator("#language").get_by_role("button").click()
    expect(here.page.locator("#language")).to_be_visible()


def successors(page: Page, old: list[str]) -> list[str]:
    """Return the names of the versions' caches after the first old one has been deleted."""
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
