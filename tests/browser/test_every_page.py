"""Every page in a hand: quiet, steady, light, within its width, readable, and large enough."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest
from django.urls import get_resolver, reverse
from playwright.sync_api import Browser, BrowserContext, Page, StorageState

from tests.browser.axe import violations
from tests.browser.conftest import EXPECTED, PHONE
from tests.browser.loading import first_loaded, weight
from tests.browser.people import Visitor, forgive
from tests.browser.shelf import Shelf
from tests.browser.spilling import spilling
from tests.browser.targets import too_small, zooming
from tests.running import Ferry
from tests.webui.test_roles import TABLE, patterns

MOST_BYTES = 60_000
MOST_SHIFT = 0.05
LONG = "A.name.without.a.single.place.to.break.it." + "x" * 60 + ".bin"
HASH = "c" * 39 + "1"

# URL name: the address, of somebody who owns this Ferry.
PAGES = {
    "files": "/",
    "files-folder": "{folder}",
    "files-new": "{folder}new/",
    "files-rename": "{folder}{file}/rename/",
    "files-delete": "{folder}delete/?entry={file}",
    "files-upload": "{folder}upload/",
    "files-archive": "/files/zip/guess1/",
    "preview": "{folder}{text}/view/",
    "share": "{folder}{file}/link/",
    "share-folder": "{folder}link/",
    "transfers": "/transfers/",
    "transfers-remove": "/transfers/t7/remove/",
    "add": "/add/",
    "add-asked": f"/add/?magnet=magnet:?xt=urn:btih:{HASH}%26dn=Slow+ferries",
    "account": "/account/",
    "account-connection-forget": "/account/connection/forget/",
    "account-people-invite": "/account/people/invite/",
    "account-people-person": "/account/people/{person}/",
    "account-pair-code": "/account/pair/code/",
    "pair": "/pair/",
    "pair-accept": "/pair/guess/",
    "join": "/join/guess/",
    "welcome": "/welcome/guess/",
    "signin": "/signin/?switch",
    "signout": "/signout/",
    "offline": "/offline/",
    "nowhere": "/nowhere/",
}
# What only a form leads to, as it does without scripts: the page that it stands on, and which.
ANSWERS = {
    "a code for a camera": ("/account/", "form[action$='/account/pair/']"),
    "a code to be typed": ("/pair/", "main form"),
    "a code that nobody shows": ("/account/pair/code/", "main form"),
    "an invitation": ("/account/people/invite/", "main form"),
    "a password for programs": ("/account/", "form[action$='/account/programs/']"),
    "a password that is refused": ("/account/", "form[action$='/account/password/']"),
    "a link for other players": ("{folder}link/", "main form"),
    "a folder without a name": ("{folder}new/", "main form"),
    "what was added": (PAGES["add-asked"], "main form"),
    "nothing to add": ("/add/", "#send"),
    "a sign-in that is refused": ("/signin/?switch", "main form"),
}
# What is no page by itself: pieces of pages, bytes, acts, and what speaks to programs.
PIECES = {
    *("healthz", "readyz", "manifest", "worker", "send-token", "add-shared", "pair-state"),
    *("files-listing", "files-rows", "files-row", "files-rename-form", "files-loss"),
    *("files-download", "files-thumb", "files-folder-zip", "files-zip", "files-archive-download"),
    *("preview-more", "stream-image", "stream-original", "stream-pdf", "stream-hls", "stream-mp4"),
    *("stream-part", "subtitles", "watch-position", "watch-mark"),
    *("share-m3u", "share-open", "share-revoke"),
    *("transfers-list", "transfers-open", "transfers-loss", "transfers-link", "transfers-retry"),
    *("transfers-clear", "transfers-send", "account-pair-offered"),
    *("account-tokens", "account-token-revoke", "account-password", "account-language"),
    *("account-look", "account-service-check", "account-connection", "account-programs"),
    *("account-wish-retry", "account-wish-forget", "account-pair"),
    *("account-devices-signout", "account-devices-signout-others"),
    *("account-people-revoke", "account-people-signout", "account-people-remove"),
}
SUBMIT = "(form) => HTMLFormElement.prototype.submit.call(form)"
WATCH = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@dataclass(frozen=True)
class House:
    url: str
    state: StorageState
    names: dict[str, str]

    def address(self, path: str) -> str:
        return self.url + path.format(**self.names)


@pytest.fixture(scope="module")
def house(chromium: Browser, ferry: Ferry) -> House:
    """Something to show on each page; the phone comes over plain http, as most will."""
    forgive(ferry)
    shelf = Shelf(ferry)
    folder = shelf.films()
    shelf.file(folder, LONG, b"long")
    shelf.file(shelf.folder(LONG), LONG, bytes(3_000_000))
    file, text = shelf.file_named(folder, "Clouds.mkv"), shelf.file_named(folder, "Elms.txt")
    shelf.close()
    with chromium.new_context() as context:
        visitor = Visitor(context.new_page(), f"http://phone.lan:{ferry.port}", ferry)
        visitor.sign_in()
        visitor.open("/account/")
        person = visitor.page.locator("#people a.btn").first.get_attribute("href")
        names = {"folder": folder.path, "file": file, "text": text, "person": person.split("/")[-2]}
        return House(visitor.url, context.storage_state(), names)


@pytest.fixture(params=["light", "dark"])
def phone(chromium: Browser, house: House, request) -> Iterator[BrowserContext]:
    looks = {"color_scheme": request.param, "reduced_motion": "reduce"}
    with chromium.new_context(storage_state=house.state, **PHONE, **looks) as context:
        context.add_init_script(WATCH)
        yield context


def test_every_address_is_a_page_or_a_piece_of_one():
    known = {pattern.name for pattern in patterns(get_resolver())}
    assert known == set(TABLE) == {*PAGES, *PIECES} - {"add-asked", "nowhere"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_steady_readable_and_large_enough(name, phone, house):
    with quiet(phone) as page:
        page.goto(house.address(PAGES[name]))
        is_steady_readable_and_large_enough(page)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_to_a_form_is_so_too(name, phone, house):
    path, form = ANSWERS[name]
    with quiet(phone) as page:
        page.goto(house.address(path))
        page.wait_for_load_state("networkidle")
        with page.expect_navigation():
            page.locator(form).first.evaluate(
                "(form) => HTMLFormElement.prototype.submit.call(form)"
            )
        is_steady_readable_and_large_enough(page)


@contextmanager
def quiet(phone: BrowserContext) -> Iterator[Page]:
    troubles: list[str] = []
    page = phone.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    yield page
    assert [line for line in troubles if not EXPECTED.search(line)] == []


def is_steady_readable_and_large_enough(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.evaluate("window.shifted") < MOST_SHIFT
    assert too_small(page) == []
    assert zooming(page) == []
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert spilling(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_first_visit_is_light(name, chromium, house):
    sizes = first_loaded(chromium, house.address(PAGES[name]), house.state)
    assert weight(sizes) < MOST_BYTES, sizes


def test_what_is_too_small_is_found(phone):
    page = phone.new_page()
    page.set_content("<button style='padding:0;width:20px;height:20px'></button>")
    assert len(too_small(page)) == 1
    page.set_content("<button style='width:44px;height:44px'></button>")
    assert too_small(page) == []


def test_words_that_leave_their_box_are_found(phone):
    page = phone.new_page()
    page.set_content("<main><p style='width:50px'>" + "x" * 50)
    assert len(spilling(page)) == 1
    page.set_content("<main><p style='width:50px;overflow-wrap:anywhere'>" + "x" * 50)
    assert spilling(page) == []


def test_a_field_that_an_iphone_would_zoom_into_is_found(phone):
    page = phone.new_page()
    page.set_content("<input style='font-size:15px'><input type=checkbox style='font-size:9px'>")
    assert len(zooming(page)) == 1
    page.set_content("<input style='font-size:16px'>")
    assert zooming(page) == []


@pytest.mark.parametrize("name", [name for name in sorted(PIECES) if TABLE[name][1] == "get"])
def test_a_piece_is_no_page(name, house, ferry):
    """A page among the pieces would go unlooked at."""
    cookies = {each["name"]: each["value"] for each in house.state["cookies"]}
    with httpx.Client(cookies=cookies, trust_env=False, timeout=60) as http:
        headers = {"Host": urlsplit(house.url).netloc}
        answer = http.get(ferry.url + reverse(name, kwargs=TABLE[name][2]), headers=headers)
    assert answer.status_code != 200 or "<html" not in answer.text
