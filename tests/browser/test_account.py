"""The Account and Server screens, on a desktop and on a phone."""

import re
import secrets
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults_of, too_wide
from tests.browser.people import Visitor
from tests.contract.fake import FakeV1
from tests.running import PASSWORD as RUNNING_PASSWORD
from tests.webui.service import EMAIL, PASSWORD

pytestmark = pytest.mark.browser("Layout, focus, and fragments of the two pages")
WIDTHS = [390, 1440]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Serve a foreign service, and yield its URL."""
    fake = FakeV1(EMAIL, PASSWORD)
    fake.add("Letters from elsewhere", min(fake.items))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            answer = fake.handle_request(
                httpx.Request("GET", f"http://elsewhere{self.path}", headers=dict(self.headers))
            )
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def _forgotten(ferry) -> Iterator[None]:
    """Forget the connection after the test, so that other tests don't use it."""
    yield
    ferry.manage("connect", "--forget")


def at_each_width(visitor: Visitor, path: str) -> Iterator[int]:
    for width in WIDTHS:
        visitor.page.set_viewport_size({"width": width, "height": 900})
        visitor.open(path)
        yield width


def is_fine(visitor: Visitor) -> None:
    visitor.page.wait_for_load_state()
    assert faults_of(visitor.page) == []


def soon(is_so: Callable[[], bool]) -> bool:
    pace = threading.Event()
    return any(is_so() or pace.wait(0.2) for _time in range(150))


def rest(url: str) -> httpx.Response:
    return httpx.get(f"{url}/rest/folder", trust_env=False, timeout=60)


def fill_in(visitor: Visitor, url: str, password: str) -> None:
    form = visitor.page.locator("#connection form")
    form.get_by_label("Address", exact=True).fill(url)
    form.get_by_label("Email address").fill(EMAIL)
    form.get_by_label("Password").fill(password)
    form.get_by_role("button").click()


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize("width", [390, 1440])
def test_checking_connecting_and_forgetting(alice, elsewhere, width):
    page = alice.page
    page.set_viewport_size({"width": width, "height": 900})
    alice.type_password()
    alice.open("/account/server/")
    service, connection = page.locator("#service"), page.locator("#connection")
    service.get_by_role("button", name="Check now").click()
    expect(service).to_contain_text("Responded in")
    expect(connection).to_contain_text("This machine")
    is_fine(alice)

    fill_in(alice, elsewhere, "guess")
    expect(connection.get_by_role("alert")).to_contain_text("didn't accept this email address")
    expect(connection.get_by_label("Password")).to_have_value("")
    expect(connection.get_by_label("Password")).to_be_focused()
    expect(connection.get_by_label("Address", exact=True)).to_have_value(elsewhere)
    is_fine(alice)

    fill_in(alice, elsewhere, PASSWORD)
    expect(page.locator("#toasts")).to_contain_text("Connected")
    assert page.url.endswith("/account/server/#connection")
    expect(connection).to_be_in_viewport()
    expect(connection).to_contain_text(elsewhere.removeprefix("http://"))
    expect(service).to_contain_text("Responded in")
    is_fine(alice)
    alice.open("/")
    expect(page.get_by_role("link", name="Letters from elsewhere").first).to_be_visible()
    assert soon(lambda: rest(alice.url).status_code == 404)

    alice.open("/account/server/")
    connection.get_by_role("link", name="Disconnect this service").click()
    expect(page.get_by_role("link", name="Keep")).to_be_focused()
    expect(page.locator("main")).to_contain_text("stay there")
    is_fine(alice)
    page.get_by_role("button", name="Disconnect this service").click()
    expect(page.locator("#toasts")).to_contain_text("Disconnected")
    expect(connection).to_contain_text("This machine")
    assert PASSWORD not in alice.ferry.log
    assert EMAIL not in alice.ferry.log


def test_the_button_of_a_check_keeps_the_focus(alice):
    button = alice.page.get_by_role("button", name="Check now")
    for _width in at_each_width(alice, "/account/server/"):
        button.focus()
        alice.page.keyboard.press("Enter")
        expect(alice.page.locator("#service")).to_contain_text("Responded in")
        expect(button).to_be_focused()
        expect(button).to_have_accessible_description(re.compile("Responded in"))


def test_after_the_language_is_saved_its_button_has_the_focus(alice):
    page = alice.page
    button = page.locator("#language-save")
    for _width in at_each_width(alice, "/account/"):
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("Language saved")
        expect(button).to_be_focused()
        expect(button).to_be_in_viewport()


@pytest.mark.parametrize(
    ("path", "link", "part"),
    [("/account/", "Signed-in devices", "devices"), ("/account/server/", "Activity", "activity")],
)
def test_a_jump_leads_to_its_part(alice, path, link, part):
    page = alice.page
    for _width in at_each_width(alice, path):
        page.locator(".jumps").get_by_role("link", name=link).click()
        expect(page.locator(f"#{part} h2")).to_be_in_viewport()


@pytest.mark.parametrize(
    "path", [pytest.param("/account/", marks=pytest.mark.journey), "/account/server/"]
)
def test_the_list_of_sections_leaves_space_for_the_first_section_on_a_phone(phone, path):
    for width in (320, 390):
        phone.page.set_viewport_size({"width": width, "height": 844})
        phone.open(path)
        expect(phone.page.locator(".jumps a").first).to_be_in_viewport()
        expect(phone.page.locator(".jumps a").last).to_be_in_viewport()
        expect(phone.page.locator(".setting h2").first).to_be_in_viewport(ratio=1)
        assert too_wide(phone.page) == []


@pytest.mark.parametrize("part", ["storage", "people", "health"])
def test_an_old_url_redirects_to_its_section(alice, part):
    alice.open(f"/account/#{part}")
    alice.page.wait_for_url(f"**/account/server/#{part}")
    expect(alice.page.locator(f"#{part} h2")).to_be_in_viewport()
    alice.open("/account/")
    alice.page.evaluate("(part) => { location.hash = part }", part)
    alice.page.wait_for_url(f"**/account/server/#{part}")


TYPED_LONG_AGO = """
from django.contrib.sessions.backends.db import SessionStore
session = SessionStore({!r})
session["password_entered_at"] = 0
session.save()
"""


@pytest.mark.browser("The script sends its form again as a page; focus, layout, and accessibility")
def test_a_form_that_waits_for_the_password_is_submitted_after_it(alice):
    page = alice.page
    alice.type_password()
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    key = cookies[f"ferry_session_{alice.ferry.port}"]
    alice.ferry.manage("shell", "-c", TYPED_LONG_AGO.format(key))
    name = f"Seedbox {secrets.token_hex(3)}"
    alice.open("/account/")
    page.get_by_label("Name of the new token").fill(name)
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your password")
    expect(page.get_by_label("Password")).to_be_focused()
    for width in (320, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        is_fine(alice)
    page.get_by_label("Password").fill("guess")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("main")).to_contain_text("This isn't your password")
    is_fine(alice)
    page.get_by_label("Password").fill(RUNNING_PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#token-line")).to_be_focused()
    expect(page.locator("#tokens")).to_contain_text(name)
    is_fine(alice)


@pytest.mark.usefixtures("_forgotten")
def test_a_long_address_stays_within_the_page(alice):
    url = f"https://{'long' * 15}.{'name' * 15}.example/{'path' * 20}"
    alice.ferry.manage(
        "shell",
        "-c",
        f"from webui.connection import connection;connection.store({url!r}, 'me@example.org', 'x')",
    )
    for _width in at_each_width(alice, "/account/server/"):
        expect(alice.page.locator("#connection")).to_contain_text("longlong")
        is_fine(alice)
        alice.open("/account/connection/forget/")
        is_fine(alice)


@pytest.mark.browser("Layout and accessibility at the narrowest width and on a desktop")
def test_the_pages_fit_and_pass_axe(alice, shelf):
    shelf.file(shelf.folder("Inner", shelf.folder()), "Largest of all.bin", bytes(4_000_000))
    found = {}
    for path in ("/account/", "/account/server/", "/files/largest/"):
        alice.open(path)
        for width in (320, 1440):
            alice.page.set_viewport_size({"width": width, "height": 900})
            found[path, width] = faults_of(alice.page)
    assert {case: faults for case, faults in found.items() if faults} == {}


@pytest.mark.browser("where bars end")
def test_the_bars_of_the_largest_items_end_at_one_line(alice, shelf):
    for size_bytes in (3, 100_000, 12_345_678):
        shelf.file(shelf.folder(), "a.bin", b"x" * size_bytes)
    alice.open("/")
    for _width in at_each_width(alice, "/account/server/"):
        bars = [each.bounding_box() for each in alice.page.locator("#storage .bar").all()]
        assert len(bars) > 2
        assert len({round(bar["x"] + bar["width"]) for bar in bars}) == 1
