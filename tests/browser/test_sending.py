"""Every way to add items, in a real browser: the field, drop, file picker, paste, the bookmarklet
on a page of another site, a share, and a magnet link."""

import re
import secrets
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_of
from tests.browser.people import Visitor
from tests.browser.waiting import until
from tests.running import PASSWORD

pytestmark = pytest.mark.browser("Scripts read the field, send in batches, and keep what failed")
CONTEXT = "kept"
STRICT = "default-src 'none'; script-src 'none'; img-src data:; form-action 'none'; base-uri 'none'"
TORRENT = b"d8:announce3:udp4:infod6:lengthi5e4:name5:a.mkv12:piece lengthi16384e6:pieces20:%bee"

# Run the test at both addresses; the one on this machine is its journey.
at_both = pytest.mark.parametrize(
    "visitor", [pytest.param("localhost", marks=pytest.mark.journey), "phone.lan"], indirect=True
)
# The height of the summary and two rows, less that of the lines that leave the field.
MOST_JUMP_PX = 160


def magnet(name: str = "") -> str:
    tail = f"&dn={quote(name)}" if name else ""
    return f"magnet:?xt=urn:btih:{secrets.token_hex(20)}{tail}"


def torrent() -> bytes:
    return TORRENT % secrets.token_hex(10).encode()


@pytest.fixture
def alice(visitor: Visitor) -> Visitor:
    visitor.bring_session()
    return visitor


@pytest.fixture
def here(page: Page, ferry) -> Visitor:
    """Return Alice on this machine, where pages are secure contexts."""
    visitor = Visitor(page, ferry.url, ferry)
    visitor.bring_session()
    return visitor


def is_fine(page: Page) -> None:
    assert faults_of(page) == []


def paste(page: Page, text: str, target: str = "body") -> None:
    page.locator(target).evaluate(
        """(target, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const facts = { clipboardData, bubbles: true, cancelable: true };
          target.dispatchEvent(new ClipboardEvent("paste", facts));
        }""",
        text,
    )


def drop(page: Page, name: str, content: bytes) -> None:
    page.evaluate(
        """([name, text]) => {
          const dataTransfer = new DataTransfer();
          const bytes = Uint8Array.from(text, (mark) => mark.charCodeAt(0));
          dataTransfer.items.add(new File([bytes], name));
          const facts = { dataTransfer, bubbles: true, cancelable: true };
          for (const type of ["dragenter", "dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(type, facts));
          }
        }""",
        [name, content.decode("latin-1")],
    )


@pytest.fixture
def cuts(page: Page, troubles: list[str]) -> Iterator[None]:
    """Ignore what Chromium logs about requests that a journey aborted."""
    yield
    troubles[:] = [line for line in troubles if "net::ERR_" not in line]


# The field


@at_both
def test_lines_are_counted_marked_and_added(alice):
    page = alice.page
    alice.open("/add/")
    field = page.get_by_label("Magnet links or web addresses")
    expect(field).to_be_focused()
    field.fill(f"{magnet('Sintel')}\nnothing at all\n{magnet('Cosmos')}")
    expect(page.get_by_role("button", name="Add 2")).to_be_visible()
    expect(page.locator("#omni-hint")).to_contain_text("2 links")
    expect(page.locator("#marks")).to_contain_text(
        "Line 2, nothing at all: This isn't a magnet link"
    )
    expect(field).to_have_attribute("aria-invalid", "true")
    is_fine(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#results-summary")).to_have_text("2 added, 1 not added")
    expect(field).to_have_value("nothing at all")
    expect(page.locator(".result")).to_have_count(1)
    is_fine(page)


@pytest.mark.parametrize("is_cut", [False, True], ids=["no answer", "cut off"])
def test_the_button_works_without_an_answer_on_how_the_field_is_read(alice, cuts, is_cut):
    page, held = alice.page, []
    page.route("**/add/read/", lambda route: route.abort() if is_cut else held.append(route))
    alice.open("/add/")
    field = page.get_by_label("Magnet links or web addresses")
    with page.expect_request("**/add/read/"):
        field.fill(f"{magnet('Sintel')}\nnothing at all")
    field.press("End")
    field.press_sequentially(f" {magnet('Cosmos')}")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#results-summary")).to_have_text("2 added")
    expect(field).to_have_value("")
    expect(page.locator("#omni-hint")).to_contain_text("Enter one per line.")


@pytest.mark.browser("What stands below the field stays in its place on the screen")
def test_many_that_were_added_take_one_line_and_the_page_does_not_jump(alice):
    page = alice.page
    alice.open("/transfers/")
    known, new = magnet("Known"), [magnet(f"New {number}") for number in range(30)]
    page.locator("#omni").fill(known)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".result")).to_have_count(1)
    expect(page.locator("#under-way")).to_be_visible()
    page.locator("#omni").fill("\n".join([*new, known, "nothing"]))
    add = page.get_by_role("button", name="Add 31")
    add.scroll_into_view_if_needed()
    before = page.locator("#under-way").bounding_box()["y"]
    add.click()
    expect(page.locator("#results-summary")).to_have_text("30 added, 1 already here, 1 not added")
    expect(page.locator(".result")).to_have_count(2)
    expect(page.locator(".result[data-outcome=known]")).to_contain_text("Known")
    expect(page.locator(".result[data-outcome=unreadable]")).to_contain_text("nothing")
    assert abs(page.locator("#under-way").bounding_box()["y"] - before) < MOST_JUMP_PX
    assert page.evaluate("scrollY") == 0
    expect(page.locator("#send [type=submit]")).to_be_focused()
    page.get_by_role("link", name="Dismiss").click()
    expect(page.locator(".result")).to_have_count(0)
    expect(page.get_by_role("link", name="Dismiss")).to_be_hidden()
    expect(page.locator("#results-summary")).to_have_text("")
    is_fine(page)


@pytest.mark.browser("A paste anywhere on the page, and the focus after it")
def test_text_pasted_anywhere_lands_in_the_field_and_waits(alice):
    page = alice.page
    alice.open("/add/")
    link = magnet("Pasted")
    page.locator("h1").click()
    paste(page, link)
    expect(page.locator("#omni")).to_have_value(link)
    expect(page.locator("#omni")).to_be_focused()
    expect(page.locator(".result")).to_have_count(0)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    expect(page.locator(".result[data-outcome=added]")).to_contain_text("Pasted")
    page.get_by_role("link", name="Show transfers").click()
    expect(page.locator("#active")).to_contain_text("Pasted")
    expect(page.locator("#destination")).to_contain_text("All files")


@pytest.mark.browser("Files are dropped on the page, and picked in a chooser")
@at_both
def test_dropped_and_picked_files_are_sent_at_once(alice):
    page = alice.page
    alice.open("/add/")
    drop(page, "a.torrent", torrent())
    expect(page.locator("#toasts")).to_contain_text("a.torrent")
    with page.expect_file_chooser() as chosen:
        page.get_by_text("Choose", exact=True).first.click()
    name = f"{secrets.token_hex(4)}.txt"
    chosen.value.set_files({"name": name, "mimeType": "text/plain", "buffer": b"hello"})
    expect(page.locator("#toasts")).to_contain_text(name)
    expect(page.locator("#sending-files")).to_be_hidden()
    alice.open("/")
    expect(page.get_by_text(name.removesuffix(".txt")).first).to_be_visible()


@pytest.mark.browser("A script decides how a file is sent")
def test_a_photo_is_sent_in_pieces_to_the_chosen_folder(here, shelf):
    page, folder, name = here.page, shelf.folder(), f"{secrets.token_hex(4)}.jpg"
    here.open(f"/add/?folder={folder.path.split('/')[2]}")
    photo = {"name": name, "mimeType": "image/jpeg", "buffer": bytes(2**20)}
    page.locator("input[data-files]").last.set_input_files(photo)
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 1")
    assert shelf.names(folder) == [name]


@pytest.mark.browser("The browser lists a folder that is dragged into it")
def test_a_dropped_folder_is_uploaded_with_its_contents(here, tmp_path):
    inner = tmp_path / f"Season {secrets.token_hex(4)}" / "Extras"
    inner.mkdir(parents=True)
    (inner.parent / "One.txt").write_bytes(b"one")
    (inner / "Two.txt").write_bytes(b"two")
    page = here.page
    here.open("/add/")
    dragged = {"items": [], "files": [str(inner.parent)], "dragOperationsMask": 1}
    tools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"type": kind, "x": 700, "y": 500, "data": dragged}
        tools.send("Input.dispatchDragEvent", place)
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 2")
    expect(page.locator("#sending-files")).to_be_hidden()
    here.open("/")
    page.get_by_role("link", name=inner.parent.name).click()
    expect(page.get_by_title("One.txt")).to_be_visible()
    page.get_by_role("link", name="Extras").click()
    expect(page.get_by_title("Two.txt")).to_be_visible()


def test_a_file_that_is_refused_stays_with_the_reason_and_a_retry(alice, cuts):
    page = alice.page
    alice.open("/add/")
    page.route("**/transfers/send/*", lambda route: route.abort())
    drop(page, "a.torrent", torrent())
    row = page.locator("#sending-files .transfer")
    expect(row).to_contain_text("The connection was lost")
    page.unroute("**/transfers/send/*")
    row.get_by_role("button", name="Retry").click()
    expect(page.locator("#sending-files")).to_be_hidden()


def test_nothing_is_lost_offline_or_signed_out(here, context, cuts):
    page = here.page
    here.open("/add/")
    lines = f"{magnet('One')}\n{magnet('Two')}"
    page.locator("#omni").fill(lines)
    expect(page.get_by_role("button", name="Add 2")).to_be_visible()
    context.set_offline(True)
    page.get_by_role("button", name="Add 2").click()
    expect(page.locator("#results [role=alert]")).to_contain_text("offline")
    expect(page.locator("#omni")).to_have_value(lines)
    context.set_offline(False)
    context.clear_cookies(name=f"ferry_session_{here.ferry.port}")
    page.get_by_role("button", name="Add 2").click()
    expect(page.locator("#results [role=alert]")).to_contain_text("signed out")
    expect(page.locator("#omni")).to_have_value(lines)
    Visitor(context.new_page(), here.url, here.ferry).sign_in()
    page.get_by_role("button", name="Add 2").click()
    expect(page.locator("#results-summary")).to_have_text("2 added")
    expect(page.locator("#omni")).to_have_value("")


def test_a_slow_service_hangs_no_page(here):
    """Each answer has a few results; the page keeps the remaining lines and sends them next."""
    page, batches = here.page, []
    here.open("/add/")

    def slow(route):
        lines = re.findall(r"magnet:\?\S+", route.request.post_data)
        batches.append(len(lines))
        items = [{"line": lines[0], "name": "x", "outcome": "added", "sentence": "Added"}]
        facts = {"tone": "", "icon": "circle-check", "url": ""}
        answer = {"items": [items[0] | facts], "kept": [], "left": lines[1:], "trouble": ""}
        route.fulfill(json=answer)

    page.route("**/transfers/send/", slow)
    page.locator("#omni").fill("\n".join(magnet() for _each in range(30)))
    page.get_by_role("button", name="Add 30").click()
    expect(page.locator("#results-summary")).to_have_text("30 added")
    assert len(batches) == 30
    assert max(batches) == 25


@pytest.mark.browser("The page counts ten thousand lines without hanging")
def test_ten_thousand_lines_stay_workable(here):
    page = here.page
    here.open("/add/")
    lines = "\n".join(f"magnet:?xt=urn:btih:{number:040x}" for number in range(1, 10_001))
    page.locator("#omni").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')); }", lines
    )
    expect(page.get_by_role("button", name="Add 10,000")).to_be_visible()


@pytest.mark.browser("Layout and accessibility at four widths")
def test_the_screens_fit(here):
    page, found = here.page, {}

    def look(what: str) -> None:
        for width in (320, 390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            found[what, width] = faults_of(page)

    long = "Night.of.the.Living.Dead." * 8
    for path in ("/account/", f"/add/?text={quote(magnet(long))}", "/add/"):
        here.open(path)
        look(path)
    page.locator("#omni").fill(f"{magnet(long)}\n{'x' * 300}\n{magnet()}")
    expect(page.get_by_role("button", name="Add 2")).to_be_visible()
    look("filled in")
    page.get_by_role("button", name="Add 2").click()
    expect(page.locator(".result")).to_have_count(1)
    look("added")
    assert {case: faults for case, faults in found.items() if faults} == {}


@pytest.mark.browser(
    "The browser itself encodes links and files in one form, and follows redirects"
)
@pytest.mark.journey
def test_without_scripts_it_is_a_plain_form(scriptless):
    page = scriptless.page
    scriptless.open("/add/")
    page.locator("#omni").fill(f"{magnet('Plain')}\nnothing")
    page.locator("input[type=file][name=file]").set_input_files(
        {"name": "a.torrent", "mimeType": "x/y", "buffer": torrent()}
    )
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#results-summary")).to_have_text("2 added, 1 not added")
    expect(page.locator("#omni")).to_have_value("nothing")
    again = magnet("Asked")
    scriptless.open(f"/add/?magnet={quote(again)}")
    page.get_by_role("button", name="Add transfer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    scriptless.open(f"/add/?magnet={quote(again)}")
    page.get_by_role("button", name="Add transfer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Already in Ferry")


# The page that asks for confirmation


@pytest.mark.browser("Layout of the form that scripts would replace")
def test_without_scripts_it_fits_a_phone_too(scriptless):
    page = scriptless.page
    page.set_viewport_size({"width": 390, "height": 700})
    for path in ("/transfers/", "/add/"):
        scriptless.open(path)
        field = page.locator("#send input[name=file]")
        expect(field).to_be_visible()
        around, own = page.locator("#send").bounding_box(), field.bounding_box()
        assert own["x"] + own["width"] <= around["x"] + around["width"], path
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest.mark.browser("Timers arm the button; focus follows the result")
@pytest.mark.journey
def test_a_magnet_link_opens_the_page_that_asks(here, clock):
    page = here.page
    here.open(f"/add/?magnet={quote(magnet('Clicked') + '&xl=9800000000', safe='')}")
    expect(page.locator("#picks")).to_contain_text("Clicked")
    expect(page.locator("#picks")).to_contain_text("9.8 GB")
    is_fine(page)
    page.get_by_role("button", name="Add transfer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    expect(page.get_by_role("status").first).to_contain_text("1 added")
    expect(page.get_by_role("link", name="Show transfers")).to_be_focused()
    is_fine(page)
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    clock.run_for(1000)
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")


def test_items_already_in_ferry_do_not_count_as_added(here):
    page = here.page
    lines = [magnet(f"Film {number}") for number in range(3)]
    here.open("/add/")
    page.locator("#omni").fill("\n".join(lines[:2]))
    page.get_by_role("button", name="Add 2").click()
    expect(page.locator("#results-summary")).to_have_text("2 added")
    here.open(f"/add/?list#text={quote(chr(10).join(lines))}")
    page.get_by_role("button", name="Add 3 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    expect(page.locator("#said")).to_contain_text("1 added, 2 already here.")
    here.open(f"/add/?list#popup&text={quote(chr(10).join(lines))}")
    page.get_by_role("button", name="Add 3 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Already in Ferry")
    expect(page.locator("#said")).to_contain_text("3 already here.")
    expect(page.locator("#said")).not_to_contain_text("Added")
    is_fine(page)


@pytest.mark.browser("Browsers send no fragment, and keep it across forms and redirects")
def test_the_list_behind_the_hash_survives_signing_in_and_a_wrong_password(visitor):
    page = visitor.page
    text = quote(f"{magnet('First')}\n{magnet('Second')}")
    visitor.open(f"/add/?list#text={text}&from=archive.example")
    visitor.fill_in("alice", "wrong")
    expect(page.get_by_role("alert")).to_be_visible()
    visitor.fill_in("alice", PASSWORD)
    expect(page.get_by_role("heading", level=1)).to_have_text("Add 2 links?")
    expect(page.locator("#said")).to_contain_text("from archive.example")
    page.get_by_role("checkbox", name="Second").uncheck()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add 1 of 2 links?")
    page.get_by_role("checkbox", name="Second").check()
    page.get_by_role("button", name="Add 2 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    expect(page).not_to_have_url(re.compile("#"))


def test_unchecked_items_are_not_added_and_stay(here):
    page = here.page
    text = quote(f"{magnet('First')}\n{magnet('Second')}")
    here.open(f"/add/?list#text={text}")
    page.get_by_role("checkbox", name="Second").uncheck()
    page.get_by_role("button", name="Add transfer").click()
    expect(page.locator("#said")).to_contain_text("1 added")
    expect(page.locator("#picks li")).to_have_count(1)


def test_too_many_links_to_read_become_one_row(here):
    page = here.page
    lines = [f"magnet:?xt=urn:btih:{secrets.token_hex(20)}" for _each in range(700)]
    sent: list[str] = []

    def taken(route):
        links = re.findall(r"magnet:\?\S+", route.request.post_data)
        sent.extend(links)
        items = [{"line": each, "outcome": "added", "sentence": "Added"} for each in links]
        route.fulfill(json={"items": items, "kept": [], "left": [], "trouble": ""})

    page.route("**/transfers/send/", taken)
    here.open(f"/add/?list#text={quote(chr(10).join(lines))}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Add 700 links?")
    page.get_by_role("checkbox", name="and 200 more").uncheck()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add 500 of 700 links?")
    page.get_by_role("checkbox", name="and 200 more").check()
    page.get_by_role("button", name="Add 700 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    assert sorted(sent) == sorted(lines)


def test_a_list_that_the_server_could_not_read_is_there_after_a_reload(here, cuts):
    page = here.page
    page.route("**/add/read/?picks", lambda route: route.abort())
    here.open(f"/add/?list#text={quote(magnet('First'))}")
    expect(page.get_by_role("alert")).to_contain_text("Reload this page")
    expect(page.locator("#go")).to_be_disabled()
    page.unroute("**/add/read/?picks")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Add this download?")
    expect(page.locator("#picks")).to_contain_text("First")


@pytest.mark.browser("Scripts put names from the fragment into the page")
def test_a_hostile_name_is_text(here):
    page = here.page
    name = "<img src=x onerror=alert(1)>\u202egpj.exe"
    here.open(f"/add/?list#text={quote(magnet(name))}&from={quote('<b>evil</b>')}")
    expect(page.locator("#picks bdi")).to_have_text(name)
    assert page.locator("main img, #said b").count() == 0


@pytest.mark.browser("Focus and timers arm the button")
@pytest.mark.journey
def test_the_button_is_armed_only_when_the_page_was_seen_for_a_while(here):
    """If the first click of a double click opened this page, the second finds a disabled button."""
    page = here.page
    methods: list[str] = []
    page.on("request", lambda request: methods.append(request.method))
    page.add_init_script("document.hasFocus = () => window.isLooking === true")
    here.open(f"/add/?magnet={quote(magnet('Raced'))}")
    button = page.locator("#go")
    assert button.is_disabled()
    page.evaluate("document.getElementById('ask').requestSubmit()")
    page.evaluate("window.isLooking = true; window.dispatchEvent(new Event('focus'))")
    expect(button).to_be_enabled()
    page.evaluate(
        "window.dispatchEvent(new Event('focus')); document.getElementById('ask').requestSubmit()"
    )
    assert "POST" not in methods
    expect(page.get_by_role("heading", level=1)).to_have_text("Add this download?")


def test_a_failed_transfer_shows_its_reason_in_its_row(here):
    page = here.page
    first, second = magnet("First"), magnet("Second")
    here.open(f"/add/?list#text={quote(first + chr(10) + second)}")
    items = [
        {"line": first, "outcome": "added", "sentence": "Added"},
        {"line": second, "outcome": "refused", "sentence": "The moon is in the way."},
    ]
    answer = {"items": items, "kept": [second], "left": [], "trouble": ""}
    page.route("**/transfers/send/", lambda route: route.fulfill(json=answer))
    page.get_by_role("button", name="Add 2 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Some items weren't added")
    expect(page.locator("#picks li")).to_have_count(1)
    expect(page.locator("#picks li")).to_contain_text("The moon is in the way.")
    is_fine(page)
    page.unroute("**/transfers/send/")
    page.get_by_role("button", name="Add transfer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")


# The bookmarklet


POLICIES = ("", STRICT)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Callable[[str, str], str]]:
    """Serve a page of another site; yield a function that sets its body and policy."""
    shown = {"body": "", "policy": ""}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            if shown["policy"]:
                self.send_header("Content-Security-Policy", shown["policy"])
            self.end_headers()
            html = (
                f"<!doctype html><title>Old films</title><link rel=icon href=data:,>{shown['body']}"
            )
            self.wfile.write(html.encode())

        def log_message(self, *_words: object) -> None:
            pass

    def page_with(body: str, policy: str) -> str:
        shown.update(body=body, policy=policy)
        return f"http://elsewhere.example:{server.server_port}/films?a=1"

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield page_with
        server.shutdown()
        thread.join()


def pressed(visitor: Visitor, url: str) -> Page:
    """Run the bookmarklet as browsers do: in the page, but without the limits of its policy."""
    page = visitor.page
    visitor.open("/account/")
    address = page.locator("[data-bookmarklet]").get_attribute("href")
    assert address == page.locator("#bookmarklet-address").input_value()
    assert "token" not in address.lower()
    page.goto(url)
    source = page.evaluate("(address) => decodeURIComponent(address.slice(11))", address)
    with page.expect_popup() as opened:
        page.evaluate(source)
    return opened.value


# Keep the popup open: it would close before a slow machine has checked it.
PATIENT = """() => {
  const close = window.close.bind(window);
  window.close = () => { window.close_at_last = close; };
}"""


@pytest.mark.browser("A script of ours runs in the page of another site, under its policy")
@pytest.mark.parametrize(
    ("visitor", "policy"),
    [
        ("localhost", ""),
        pytest.param("localhost", STRICT, marks=pytest.mark.journey),
        ("phone.lan", ""),
        ("phone.lan", STRICT),
    ],
    indirect=["visitor"],
    ids=["localhost-none", "localhost-strict", "phone.lan-none", "phone.lan-strict"],
)
def test_the_bookmarklet_sends_the_links_of_any_page(alice, elsewhere, policy):
    one, two = magnet("Sintel & more"), magnet()
    escaped = one.replace("&", "&amp;")
    body = f"""<a href="{escaped}">x</a><a href="{escaped}">y</a>
        <a href="{two}" title="Three Men">magnet</a><a href="/other">other</a>
        <p>{magnet("In")} the text</p>"""
    popup = pressed(alice, elsewhere(body, policy))
    expect(popup.get_by_role("heading", level=1)).to_have_text("Add 3 links?")
    expect(popup.locator("#picks")).to_contain_text("Sintel & more")
    expect(popup.locator("#picks")).to_contain_text("Three Men")
    expect(popup.locator("#said")).to_contain_text("from elsewhere.example")
    assert popup.evaluate("[innerWidth, innerHeight]") == [480, 640]
    is_fine(popup)
    popup.evaluate(PATIENT)
    popup.get_by_role("button", name="Add 3 transfers").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("In progress")
    until(popup, "'close_at_last' in window")
    with popup.expect_event("close"):
        popup.evaluate("() => { setTimeout(close_at_last); }")
    assert "Sintel" not in alice.ferry.log
    url = elsewhere("<p>No link here.</p>", policy)
    popup = pressed(alice, f"{url}#part")
    expect(popup.locator("#picks")).to_contain_text("films")
    expect(popup.locator("#said")).to_contain_text("There are no magnet links on that page")
    assert popup.locator("#picks input").get_attribute("value") == url
    popup.close()


@pytest.mark.browser("A script of ours runs in the page of another site, under its policy")
def test_the_bookmarklet_offers_the_last_folder_of_the_site(alice, elsewhere, shelf):
    films = shelf.folder("Films of a site")
    alice.open(f"/files/{films.key.removeprefix('folder-')}/")
    popup = pressed(alice, elsewhere(f'<a href="{magnet("One")}">x</a>', ""))
    popup.evaluate(PATIENT)
    expect(popup.get_by_role("button", name="Add transfer")).to_be_enabled()
    popup.get_by_role("link", name="Other folder").click()
    dialog = popup.get_by_role("dialog")
    dialog.get_by_label("Find a folder").fill("of a site")
    dialog.get_by_role("button", name="Films of a site").click()
    dialog.get_by_role("link", name="Choose this folder").click()
    popup.get_by_role("button", name="Add transfer").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("In progress")
    popup.close()
    popup = pressed(alice, elsewhere(f'<a href="{magnet("Two")}">x</a>', ""))
    expect(popup.locator("#folder option:checked")).to_contain_text("Films of a site")
    popup.close()


@pytest.mark.browser("A script of ours runs in the page of another site, under its policy")
@pytest.mark.parametrize("policy", POLICIES, ids=["no policy", "strict policy"])
def test_the_bookmarklet_stays_open_where_something_failed(alice, elsewhere, context, policy):
    popup = pressed(alice, elsewhere(f'<a href="{magnet("One")}">x</a>', policy))
    expect(popup.get_by_role("button", name="Add transfer")).to_be_enabled()
    context.clear_cookies()
    popup.get_by_role("button", name="Add transfer").click()
    expect(popup.get_by_role("alert")).to_contain_text("signed out")
    expect(popup.locator("#picks li")).to_have_count(1)
    popup.close()


@pytest.mark.browser("A script of ours runs in the page of another site, under its policy")
def test_the_bookmarklet_runs_from_a_javascript_address(alice, elsewhere):
    page = alice.page
    alice.open("/account/")
    address = page.locator("[data-bookmarklet]").get_attribute("href")
    page.goto(elsewhere(f'<a href="{magnet("Addressed")}">x</a>', ""))
    with page.expect_popup() as opened:
        page.evaluate("(address) => { location.href = address; }", address)
    expect(opened.value.locator("#picks")).to_contain_text("Addressed")
    opened.value.close()


@pytest.mark.browser("A script of ours runs in the page of another site, under its policy")
def test_pressed_on_the_account_page_it_says_what_to_do(alice):
    alice.open("/account/")
    alice.page.locator("[data-bookmarklet]").click()
    expect(alice.page.locator("#toasts")).to_contain_text("Drag this button to your bookmarks bar")


# The installed app

OWN_SHARE = "ferry-shared /"
SHARE = """([action, link, bytes]) => {
  const form = document.createElement("form");
  Object.assign(form, { action, method: "post", enctype: "multipart/form-data" });
  for (const [name, value] of [["title", "A title"], ["text", `Look: ${link}`]]) {
    const field = Object.assign(document.createElement("textarea"), { name, value });
    form.append(field);
  }
  const files = new DataTransfer();
  const content = Uint8Array.from(bytes, (mark) => mark.charCodeAt(0));
  files.items.add(new File([content], "b.torrent"));
  const file = document.createElement("input");
  Object.assign(file, { type: "file", name: "file" });
  form.append(file);
  file.files = files.files;
  document.body.append(form);
  form.submit();
}"""
KEEP = "(name) => caches.open(name).then((cache) => cache.put('/x', new Response('x')))"


@pytest.mark.browser("The service worker keeps what was shared in its cache")
@pytest.mark.journey
def test_shared_items_wait_until_the_page_shows_them(here):
    page = here.page
    here.open("/account/")
    page.evaluate("navigator.serviceWorker.ready")
    link = magnet("Shared")
    page.evaluate(SHARE, ["/add/share/", link, torrent().decode()])
    page.wait_for_url("**/add/?shared")
    expect(page.locator("#picks li")).to_have_count(2)
    expect(page.locator("#picks")).to_contain_text("b.torrent")
    page.reload()
    expect(page.locator("#picks li")).to_have_count(2)
    page.get_by_role("button", name="Add 2 transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("In progress")
    here.open("/add/?shared")
    expect(page.get_by_text("Ferry didn't receive a link.")).to_be_visible()


@pytest.mark.browser("The service worker keeps what was shared in its cache")
def test_what_is_shared_while_signed_out_waits_for_the_sign_in(here):
    page = here.page
    here.open("/account/")
    page.evaluate("navigator.serviceWorker.ready")
    page.context.clear_cookies()
    page.evaluate(SHARE, ["/add/share/", magnet("Shared"), torrent().decode()])
    page.wait_for_url("**/signin/**")
    here.fill_in("alice", PASSWORD)
    page.wait_for_url("**/add/?shared")
    expect(page.locator("#picks li")).to_have_count(2)


@pytest.mark.browser("The service worker keeps what was shared in its cache")
def test_a_share_is_forgotten_at_sign_out(here):
    page = here.page
    here.open("/account/")
    page.evaluate("navigator.serviceWorker.ready")
    page.evaluate(KEEP, OWN_SHARE)
    assert page.evaluate("(name) => caches.has(name)", OWN_SHARE)
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/signin/**")
    assert not page.evaluate("(name) => caches.has(name)", OWN_SHARE)


@pytest.mark.browser("The service worker keeps what was shared in its cache")
def test_a_share_of_another_ferry_on_this_host_is_left_alone(here):
    page = here.page
    theirs = f"{OWN_SHARE}other/"
    here.open("/account/")
    page.evaluate(KEEP, theirs)
    here.open("/add/?shared")
    expect(page.get_by_text("Ferry didn't receive a link.")).to_be_visible()
    here.open("/account/")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/signin/**")
    assert page.evaluate("(name) => caches.has(name)", theirs)


@pytest.mark.browser("A script replaces the text of the page")
def test_a_share_without_a_worker_says_what_to_do(here):
    here.open("/add/?shared=none")
    expect(here.page.locator("#said")).to_contain_text("Share it again")


@pytest.mark.browser("The browser hands an opened file to the installed app")
def test_opening_a_file_with_the_app_asks_for_confirmation(here):
    page = here.page
    page.add_init_script(
        """const file = new File(["d4:infodee"], "opened.torrent");
        const setConsumer = (act) => act({ files: [{ getFile: async () => file }] });
        Object.defineProperty(window, "launchQueue", { value: { setConsumer } });"""
    )
    here.open("/add/?opened")
    expect(page.locator("#picks")).to_contain_text("opened.torrent")
    expect(page.get_by_role("heading", level=1)).to_have_text("Add this download?")


@pytest.mark.browser("Only some pages may register for magnet links")
def test_magnet_links_are_offered_to_ferry_where_the_browser_lets_it(alice):
    page = alice.page
    page.add_init_script(
        "navigator.registerProtocolHandler = (...asked) => { window.asked = asked; };"
    )
    alice.open("/account/")
    if not page.evaluate("isSecureContext"):
        expect(page.locator("#ways")).to_contain_text("only with HTTPS")
        return
    page.get_by_role("button", name="Open magnet links with Ferry").click()
    assert page.evaluate("asked") == ["magnet", f"{alice.url}/add/?magnet=%s"]
    expect(page.locator("#toasts")).to_contain_text("Ferry asked your browser.")
