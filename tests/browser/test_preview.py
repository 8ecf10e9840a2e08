"""Previews over the listing and alone: by mouse, touch, and keyboard."""

import io
import re
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.looks import FIRST_DISPLAY
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.sounds import sound
from tests.browser.touches import double_tap
from tests.browser.waiting import until

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3"/></svg>'


def document(*pages: str) -> bytes:
    """Return a PDF with one page for each text, below a black bar."""
    font = "<</Font<</F 3 0 R>>>>"
    parts = ["<</Type/Catalog/Pages 2 0 R>>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    parts.append(f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>")
    parts.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for number, words in enumerate(pages):
        drawn = f"0 700 600 100 re f BT /F 24 Tf 50 600 Td ({words}) Tj ET"
        place = f"/Contents {5 + 2 * number} 0 R/MediaBox[0 0 600 800]"
        parts.append(f"<</Type/Page/Parent 2 0 R/Resources {font}{place}>>")
        parts.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    body, places = "%PDF-1.4\n", []
    for at, part in enumerate(parts, 1):
        places.append(f"{len(body):010} 00000 n \n")
        body += f"{at} 0 obj\n{part}\nendobj\n"
    count = len(parts) + 1
    table = f"xref\n0 {count}\n0000000000 65535 f \n{''.join(places)}"
    trailer = f"trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + table + trailer).encode()


TORN = document("Slow ferries", "Harbor 2").replace(b"6 0 obj\n<<", b"6 0 obj\n[ ")
PDF = document("Slow ferries", *(f"Harbor {number}" for number in range(2, 31)))


def picture(shade: int) -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (1200, 800), (40 + shade * 30, 90, 140)).save(kept, "JPEG")
    return kept.getvalue()


def packed() -> bytes:
    kept = io.BytesIO()
    with ZipFile(kept, "w") as written:
        for name in ("Season 1/One.mkv", "notes.txt", "n" * 200 + ".jpg"):
            written.writestr(name, b"content")
    return kept.getvalue()


pytestmark = pytest.mark.browser(
    "the overlay: its history and focus, gestures, decoding, and layout"
)
CONTEXT = "kept"
CONTENTS = {
    **{f"Fjord {number}.jpg": picture(number) for number in (1, 2, 10)},
    "broken.png": b"<html><script>alert(1)</script>",
    "drawing.svg": SVG,
    "tidy.py": b"import re\n" + b"x = 'a long line that goes on and on' # so\n" * 60,
    "notes.md": b"# Spring\n\nA *film*.\n\n```\ncode\n```\n\n![A fjord](http://evil.example/x.png)\n",
    "table.csv": b"name,size\n" + b"Sintel,9.8 GB\n" * 100,
    "data.json": b'{"a":[1,2,{"b":"x"}]}',
    "film.srt": b"1\n00:01:47,250 --> 00:01:49,000\nThis blade has a dark past.\n\n" * 30,
    "film.nfo": "╔══╗ ░▒▓".encode("cp437"),
    "long.log": b"".join(b"line %d of the log\n" % number for number in range(6000)),
    "empty.txt": b"",
    "paper.pdf": PDF,
    "one.wav": sound(1.5),
    "two.wav": sound(30),
    "disk.iso": b"\0" * 5000,
    "bundle.zip": packed(),
}


@pytest.fixture(scope="module")
def things(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    for name, content in CONTENTS.items():
        shelf.file(folder, name, content)
    return folder


def link(page: Page, name: str) -> Locator:
    return page.locator(f'#listing .entry:has([title="{name}"])')


def shown(page: Page, name: str) -> Locator:
    """Return the viewer; if it has a script, wait for it: it runs a moment later."""
    expect(page.locator("#viewer h1")).to_have_text(name)
    if page.locator("#viewer[data-script]").count():
        expect(page.locator("#viewer[data-mounted]")).to_be_attached()
    return page.locator("#viewer")


def opened(visitor: Visitor, folder: Folder, name: str) -> Locator:
    visitor.open(folder.path)
    link(visitor.page, name).click()
    return shown(visitor.page, name)


def alone(visitor: Visitor, folder: Folder, name: str) -> Locator:
    visitor.open(folder.path)
    visitor.page.goto(visitor.url + link(visitor.page, name).get_attribute("href"))
    return shown(visitor.page, name)


# Over the listing


@pytest.mark.journey
def test_a_file_opens_over_the_listing_and_back_closes_it(alice, things):
    page = alice.page
    opened(alice, things, "tidy.py")
    assert re.search(r"/file-\w+/view/$", page.url)
    expect(page).to_have_title("tidy.py · Ferry")
    expect(page.locator("#back")).to_be_focused()
    page.go_back()
    expect(page.locator("#overlay")).to_have_count(0)
    assert page.url == alice.url + things.path
    expect(page).to_have_title(f"{things.name} · Ferry")
    expect(link(page, "tidy.py")).to_be_focused()
    page.go_forward()
    shown(page, "tidy.py")
    page.keyboard.press("Escape")
    expect(page.locator("#overlay")).to_have_count(0)
    assert page.url == alice.url + things.path


@pytest.mark.browser("how the viewer is displayed at the moment it appears")
def test_a_preview_has_its_styles_from_the_first_moment(alice, things):
    alice.open(things.path)
    alice.page.evaluate(FIRST_DISPLAY, "viewer")
    link(alice.page, "tidy.py").click()
    shown(alice.page, "tidy.py")
    assert alice.page.evaluate("window.firstDisplay") == "grid"


@pytest.mark.browser("the scroll position below an overlay")
def test_the_listing_below_stays_where_it_was(alice, shelf):
    crowd = shelf.crowd(1000)
    alice.open(crowd)
    page = alice.page
    rows = page.locator("#listing .window > [id]")
    rows.nth(99).scroll_into_view_if_needed()
    expect(rows.nth(150)).to_be_attached()
    row = rows.nth(150)
    row.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    row.locator(".entry").click()
    expect(page.locator("#overlay")).to_be_visible()
    page.locator("#back").click()
    expect(page.locator("#overlay")).to_have_count(0)
    expect(row.locator(".entry")).to_be_focused()
    assert page.evaluate("scrollY") == before


@pytest.mark.browser("which history entry a reload and Back show")
def test_a_reload_shows_the_page_alone_and_back_leads_to_the_listing(alice, things):
    page = alice.page
    opened(alice, things, "tidy.py")
    page.reload()
    shown(page, "tidy.py")
    expect(page.locator("#overlay")).to_have_count(0)
    page.go_back()
    expect(link(page, "tidy.py")).to_be_visible()


@pytest.mark.browser("that a key starts a download, and that the row is scrolled into view")
def test_alone_a_key_downloads_the_file_and_the_way_back_leads_to_its_row(alice, things):
    viewer = alone(alice, things, "disk.iso")
    with alice.page.expect_download() as download:
        alice.page.keyboard.press("d")
    assert download.value.suggested_filename == "disk.iso"
    viewer.locator("#back").click()
    expect(alice.page).to_have_url(re.compile(r"#file-\w+$"))
    expect(link(alice.page, "disk.iso")).to_be_in_viewport()


@pytest.mark.browser("that the error page replaces the listing if there is no viewer to show")
def test_a_deleted_file_opens_a_page_that_says_so(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, "a.txt")
    alice.open(folder.path)
    href = link(alice.page, "a.txt").get_attribute("href")
    alice.page.evaluate(
        "href => document.querySelector('#listing .entry').href = href.replace(/file-/, 'file-9')",
        href,
    )
    alice.page.locator("#listing .entry").click()
    expect(alice.page.get_by_role("main")).to_contain_text("Ferry can't find this")


# Pictures


@pytest.mark.journey
def test_pictures_turn_by_keys_and_buttons_in_natural_order(alice, things):
    page = alice.page
    opened(alice, things, "Fjord 2.jpg")
    address = page.url
    page.keyboard.press("ArrowRight")
    viewer = shown(page, "Fjord 10.jpg")
    expect(viewer.locator(".viewer-title p")).to_contain_text("5 of 5")
    expect(viewer.get_by_label("Next picture")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    shown(page, "Fjord 2.jpg")
    assert page.url == address
    page.get_by_label("Previous picture").click()
    shown(page, "Fjord 1.jpg")
    expect(page.get_by_label("Previous picture")).to_be_focused()
    page.go_back()
    expect(page.locator("#overlay")).to_have_count(0)
    expect(link(page, "Fjord 1.jpg")).to_be_focused()


PACE_MS = 5_000


@pytest.mark.browser("that pictures load, and that the button keeps the focus as pages turn")
def test_a_slideshow_turns_by_itself_until_it_is_stopped(alice, things, clock):
    page = alice.page
    opened(alice, things, "drawing.svg")
    # From here on, only the test lets time pass, however long pages take to arrive.
    clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    button = page.get_by_role("button", name="Slideshow")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.locator(".picture-frame img").evaluate("(image) => image.decode()")
    for name in ("Fjord 1.jpg", "Fjord 2.jpg"):
        clock.fast_forward(PACE_MS)
        shown(page, name)
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(button).to_be_focused()
        page.locator(".picture-frame img").evaluate("(image) => image.decode()")
    page.keyboard.press("s")
    expect(button).to_have_attribute("aria-pressed", "false")
    clock.fast_forward(2 * PACE_MS)
    shown(page, "Fjord 2.jpg")
    page.keyboard.press("s")
    page.keyboard.press("ArrowRight")
    shown(page, "Fjord 10.jpg")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(button).to_be_disabled()


def width(page: Page) -> float:
    return page.locator(".picture-frame img").bounding_box()["width"]


@pytest.mark.browser("wheel, drag, and double click on a scrolling picture")
def test_a_picture_is_zoomed_and_fetched_whole_only_then(alice, things):
    page = alice.page
    opened(alice, things, "Fjord 2.jpg")
    image = page.locator(".picture-frame img")
    expect(image).to_have_js_property("complete", value=True)
    assert "/image/" in image.get_attribute("src")
    fitted = page.locator(".picture-frame").bounding_box()
    page.mouse.move(fitted["x"] + 300, fitted["y"] + 200)
    page.mouse.wheel(0, -500)
    expect(page.locator(".zoomed")).to_have_count(1)
    expect(image).to_have_attribute("src", re.compile("/raw/"))
    first = width(page)
    page.keyboard.press("+")
    until(page, "document.querySelector('.picture-frame img').width > value", first)
    left = page.evaluate("document.querySelector('.picture-frame').scrollLeft")
    page.mouse.down()
    page.mouse.move(fitted["x"] + 200, fitted["y"] + 200, steps=4)
    page.mouse.up()
    assert page.evaluate("document.querySelector('.picture-frame').scrollLeft") > left
    page.keyboard.press("0")
    expect(page.locator(".zoomed")).to_have_count(0)
    page.locator(".picture-frame").dblclick()
    expect(page.locator(".zoomed")).to_have_count(1)


@pytest.mark.browser("that the browser fails to decode a picture")
def test_a_broken_picture_says_so_and_the_next_is_near(alice, things):
    page = alice.page
    viewer = opened(alice, things, "broken.png")
    expect(viewer.get_by_role("heading", name="Ferry can't show this picture")).to_be_visible()
    page.keyboard.press("ArrowRight")
    shown(page, "drawing.svg")
    page.locator(".picture-frame img").evaluate("(image) => image.decode()")


@pytest.mark.browser("what the browser fetches ahead")
def test_neighbours_are_prefetched(alice, things):
    page = alice.page
    names = []
    page.on("request", lambda request: names.append(urlsplit(request.url).path))
    opened(alice, things, "Fjord 2.jpg")
    for label in ("Previous picture", "Next picture"):
        ahead = page.get_by_label(label).get_attribute("data-picture")
        fetched = "performance.getEntriesByType('resource').some(e => e.name.includes(value))"
        until(page, fetched, ahead)


def swipe(page: Page, from_x: int, to_x: int) -> None:
    page.evaluate(
        """([from, to]) => {
          const target = document.querySelector(".picture-frame");
          const at = (x) => new Touch({ identifier: 1, target, clientX: x, clientY: 400 });
          const tell = (name, x, touches) => target.dispatchEvent(new TouchEvent(name, {
            bubbles: true, cancelable: true, touches, changedTouches: [at(x)] }));
          tell("touchstart", from, [at(from)]);
          tell("touchmove", to, [at(to)]);
          tell("touchend", to, []);
        }""",
        [from_x, to_x],
    )


@pytest.mark.journey
def test_a_swipe_turns_pictures_on_a_phone(phone, things):
    page = phone.page
    phone.open(things.path)
    link(page, "Fjord 1.jpg").tap()
    shown(page, "Fjord 1.jpg")
    expect(page.locator(".picture-frame img")).to_have_js_property("complete", value=True)
    swipe(page, 300, 80)
    shown(page, "Fjord 2.jpg")
    swipe(page, 80, 300)
    shown(page, "Fjord 1.jpg")


def pinch(page: Page, before: int, after: int) -> None:
    page.evaluate(
        """([before, after]) => {
          const target = document.querySelector(".picture-frame");
          const at = (identifier, x) => new Touch({ identifier, target, clientX: x, clientY: 400 });
          const pair = (apart) => [at(1, 195 - apart / 2), at(2, 195 + apart / 2)];
          const tell = (name, touches) => target.dispatchEvent(new TouchEvent(name, {
            bubbles: true, cancelable: true, touches, changedTouches: pair(after) }));
          tell("touchstart", pair(before));
          tell("touchmove", pair(after));
          tell("touchend", []);
        }""",
        [before, after],
    )


@pytest.mark.browser("pinches and double taps")
def test_two_fingers_zoom_and_a_double_tap_too(phone, things):
    page = phone.page
    phone.open(things.path)
    link(page, "Fjord 1.jpg").tap()
    shown(page, "Fjord 1.jpg")
    until(page, "document.querySelector('.picture-frame img').naturalWidth > 0")
    pinch(page, 60, 180)
    expect(page.locator(".zoomed")).to_have_count(1)
    assert width(page) > 390 * 2
    pinch(page, 180, 20)
    expect(page.locator(".zoomed")).to_have_count(0)
    double_tap(page, 195, 400)
    expect(page.locator(".zoomed")).to_have_count(1)


# Texts


@pytest.mark.browser("whether lines are wider than the screen")
def test_long_lines_of_code_wrap_on_request(alice, things):
    page = alice.page
    page.set_viewport_size({"width": 320, "height": 700})
    opened(alice, things, "tidy.py")
    is_wide = (
        "() => { const b = document.querySelector('.text'); return b.scrollWidth > b.clientWidth }"
    )
    assert page.evaluate(is_wide)
    page.get_by_label("Wrap lines").check()
    assert not page.evaluate(is_wide)
    alone(alice, things, "tidy.py")
    expect(page.get_by_label("Wrap lines")).to_be_checked()


@pytest.mark.browser("that htmx adds lines inside the overlay")
def test_the_rest_of_a_log_is_sent_on_request(alice, things):
    viewer = opened(alice, things, "long.log")
    expect(viewer.locator(".code code")).to_have_count(4000)
    viewer.get_by_role("link", name="Show more").click()
    expect(viewer.locator(".code code")).to_have_count(6000)
    expect(viewer.get_by_role("link", name="Show more")).to_have_count(0)
    expect(alice.page.locator("#overlay")).to_be_visible()


# Sound, documents, the rest


@pytest.mark.browser("layout of a long name")
def test_a_long_name_of_a_folder_fits_below_the_title_of_a_track(alice, shelf):
    folder = shelf.folder("W" * 200)
    shelf.file(folder, "one.wav", CONTENTS["one.wav"])
    viewer = alone(alice, folder, "one.wav")
    expect(viewer.get_by_text(folder.name)).to_be_visible()
    assert viewer.locator(".audio").evaluate("each => each.scrollWidth <= each.clientWidth")


# The share of dark points in a rendered page.
DARK = """(canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    let dark = 0;
    for (let at = 0; at < data.length; at += 4) dark += data[at] < 80 && data[at + 3] > 200;
    return dark / (width * height);
}"""


@pytest.mark.journey
@pytest.mark.browser("what PDF.js draws and drops while the reader scrolls")
def test_a_document_opens_inside_the_page(alice, things, troubles):
    loaded: list[str] = []
    alice.page.on("request", lambda request: loaded.append(urlsplit(request.url).path))
    viewer = opened(alice, things, "tidy.py")
    assert not [path for path in loaded if "vendor/pdf" in path]
    alice.page.go_back()
    viewer = opened(alice, things, "paper.pdf")
    first = viewer.get_by_role("region", name="Page 1 of 30")
    expect(first.get_by_text("Slow ferries")).to_be_attached()
    expect(viewer.locator("output")).to_have_text("Page 1 of 30")
    assert 0.1 < first.locator("canvas").evaluate(DARK) < 0.2
    page = viewer.locator(".pages > section").first
    before = page.bounding_box()["width"]
    viewer.get_by_role("button", name="Zoom in").click()
    until(alice.page, f"document.querySelector('.pages > section').clientWidth > {before * 1.2}")
    viewer.get_by_role("region", name="Document").press("End")
    expect(viewer.get_by_text("Harbor 30")).to_be_attached()
    expect(viewer.locator("output")).to_have_text("Page 30 of 30")
    expect(viewer.get_by_text("Slow ferries")).to_have_count(0)
    # If page numbers were announced, each page passed would interrupt the previous number.
    expect(viewer.locator("output")).to_have_attribute("aria-live", "off")
    expect(viewer.get_by_role("group", name="Document controls")).to_contain_text("Page 30 of 30")
    assert faults_at(alice.page, 320, 1440) == []
    assert [path for path in loaded if "vendor/pdf/pdf.min" in path]
    # Its own tab gets the same bytes as a document that may do nothing.
    opener = viewer.get_by_role("link", name="Open in a new tab")
    answer = alice.page.request.get(alice.url + opener.get_attribute("href"))
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert answer.headers["content-disposition"].startswith("inline")
    assert answer.body() == PDF


@pytest.mark.browser("whether a button that becomes disabled keeps the focus")
def test_zooming_to_the_limit_keeps_the_focus(alice, things):
    viewer = opened(alice, things, "paper.pdf")
    button = viewer.get_by_role("button", name="Zoom in")
    button.focus()
    for _ in range(6):
        alice.page.keyboard.press("Enter")
    expect(button).to_be_disabled()
    expect(button).to_be_focused()
    expect(viewer.get_by_role("button", name="Zoom out")).to_be_enabled()


@pytest.mark.browser("how PDF.js reports a broken page")
def test_a_page_that_cannot_be_drawn_says_so(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, "torn.pdf", TORN)
    viewer = opened(alice, folder, "torn.pdf")
    expect(viewer.get_by_text("Slow ferries")).to_be_attached()
    second = viewer.get_by_role("region", name="Page 2 of 2")
    expect(second).to_contain_text("Ferry can't show this page.")
    expect(second.get_by_role("link", name="Open in a new tab")).to_be_visible()
    assert faults_at(alice.page, 320, 1440) == []
    width = second.bounding_box()["width"]
    viewer.get_by_role("button", name="Zoom in").click()
    # The viewer removes the contents of pages that are no longer near.
    second.scroll_into_view_if_needed()
    until(alice.page, f"document.querySelector('.undrawn')?.clientWidth > {width * 1.2}")
    expect(viewer.get_by_text("Ferry can't show this page.")).to_have_count(1)


@pytest.mark.browser("what PDF.js draws on a phone in dark mode")
def test_a_document_opens_inside_the_page_of_a_phone(phone, things):
    phone.page.emulate_media(color_scheme="dark")
    viewer = opened(phone, things, "paper.pdf")
    first = viewer.get_by_role("region", name="Page 1 of 30")
    expect(first.get_by_text("Slow ferries")).to_be_attached()
    assert 0.1 < first.locator("canvas").evaluate(DARK) < 0.2
    assert first.bounding_box()["width"] > 350


@pytest.mark.browser("how PDF.js reports a broken document")
def test_a_broken_document_says_so_and_can_still_be_opened(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, "odd.pdf", b"This is not a document.")
    viewer = opened(alice, folder, "odd.pdf")
    expect(viewer.get_by_role("status")).to_contain_text("Ferry can't show this document")
    expect(viewer.get_by_role("link", name="Open document")).to_be_visible()


# Accessibility


WIDTHS = [320, 390, 768, 1440]
FITS = "each => each.scrollWidth <= each.clientWidth"


@pytest.mark.browser("axe, and layout at four widths")
@pytest.mark.parametrize("name", CONTENTS)
def test_every_kind_fits_and_is_clean(alice, things, name):
    page = alice.page
    viewer = opened(alice, things, name)
    expect(viewer.locator(".viewer-body").first).to_be_visible()
    assert faults_at(page, *WIDTHS) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        assert viewer.evaluate(FITS), width


@pytest.mark.browser("axe on the page and its menu")
def test_a_file_alone_and_its_menu_are_clean(alice, things):
    page = alice.page
    alone(alice, things, "tidy.py")
    assert faults_at(page, *WIDTHS) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        page.get_by_label("More actions").click()
        expect(page.locator("#viewer-menu")).to_be_visible()
        assert faults_at(page, width) == []
        page.keyboard.press("Escape")
        expect(page.locator("#viewer-menu")).to_be_hidden()
