"""The Files screen as people use it: by mouse, touch, and keyboard, and without scripts."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import JSHandle, Locator, Page, Route, expect

from tests.browser.axe import faults_at, too_wide
from tests.browser.loading import first_loaded, weight
from tests.browser.looks import dressed
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.touches import resting_on
from tests.browser.waiting import hold, until
from tests.running import PASSWORD

HOSTILE = ["<img src=x onerror=alert(1)>.jpg", "' onmouseover='alert(2)", "hx-get=x {{ 7*7 }}.txt"]
PATIENCE_MS = 120_000
SERVICE_WORKERS = "block"
CONTEXT = "kept"

pytestmark = pytest.mark.browser("htmx swaps parts of the page; the focus and the history follow.")
# Tests whose reason differs from the module's have one of these.
SCROLLING = pytest.mark.browser(
    "Only a browser scrolls: rows load when they come into sight, and others leave the page."
)
SELECTION = pytest.mark.browser(
    "Ticks stay across swaps, and the browser submits the form that they belong to."
)
WEIGHT = pytest.mark.browser("Only a browser shows which scripts and styles a page loads at first.")
LAYOUT = pytest.mark.browser(
    "Only a browser lays out a page: what covers, wraps, overflows, or looks disabled."
)
FORMS = pytest.mark.browser("Forms open in place or in dialogs, take the focus, and give it back.")
DRAGGING = pytest.mark.browser(
    "Only a browser drags entries and files, and lets people pick files."
)
KEYS = pytest.mark.browser("Keys move the focus, and act only where nobody types.")
TOUCH = pytest.mark.browser(
    "Only a browser turns taps and holds into clicks, and shows what a phone shows."
)
UPLOADS = pytest.mark.browser(
    "Scripts send files and show their progress while people do something else."
)
LATE = pytest.mark.browser(
    "Responses arrive late or never, when another folder is open or a dialog is closed."
)
MODULES = pytest.mark.browser(
    "Only a browser loads modules when they are first used, and may fail to."
)
AXE = pytest.mark.browser("axe reads colors, sizes, and names from what the browser renders.")

WIDTHS = [320, 390, 768, 1440]
LONG = "n" * 200 + ".mkv"
GUEST = f"""
from webui.models import Role, User
if not User.objects.filter(username="gwen").exists():
    User.objects.create_user("gwen", password={PASSWORD!r}, role=Role.GUEST)
"""


@pytest.fixture(scope="module")
def crowd(shelf: Shelf) -> str:
    return shelf.crowd(10_000)


@pytest.fixture
def films(shelf: Shelf) -> Folder:
    return shelf.films()


def names(page: Page) -> list[str]:
    return [each.get_attribute("title") for each in page.locator("#listing .entry-name").all()]


def row(page: Page, name: str) -> Locator:
    is_called = f"[title={json.dumps(name, ensure_ascii=False)}]"
    return page.locator("#listing .window > [id]").filter(has=page.locator(is_called))


def link(page: Page, name: str) -> Locator:
    return row(page, name).locator(".entry")


def chosen(page: Page) -> Locator:
    return page.locator(".actionbar .selection-count strong")


def open_menu(page: Page, name: str) -> Locator:
    row(page, name).hover()
    row(page, name).get_by_label(f"Actions for {name}").click()
    menu = page.locator("#entry-menu")
    expect(menu).to_be_visible()
    return menu


def is_open(page: Page, folder: str) -> None:
    """Check that the folder shows and its scripts run: only then does the page take the focus."""
    expect(page.get_by_role("heading", level=1)).to_have_text(folder)
    expect(page.locator("#main")).to_be_focused()


# Browsing


@pytest.mark.journey
def test_a_folder_opens_and_back_leads_out_again(alice, films):
    alice.open("/")
    link(alice.page, films.name).click()
    is_open(alice.page, films.name)
    expect(alice.page).to_have_url(alice.url + films.path)
    expect(alice.page).to_have_title(f"{films.name} · Ferry")
    link(alice.page, "Alps").click()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("Alps")
    alice.page.go_back()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text(films.name)
    alice.page.wait_for_load_state()
    alice.page.go_back()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("Files")
    alice.page.wait_for_load_state()
    alice.page.go_forward()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text(films.name)


def test_a_folder_opens_in_its_own_tab(alice, films):
    alice.open("/")
    with alice.page.context.expect_page() as opened:
        link(alice.page, films.name).click(modifiers=["Control"])
    expect(opened.value.get_by_role("heading", level=1)).to_have_text(films.name)
    assert alice.heading() == "Files"


@pytest.mark.journey
def test_sorting_can_be_reversed_and_is_remembered(alice, films):
    alice.open(films.path)
    page = alice.page
    assert names(page) == ["Alps", "Bays", "Clouds.mkv", "Dunes.2.mkv", "Elms.txt"]
    page.get_by_role("link", name="Name").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Name")
    expect(page).to_have_url(re.compile(r"sort=-name"))
    assert names(page) == ["Bays", "Alps", "Elms.txt", "Dunes.2.mkv", "Clouds.mkv"]
    expect(page.locator("#sort-name")).to_be_focused()
    expect(page.locator("#said")).to_have_text("Sorted by name, Z to A")
    page.reload()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Name")


def test_list_and_grid(alice, films):
    alice.open(films.path)
    alice.page.get_by_role("link", name="Grid").click()
    expect(alice.page.locator(".grid .tile")).to_have_count(5)
    expect(alice.page.get_by_role("link", name="Grid")).to_have_attribute("aria-current", "true")
    expect(alice.page.get_by_role("link", name="Grid")).to_be_focused()
    alice.page.reload()
    expect(alice.page.locator(".grid .tile")).to_have_count(5)
    alice.page.get_by_role("link", name="List", exact=True).click()
    expect(alice.page.locator("table.files")).to_be_visible()


@pytest.mark.journey
def test_filtering_while_typing(alice, films):
    alice.open(films.path)
    page = alice.page
    page.keyboard.press("f")
    page.keyboard.type("du")
    expect(page.locator("#listing .entry")).to_have_count(1)
    expect(page.locator("#summary")).to_have_text("1 of 5")
    expect(page.locator("#said")).to_have_text("1 of 5")
    expect(page.get_by_label("Filter this folder by name")).to_be_focused()
    expect(page).to_have_url(re.compile(r"q=du"))
    page.reload()
    assert names(page) == ["Dunes.2.mkv"]
    expect(page.get_by_label("Filter this folder by name")).to_have_value("du")
    page.get_by_label("Filter this folder by name").fill("nothing like it")
    expect(page.locator(".none")).to_contain_text("nothing like it")
    page.locator(".none").get_by_role("link").click()
    expect(page.locator("#listing .entry")).to_have_count(5)
    expect(page.get_by_label("Filter this folder by name")).to_have_value("")


def test_escape_empties_the_filter_and_then_leaves_it(alice, films):
    alice.open(f"{films.path}?q=du")
    field = alice.page.get_by_label("Filter this folder by name")
    field.focus()
    alice.page.keyboard.press("Escape")
    expect(alice.page.locator("#listing .entry")).to_have_count(5)
    alice.page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    field.press_sequentially("du")
    expect(alice.page.locator("#listing .entry")).to_have_count(1)
    alice.page.keyboard.press("Escape")
    expect(alice.page.locator("#listing .entry")).to_have_count(5)


# 10,000 entries


@SCROLLING
def test_ten_thousand_rows_load_while_scrolling_and_old_ones_are_removed(alice, crowd):
    """Pictures of rows that leave the page are no longer waited for."""
    page = alice.page
    page.route("**/thumb/**", lambda _route: None)
    alice.open(crowd)
    expect(page.locator("#listing .entry-name")).to_have_count(100)
    shown = page.locator("#shown")
    expect(shown).to_contain_text("100 of 10,000")
    page.get_by_label("Select A first.jpg").check()
    page.locator("#title").focus()
    is_picture = lambda request: "/thumb/" in request.url  # noqa: E731
    with page.expect_event("requestfailed", is_picture, timeout=PATIENCE_MS * 5):
        scroll(page)
    expect(page.locator(".window .spacer").first).to_be_attached()
    assert page.locator("#listing .entry-name").count() <= 1100
    expect(page.get_by_title("A first.jpg", exact=True)).to_have_count(0)
    expect(chosen(page)).to_have_text("1 selected")
    page.evaluate("scrollTo(0, 0)")
    expect(page.get_by_title("A first.jpg", exact=True)).to_be_in_viewport(timeout=PATIENCE_MS)
    expect(page.get_by_label("Select A first.jpg")).to_be_checked()
    expect(chosen(page)).to_have_text("1 selected")


# The name of the row in the middle of the screen.
IN_SIGHT = (
    "document.elementFromPoint(innerWidth / 2, innerHeight / 2)"
    "?.closest('tr, li')?.querySelector('.entry-name')"
)


def scroll(page: Page, windows: int = 14) -> None:
    """Scroll through three windows of rows more than the page keeps."""
    for window in range(2, windows):
        page.locator(".ghosts").scroll_into_view_if_needed()
        came = page.locator(f".window[data-from='{(window - 1) * 100}']")
        expect(came).to_have_count(1, timeout=PATIENCE_MS)


@SCROLLING
@pytest.mark.parametrize("view", ["list", "grid"])
def test_end_leads_to_the_last_of_all_rows(alice, crowd, view):
    page = alice.page
    alice.open(f"{crowd}?view={view}")
    link(page, "A first.jpg").focus()
    page.keyboard.press("End")
    last = link(page, "Z first.jpg")
    expect(last).to_be_focused(timeout=PATIENCE_MS)
    expect(last).to_be_in_viewport()
    expect(page.locator("#shown")).to_have_text("Showing 10,000 of 10,000")
    assert page.locator("#listing .entry-name").count() <= 1100
    page.keyboard.press("Home")
    expect(link(page, "A first.jpg")).to_be_in_viewport(timeout=PATIENCE_MS)
    page.mouse.wheel(0, 60_000)
    until(page, IN_SIGHT)


@SCROLLING
def test_a_spinner_turns_while_more_rows_load(alice, shelf):
    waiting: list[Route] = []
    alice.page.route("**/rows/**", lambda route: waiting.append(route))  # noqa: PLW0108  Playwright sets an attribute on handlers, which built-ins refuse.
    alice.open(shelf.crowd(101))
    spinner = alice.page.locator(".list-foot .spin")
    expect(spinner).to_be_hidden()
    with alice.page.expect_request("**/rows/**"):
        alice.page.locator(".ghosts").scroll_into_view_if_needed()
    expect(spinner).to_be_visible()
    waiting.pop().continue_()
    expect(alice.page.locator("#listing .entry-name")).to_have_count(101)
    expect(spinner).to_be_hidden()


@SELECTION
def test_select_all_means_all_that_match(alice, crowd):
    alice.open(crowd)
    alice.page.locator("thead").hover()
    alice.page.get_by_label("Select all").check()
    expect(chosen(alice.page)).to_have_text("10,000 selected")
    ticks = alice.page.locator('#listing .tick[name="entry"]')
    ticks.nth(1).uncheck()
    ticks.nth(2).uncheck()
    ticks.nth(2).check()
    expect(chosen(alice.page)).to_have_text("9,999 selected")
    alice.page.locator("#delete-chosen").click()
    dialog = alice.page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text(re.compile("9,999"))
    dialog.get_by_text("Keep").click()
    expect(dialog).to_be_hidden()
    expect(alice.page.locator("#delete-chosen")).to_be_focused()


@WEIGHT
def test_the_first_visit_of_ten_thousand_is_light(alice, crowd, chromium):
    sizes = first_loaded(chromium, alice.url + crowd, alice.page.context.storage_state())
    assert weight(sizes) < 60_000, sizes


# Selecting


@SELECTION
def test_choosing_with_shift_and_clearing(alice, films):
    alice.open(films.path)
    page = alice.page
    row(page, "Alps").hover()
    page.get_by_label("Select Alps").check()
    page.get_by_label("Select Dunes.2.mkv").click(modifiers=["Shift"])
    expect(chosen(page)).to_have_text("4 selected")
    expect(page.locator("#rename-chosen")).to_be_disabled()
    page.get_by_label("Clear selection").click()
    expect(page.locator(".actionbar")).to_be_hidden()


@SELECTION
def test_a_choice_outlives_sorting_and_filtering(alice, films):
    alice.open(films.path)
    page = alice.page
    row(page, "Elms.txt").hover()
    page.get_by_label("Select Elms.txt").check()
    page.get_by_role("link", name="Name").click()
    expect(page.locator("th[aria-sort=descending]")).to_be_visible()
    expect(page.get_by_label("Select Elms.txt")).to_be_checked()
    page.get_by_label("Filter this folder by name").fill("du")
    expect(page.locator("#listing .entry")).to_have_count(1)
    expect(chosen(page)).to_have_text("1 selected")
    page.get_by_label("Filter this folder by name").fill("")
    expect(page.locator("#listing .entry")).to_have_count(5)
    expect(page.get_by_label("Select Elms.txt")).to_be_checked()
    expect(chosen(page)).to_have_text("1 selected")


@SELECTION
def test_a_selection_becomes_one_zip(alice, films):
    alice.open(films.path)
    page = alice.page
    for name in ["Clouds.mkv", "Elms.txt"]:
        row(page, name).hover()
        page.get_by_label(f"Select {name}").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download ZIP").click()
        expect(page.locator("#toasts")).to_contain_text("Your ZIP download is starting")
    assert download.value.suggested_filename.endswith(".zip")
    expect(page).to_have_url(alice.url + films.path)
    expect(chosen(page)).to_have_text("2 selected")
    expect(page.get_by_label("Select Elms.txt")).to_be_checked()
    expect(page.get_by_role("button", name="Download ZIP")).to_be_focused()
    with page.expect_download():
        page.get_by_role("button", name="Download ZIP").click()


@LAYOUT
@pytest.mark.parametrize("size", [(390, 844), (1440, 400)])
def test_toasts_do_not_hide_the_selection(alice, films, size):
    page = alice.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")
    alice.open(films.path)
    page.locator("#all, #select").locator("visible=true").first.click()
    page.locator("#listing .tick[name=entry]").last.check()
    with page.expect_download():
        page.get_by_role("button", name="Download ZIP").click()
        toast = page.locator(".toast")
        expect(toast).to_be_visible()
        bar, said = page.locator(".actionbar").bounding_box(), toast.bounding_box()
    assert said["y"] + said["height"] <= bar["y"]


# Row buttons whose middle lies below a toast.
COVERED = """() => [...document.querySelectorAll("#listing .more")]
    .filter((each) => {
        const { left, top, width, height } = each.getBoundingClientRect();
        return document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".toast");
    })
    .map((each) => each.ariaLabel)"""


@LAYOUT
@pytest.mark.parametrize("width", WIDTHS)
def test_toasts_do_not_hide_the_buttons_of_rows(alice, troubles, shelf, width):
    folder = shelf.folder()
    for number in range(20):
        shelf.file(folder, f"{number}.txt")
    page = alice.page
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(reduced_motion="reduce")
    alice.open(folder.path)
    page.route("**/listing/**", lambda route: route.abort())
    page.get_by_label("Filter this folder by name").fill("1")
    expect(page.locator(".toast")).to_contain_text("Can't reach Ferry")
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        assert page.evaluate(COVERED) == [], place
        expect(page.locator(".toast")).to_be_visible()
    troubles.clear()


# Changing


@FORMS
def test_renaming_by_menu_keeps_the_extension(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Clouds.mkv").get_by_text("Rename").click()
    field = page.get_by_label("New name for Clouds.mkv")
    expect(field).to_be_focused()
    assert page.evaluate("getSelection().toString()") == "Clouds"
    page.keyboard.type("Skies")
    page.keyboard.press("Enter")
    expect(link(page, "Skies.mkv")).to_be_focused()
    expect(page.locator("#said")).to_have_text("Renamed: Skies.mkv")
    assert "Skies.mkv" in shelf.names(films)


@FORMS
@pytest.mark.parametrize("view", ["list", "grid"])
def test_a_changed_extension_asks_once(alice, films, shelf, view):
    alice.open(f"{films.path}?view={view}")
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Rename").click()
    naming(page, "Elms.txt").fill("Elms.md")
    page.keyboard.press("Enter")
    expect(page.locator(".rename [role=alert]")).to_contain_text("Change .txt to .md?")
    expect(page.get_by_label("New name for Elms.txt")).to_be_focused()
    expect(page.locator("#said")).to_be_empty()
    assert faults_at(page, 320) == []
    page.keyboard.press("Escape")
    expect(link(page, "Elms.txt")).to_have_text(re.compile(r"Elms\.txt"))
    open_menu(page, "Elms.txt").get_by_text("Rename").click()
    naming(page, "Elms.txt").fill("Elms.md")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Rename anyway").click()
    expect(link(page, "Elms.md")).to_be_focused()
    expect(page.locator("#listing .entry")).to_have_count(5)
    assert "Elms.md" in shelf.names(films)


@FORMS
def test_escape_leaves_a_name_as_it_was(alice, films):
    alice.open(films.path)
    link(alice.page, "Clouds.mkv").focus()
    alice.page.keyboard.press("F2")
    expect(alice.page.get_by_label("New name for Clouds.mkv")).to_be_focused()
    alice.page.keyboard.type("Nope")
    alice.page.keyboard.press("Escape")
    expect(link(alice.page, "Clouds.mkv")).to_be_focused()
    expect(alice.page.locator(".rename")).to_have_count(0)


def naming(page: Page, name: str = "Clouds.mkv") -> Locator:
    """Return the name's field once its script has selected the name without its extension."""
    field = page.get_by_label(f"New name for {name}")
    expect(field).to_be_focused()
    expect(field).to_have_js_property("selectionEnd", len(Path(name).stem))
    return field


@FORMS
def test_a_form_for_a_new_name_opens_in_the_row_that_a_refresh_replaced(alice, films):
    page, waiting = alice.page, []
    page.route("**/rename/form/**", lambda route: waiting.append(route))  # noqa: PLW0108  Playwright sets an attribute on handlers, which built-ins refuse.
    alice.open(films.path)
    link(page, "Clouds.mkv").focus()
    with page.expect_request("**/rename/form/**"):
        page.keyboard.press("F2")
    page.evaluate("document.getElementById('listing').dataset.isOld = true")
    page.evaluate("htmx.trigger('#look', 'refresh')")
    expect(page.locator("#listing:not([data-is-old])")).to_be_visible()
    waiting.pop().continue_()
    naming(page)


@FORMS
def test_a_rename_that_fails_is_taken_back(alice, films, troubles):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Clouds.mkv").get_by_text("Rename").click()
    page.route("**/rename/", lambda route: route.abort())
    field = naming(page)
    field.fill("Skies.mkv")
    with page.expect_event("requestfailed"):
        page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Can't reach Ferry")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(link(page, "Clouds.mkv")).to_have_text(re.compile("Clouds.mkv"))
    troubles.clear()


@FORMS
def test_a_rename_that_ferry_refuses_is_taken_back(alice, films, shelf):
    inner = shelf.folder("Caves", inside=films)
    shelf.file(inner, "Clouds.mkv")
    alice.open(inner.path)
    page = alice.page
    open_menu(page, "Clouds.mkv").get_by_text("Rename").click()
    naming(page).fill("Skies.mkv")
    shelf.delete(films, inner.key)
    page.keyboard.press("Enter")
    expect(page.locator("#toasts .error")).to_be_visible()
    expect(page.get_by_label("New name for Clouds.mkv")).to_be_focused()
    expect(page.locator("#said")).to_be_empty()
    page.keyboard.press("Escape")
    expect(link(page, "Clouds.mkv")).to_have_text(re.compile("Clouds.mkv"))


@FORMS
def test_a_new_folder_appears_and_has_the_focus(alice, films):
    alice.open(films.path)
    page = alice.page
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New folder")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Alps")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Name").fill("Caves")
    dialog.get_by_role("button", name="Create folder").click()
    expect(dialog).to_be_hidden()
    expect(link(page, "Caves")).to_be_focused()
    assert names(page)[:3] == ["Alps", "Bays", "Caves"]
    expect(page.locator("#summary")).to_contain_text("6 items")
    page.keyboard.press("n")
    expect(dialog.get_by_label("Name")).to_have_value("")


@FORMS
def test_a_folder_that_was_not_made_keeps_its_name_for_another_try(alice, films, shelf):
    inner = shelf.folder("Caves", inside=films)
    alice.open(inner.path)
    page = alice.page
    shelf.delete(films, inner.key)
    page.keyboard.press("n")
    name = page.get_by_role("dialog", name="New folder").get_by_label("Name")
    name.fill("Depths")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts .error")).to_be_visible()
    expect(name).to_be_hidden()
    page.keyboard.press("n")
    expect(name).to_have_value("Depths")


@FORMS
def test_deleting_names_what_is_lost_and_moves_the_focus_on(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Bays").get_by_text("Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Bays")
    expect(dialog.get_by_text("Keep")).to_be_focused()
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_be_hidden()
    expect(row(page, "Bays")).to_have_count(0)
    expect(link(page, "Clouds.mkv")).to_be_focused()
    expect(page.locator("#summary")).to_contain_text("4 items")
    assert "Bays" not in shelf.names(films)


@FORMS
def test_deleting_a_choice_empties_the_folder(alice, films):
    alice.open(films.path)
    page = alice.page
    page.locator("thead").hover()
    page.get_by_label("Select all").check()
    page.locator("#delete-chosen").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 5 items").click()
    expect(page.get_by_role("heading", name="This folder is empty")).to_be_visible()
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator(".actionbar")).to_be_hidden()


@pytest.mark.journey
@FORMS
def test_a_deletion_can_be_undone_at_once(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Bays").get_by_text("Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(row(page, "Bays")).to_have_count(1)
    expect(page.locator("#toasts")).to_contain_text("1 item restored")
    assert "Bays" in shelf.names(films)


# Moving


@pytest.mark.journey
@FORMS
def test_a_file_moves_by_the_dialog_and_comes_back(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog", name="Move or copy 1 item")
    expect(dialog.get_by_role("button", name="Move here")).to_be_disabled()
    dialog.locator(".places").get_by_role("button", name="Bays").click()
    expect(dialog.get_by_text("There are no folders in here.")).to_be_visible()
    assert faults_at(page) == []
    dialog.get_by_role("button", name="Move here").click()
    expect(dialog).to_be_hidden()
    expect(row(page, "Elms.txt")).to_have_count(0)
    toast = page.locator("#toasts")
    expect(toast).to_contain_text("1 item moved to Bays")
    toast.get_by_role("button", name="Undo").click()
    expect(row(page, "Elms.txt")).to_have_count(1)
    expect(toast).to_contain_text("Undone")


def rename_elms(page):
    open_menu(page, "Elms.txt").get_by_text("Rename").click()
    naming(page, "Elms.txt").fill("Oaks.txt")
    page.keyboard.press("Enter")


def delete_elms(page):
    open_menu(page, "Elms.txt").get_by_text("Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()


def move_elms(page):
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".places").get_by_role("button", name="Bays").click()
    dialog.get_by_role("button", name="Move here").click()


PRESSES = {
    "mouse": lambda button: button.click(),
    "keyboard": lambda button: button.press("Enter"),
    "touch": lambda button: button.tap(),
}


@FORMS
@pytest.mark.parametrize("press", PRESSES)
@pytest.mark.parametrize("view", ["list", "grid"])
@pytest.mark.parametrize("act", [rename_elms, delete_elms, move_elms])
def test_each_undo_works_in_each_view(act, view, press, films, request):
    """The toast of a rename came behind a row of the table, where a parser drops its form."""
    visitor = request.getfixturevalue("phone" if press == "touch" else "alice")
    visitor.open(f"{films.path}?view={view}")
    page = visitor.page
    act(page)
    expect(row(page, "Elms.txt")).to_have_count(0)
    PRESSES[press](page.locator("#toasts").get_by_role("button", name="Undo"))
    expect(row(page, "Elms.txt")).to_have_count(1)


@FORMS
def test_a_folder_is_created_in_the_dialog(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog", name="Move or copy 1 item")
    dialog.locator(".places").get_by_role("button", name="Bays").click()
    expect(dialog.get_by_text("There are no folders in here.")).to_be_visible()
    # Each answer focuses the heading a moment after it is visible.
    expect(page.locator("#move-title")).to_be_focused()
    dialog.get_by_label("New folder").fill("..")
    dialog.get_by_role("button", name="Create folder").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(page.locator("#move-title")).to_be_focused()
    dialog.get_by_label("New folder").fill("Deep")
    dialog.get_by_label("New folder").press("Enter")
    expect(dialog.get_by_role("list", name="Folders in Deep")).to_be_visible()
    assert faults_at(page) == []
    dialog.get_by_role("button", name="Move here").click()
    expect(page.locator("#toasts")).to_contain_text("1 item moved to Deep")
    assert "Elms.txt" not in shelf.names(films)


@FORMS
def test_a_folder_is_found_while_people_type(alice, films):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog", name="Move or copy 1 item")
    dialog.get_by_label("Find a folder").press_sequentially(films.name)
    found = dialog.get_by_role("list", name="Folders found")
    found.get_by_role("button", name=films.name).click()
    expect(dialog.get_by_role("list", name=f"Folders in {films.name}")).to_contain_text("Alps")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


@LATE
def test_a_dialog_that_was_closed_stays_closed_when_its_next_step_arrives(alice, films):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog", name="Move or copy 1 item")
    held = hold(page, "**/move/**")
    with page.expect_request("**/move/**"):
        dialog.locator(".places").get_by_role("button", name="Alps").click()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    with page.expect_response("**/move/**") as response:
        held[0].continue_()
    response.value.finished()
    # By the time the filter is answered, htmx is done with earlier responses.
    page.locator("#q").fill("Clouds")
    expect(row(page, "Elms.txt")).to_have_count(0)
    expect(page.locator("#move")).to_be_hidden()


@pytest.mark.journey
@DRAGGING
def test_chosen_entries_are_dragged_onto_a_folder_and_one_up(alice, films, shelf):
    alice.open(films.path)
    page = alice.page
    row(page, "Clouds.mkv").get_by_role("checkbox").check()
    row(page, "Elms.txt").get_by_role("checkbox").check()
    link(page, "Elms.txt").drag_to(link(page, "Alps"))
    expect(row(page, "Clouds.mkv")).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text("2 items moved to Alps")
    expect(page.locator(".actionbar")).to_be_hidden()
    link(page, "Alps").click()
    is_open(page, "Alps")
    link(page, "Clouds.mkv").drag_to(page.locator("#up"))
    expect(row(page, "Clouds.mkv")).to_have_count(0)
    assert "Clouds.mkv" in shelf.names(films)
    assert "Elms.txt" not in shelf.names(films)


@KEYS
def test_entries_are_cut_copied_and_pasted_by_keys(alice, films):
    alice.open(films.path)
    page = alice.page
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+x")
    expect(page.locator("#toasts")).to_contain_text("1 item cut")
    expect(row(page, "Elms.txt")).to_contain_class("cut")
    link(page, "Alps").click()
    is_open(page, "Alps")
    page.keyboard.press("Control+v")
    expect(row(page, "Elms.txt")).to_have_count(1)
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    expect(row(page, "Elms (2).txt")).to_have_count(1)
    page.locator("#up").click()
    is_open(page, films.name)
    expect(row(page, "Elms.txt")).to_have_count(0)
    page.keyboard.press("Control+v")
    expect(row(page, "Elms.txt")).to_have_count(1)


@FORMS
def test_taken_names_are_asked_about_when_entries_are_dropped(alice, films):
    alice.open(films.path)
    page = alice.page
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+c")
    link(page, "Alps").click()
    is_open(page, "Alps")
    for expected in ("Elms.txt", "Elms (2).txt"):
        page.keyboard.press("Control+v")
        if expected != "Elms.txt":
            dialog = page.get_by_role("dialog", name="1 name is taken")
            assert faults_at(page) == []
            dialog.get_by_role("button", name="Keep both").click()
        expect(row(page, expected)).to_have_count(1)


@FORMS
def test_canceling_the_question_about_taken_names_keeps_what_was_chosen_or_cut(alice, films):
    alice.open(films.path)
    page = alice.page
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+c")
    link(page, "Alps").click()
    is_open(page, "Alps")
    page.keyboard.press("Control+v")
    expect(row(page, "Elms.txt")).to_have_count(1)
    page.locator("#up").click()
    is_open(page, films.name)
    dialog = page.get_by_role("dialog", name="1 name is taken")
    row(page, "Elms.txt").get_by_role("checkbox").check()
    link(page, "Elms.txt").drag_to(link(page, "Alps"))
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(row(page, "Elms.txt").get_by_role("checkbox")).to_be_checked()
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+x")
    link(page, "Alps").click()
    is_open(page, "Alps")
    page.keyboard.press("Control+v")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Control+v")
    dialog.get_by_role("button", name="Keep both").click()
    expect(row(page, "Elms (2).txt")).to_have_count(1)
    page.locator("#up").click()
    is_open(page, films.name)
    expect(row(page, "Elms.txt")).to_have_count(0)


@pytest.mark.browser("A script fills the menu, and the browser saves the file.")
def test_downloading_a_file(alice, films):
    alice.open(films.path)
    with alice.page.expect_download() as download:
        open_menu(alice.page, "Elms.txt").get_by_text("Download", exact=True).click()
    assert download.value.suggested_filename == "Elms.txt"
    assert len(download.value.path().read_bytes()) == 5000


@pytest.mark.browser("Only a browser has a clipboard, and only in a secure context.")
def test_a_link_is_copied_or_shown(page, ferry, films):
    alice = Visitor(page, f"http://phone.lan:{ferry.port}", ferry)
    alice.bring_session()
    alice.open(films.path)
    open_menu(page, "Clouds.mkv").get_by_text("Copy address").click()
    expect(page.locator("#toasts")).to_contain_text("Link copied")
    page.get_by_label("Filter this folder").press("Control+V")
    expect(page.get_by_label("Filter this folder")).to_have_value(
        re.compile(rf"^{alice.url}/files/file/\w+")
    )
    alice.open(films.path)
    # Some browsers refuse this, too.
    page.evaluate("document.execCommand = () => false")
    open_menu(page, "Clouds.mkv").get_by_text("Copy address").click()
    dialog = page.get_by_role("dialog", name="Copy link")
    expect(dialog.get_by_label("Address")).to_have_value(
        re.compile(rf"^{alice.url}/files/file/\w+")
    )
    assert page.evaluate("getSelection().toString()").startswith(alice.url)
    page.keyboard.press("Escape")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=ferry.url)
    local = Visitor(page, ferry.url, ferry)
    local.bring_session()
    local.open(films.path)
    open_menu(page, "Clouds.mkv").get_by_text("Copy address").click()
    expect(page.locator("#toasts")).to_contain_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith(ferry.url)


@pytest.mark.browser("Only layout tells what a toast covers.")
def test_toasts_leave_the_selection_bar_free(alice, films):
    page = alice.page
    alice.open(films.path)
    open_menu(page, "Clouds.mkv").get_by_text("Copy address").click()
    toast = page.locator(".toast")
    expect(toast).to_have_count(1)
    page.get_by_label("Select Elms.txt").check()
    for width, height in ((1440, 900), (768, 500), (390, 844), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        toast.hover()
        bar, box = page.locator(".actionbar").bounding_box(), toast.bounding_box()
        assert box["y"] + box["height"] <= bar["y"], (width, height)
        assert bar["y"] + bar["height"] <= height, (width, height)
    toast.locator("p").click()
    expect(toast).to_have_count(0)


# Keyboard


@pytest.mark.journey
@KEYS
def test_the_whole_screen_by_keys(alice, films):
    alice.open(films.path)
    page, keys = alice.page, alice.page.keyboard
    keys.press("j")
    expect(link(page, "Alps")).to_be_focused()
    keys.press("ArrowDown")
    keys.press("j")
    expect(link(page, "Clouds.mkv")).to_be_focused()
    keys.press("k")
    keys.press("x")
    expect(chosen(page)).to_have_text("1 selected")
    keys.press("Shift+ArrowDown")
    expect(chosen(page)).to_have_text("2 selected")
    keys.press("Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Clouds.mkv")
    keys.press("Escape")
    expect(dialog).to_be_hidden()
    keys.press("Escape")
    expect(page.locator(".actionbar")).to_be_hidden()
    keys.press("Control+a")
    expect(chosen(page)).to_have_text("5 selected")
    keys.press("Escape")
    expect(page.locator(".actionbar")).to_be_hidden()
    link(page, "Alps").focus()
    keys.press("m")
    expect(page.locator("#entry-menu")).to_be_visible()
    expect(page.locator("#entry-menu").get_by_role("link", name="Open")).to_be_focused()
    keys.press("Escape")
    expect(link(page, "Alps")).to_be_focused()
    keys.press("Enter")
    is_open(page, "Alps")
    keys.press("u")
    is_open(page, films.name)
    keys.press("Backspace")
    expect(page.get_by_role("heading", level=1)).to_have_text("Files")


@KEYS
def test_arrows_walk_the_grid(alice, films):
    alice.page.set_viewport_size({"width": 900, "height": 800})
    alice.open(f"{films.path}?view=grid")
    link(alice.page, "Alps").focus()
    alice.page.keyboard.press("ArrowRight")
    expect(link(alice.page, "Bays")).to_be_focused()
    alice.page.keyboard.press("ArrowDown")
    expect(link(alice.page, "Elms.txt")).to_be_focused()


@KEYS
def test_arrows_walk_from_section_to_section(alice, films):
    page = alice.page
    page.set_viewport_size({"width": 900, "height": 800})
    alice.open(f"{films.path}?view=media")
    for name in ("Films", "Other files"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    link(page, "Bays").focus()
    for key, name in (
        *(("ArrowDown", "Dunes.2.mkv"), ("ArrowDown", "Elms.txt"), ("ArrowDown", "Elms.txt")),
        *(("ArrowUp", "Clouds.mkv"), ("ArrowRight", "Dunes.2.mkv"), ("ArrowUp", "Bays")),
    ):
        page.keyboard.press(key)
        expect(link(page, name)).to_be_focused()


@KEYS
def test_single_keys_can_be_switched_off(alice, films):
    alice.open("/account/")
    alice.page.get_by_label("Single-key shortcuts").uncheck()
    alice.open(films.path)
    alice.page.keyboard.press("n")
    alice.page.keyboard.press("j")
    expect(alice.page.get_by_role("dialog")).to_have_count(0)
    expect(link(alice.page, "Alps")).not_to_be_focused()
    alice.page.evaluate("localStorage.clear()")


# Touch


@pytest.mark.journey
@TOUCH
def test_choosing_by_touch(phone, films):
    phone.open(films.path)
    page = phone.page
    page.get_by_label("Select items").tap()
    link(page, "Alps").tap()
    link(page, "Elms.txt").tap()
    expect(chosen(page)).to_have_text("2 selected")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.get_by_role("button", name="Select all").tap()
    expect(chosen(page)).to_have_text("5 selected")
    page.get_by_label("Clear selection").tap()
    expect(page.locator(".actionbar")).to_be_hidden()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    link(page, "Alps").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alps")


@TOUCH
def test_a_choice_ends_where_its_folder_is_left(phone, films):
    phone.open(films.path)
    page = phone.page
    page.get_by_label("Select items").tap()
    link(page, "Alps").tap()
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.locator("#up").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Files")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


@LAYOUT
def test_buttons_that_need_a_selection_look_disabled(phone, films):
    phone.open(films.path)
    page = phone.page
    page.get_by_label("Select items").tap()
    rename, delete = page.locator("#rename-chosen"), page.locator("#delete-chosen")
    expect(delete).to_be_disabled()
    looks = "(each) => [each, each.querySelector('svg')].map((one) => getComputedStyle(one).color)"
    assert delete.evaluate(looks) == rename.evaluate(looks)
    link(page, "Elms.txt").tap()
    expect(delete).to_be_enabled()
    assert delete.evaluate(looks) != rename.evaluate(looks)


@TOUCH
def test_holding_a_row_chooses_it(phone, films):
    phone.open(films.path)
    page = phone.page
    with resting_on(link(page, "Bays")):
        expect(chosen(page)).to_have_text("1 selected")
    expect(chosen(page)).to_have_text("1 selected")
    expect(page.get_by_role("heading", level=1)).to_have_text(films.name)


@TOUCH
def test_everything_by_touch(phone, films):
    phone.open(films.path)
    page = phone.page
    row(page, "Elms.txt").get_by_label("Actions for Elms.txt").tap()
    page.locator("#entry-menu").get_by_text("Rename").tap()
    naming(page, "Elms.txt").fill("Oaks.txt")
    page.get_by_role("button", name="Rename", exact=True).tap()
    expect(link(page, "Oaks.txt")).to_be_visible()
    page.get_by_label("More actions for this folder").tap()
    page.locator("#folder-menu").get_by_text("New folder").tap()
    page.get_by_role("dialog").get_by_label("Name").fill("Caves")
    page.get_by_role("button", name="Create folder").tap()
    expect(link(page, "Caves")).to_be_visible()
    page.get_by_label("More actions for this folder").tap()
    page.locator("#folder-menu").get_by_text("Sort by size").tap()
    expect(page).to_have_url(re.compile("sort="))
    row(page, "Caves").get_by_label("Actions for Caves").tap()
    page.locator("#entry-menu").get_by_text("Delete").tap()
    page.get_by_role("dialog").get_by_role("button", name="Delete").tap()
    expect(row(page, "Caves")).to_have_count(0)


# Uploads


def pick(page: Page, *files: tuple[str, bytes]) -> None:
    page.locator("#upload-files").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": body} for name, body in files]
    )


def carried(page: Page) -> JSHandle:
    """Return what a file manager provides when a person drags a file onto the page."""
    return page.evaluate_handle(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File(["hello"], "Dropped.txt", { type: "text/plain" }));
            return carried;
        }"""
    )


@DRAGGING
def test_picked_files_arrive(alice, films, shelf):
    alice.open(films.path)
    with alice.page.expect_file_chooser() as chooser:
        alice.page.get_by_role("link", name="Upload").click()
    chooser.value.set_files(
        [
            {"name": f"Up {number}.txt", "mimeType": "text/plain", "buffer": b"hello"}
            for number in range(5)
        ]
    )
    expect(alice.page.locator("#toasts")).to_contain_text("Uploaded: 5")
    expect(link(alice.page, "Up 4.txt")).to_be_visible()
    expect(alice.page.locator("#uploads")).to_be_hidden()
    assert "Up 3.txt" in shelf.names(films)


@pytest.mark.journey
@DRAGGING
def test_dropped_files_arrive(alice, films):
    alice.open(films.path)
    page = alice.page
    files = carried(page)
    page.dispatch_event("#main", "dragenter", {"dataTransfer": files})
    expect(page.locator(".drop")).to_be_visible()
    expect(page.locator(".drop")).to_contain_text("1 item.")
    page.dispatch_event("#main", "drop", {"dataTransfer": files})
    expect(page.locator(".drop")).to_be_hidden()
    expect(link(page, "Dropped.txt")).to_be_visible()


@DRAGGING
def test_a_dropped_directory_arrives_with_its_contents(alice, films, tmp_path, shelf):
    inner = tmp_path / "Season 1" / "Extras"
    inner.mkdir(parents=True)
    (inner.parent / "One.txt").write_bytes(b"one")
    (inner / "Two.txt").write_bytes(b"two")
    alice.open(films.path)
    page = alice.page
    dragged = {"items": [], "files": [str(inner.parent)], "dragOperationsMask": 1}
    tools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"type": kind, "x": 700, "y": 500, "data": dragged}
        tools.send("Input.dispatchDragEvent", place)
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 2")
    page.get_by_role("link", name="Season 1").click()
    expect(link(page, "One.txt")).to_be_visible()
    page.get_by_role("link", name="Extras").click()
    expect(link(page, "Two.txt")).to_be_visible()


def drop_folders(page: Page, *folders: Path) -> None:
    dragged = {"items": [], "files": [str(each) for each in folders], "dragOperationsMask": 1}
    tools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        tools.send("Input.dispatchDragEvent", {"type": kind, "x": 700, "y": 500, "data": dragged})


@DRAGGING
def test_six_dropped_folders_are_called_folders(alice, shelf, tmp_path):
    folders = [tmp_path / f"Season {number}" for number in range(6)]
    for each in folders:
        each.mkdir()
        (each / "Pilot.txt").write_bytes(b"hello")
    alice.open(shelf.folder().path)
    page = alice.page
    hold(page, "**/upload/")
    drop_folders(page, *folders)
    expect(page.locator("#drop-count")).to_contain_text("6 items.")
    facts = page.locator("#uploads .sect p")
    expect(facts).to_have_text("6 folders · 0 of 6 uploaded · 0 bytes of 30 bytes")
    expect(link(page, "Season 5")).to_be_visible()
    page.unroute("**/upload/")
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 6")
    expect(page.locator("#uploads")).to_be_hidden()


@DRAGGING
def test_a_folder_is_chosen_with_the_keyboard(alice, films, shelf, tmp_path):
    inner = tmp_path / "Season 1" / "Extras"
    inner.mkdir(parents=True)
    (inner.parent / "One.txt").write_bytes(b"one")
    (inner / "Two.txt").write_bytes(b"two")
    alice.open(films.path)
    page = alice.page
    page.get_by_role("button", name="Upload folder").focus()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(inner.parent)
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 2")
    page.get_by_role("link", name="Season 1").click()
    expect(link(page, "One.txt")).to_be_visible()
    page.get_by_role("link", name="Extras").click()
    expect(link(page, "Two.txt")).to_be_visible()


@TOUCH
def test_a_folder_is_offered_only_where_the_browser_can_choose_one(phone, films):
    page = phone.page
    for is_able in (True, False):
        if not is_able:
            page.add_init_script("delete HTMLInputElement.prototype.webkitdirectory")
        phone.open(films.path)
        page.get_by_label("More actions for this folder").tap()
        expect(page.locator("#folder-menu").get_by_text("Upload files")).to_be_visible()
        expect(page.locator("#folder-menu [data-upload=folder]")).to_be_visible(visible=is_able)


# How far a page jumped, except within half a second of a click, a tap, or a key.
SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts.push(each.value);
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFT = 0.35


@LAYOUT
@pytest.mark.parametrize("visitor", ["alice", "phone"])
def test_nothing_jumps_while_101_files_arrive(visitor, films, request):
    """The panel appears above the list, and leaves once the new list is there."""
    alice = request.getfixturevalue(visitor)
    page = alice.page
    page.add_init_script(SHIFTS)
    alice.open(films.path)
    page.locator("#upload-files").set_input_files(
        [
            {
                "name": f"{'Long name ' * (number % 9)}{number}.txt",
                "mimeType": "",
                "buffer": b"x" * 5000,
            }
            for number in range(101)
        ]
    )
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 101")
    expect(page.locator("#uploads")).to_be_hidden()
    shifts = page.evaluate("window.shifts")
    assert sum(shifts) < MOST_SHIFT, shifts
    assert len([each for each in shifts if each > 0.01]) <= 1, shifts


@UPLOADS
def test_only_the_folder_into_which_files_arrive_is_not_called_empty(alice, films):
    alice.open(films.path)
    page, empty = alice.page, alice.page.locator(".empty")
    page.route("**/upload/", lambda _route: None)
    link(page, "Alps").click()
    expect(empty).to_contain_text("This folder is empty")
    pick(page, ("Slow.txt", b"hello"))
    expect(page.locator(".transfer")).to_contain_text("Slow.txt")
    expect(empty).to_be_hidden()
    for name in ("Bays", "Alps"):
        page.keyboard.press("u")
        is_open(page, films.name)
        link(page, name).click()
        is_open(page, name)
        expect(empty).to_be_visible(visible=name == "Bays")
    page.get_by_label("Cancel Slow.txt").click()
    expect(empty).to_be_visible()


@pytest.mark.browser("Scripts open a menu and an action bar that lack parts.")
def test_a_guest_opens_a_menu_and_selects(page, ferry, films):
    """The menu and the action bar of a guest lack parts that scripts know."""
    ferry.manage("shell", "-c", GUEST)
    gwen = Visitor(page, ferry.url, ferry)
    gwen.sign_in("gwen")
    gwen.open(films.path)
    expect(link(page, "Elms.txt")).to_be_visible()
    row(page, "Elms.txt").locator(".tick").check()
    expect(page.get_by_role("button", name="Download ZIP")).to_be_visible()
    menu = open_menu(page, "Elms.txt")
    expect(menu.get_by_text("Download", exact=True)).to_be_visible()


@UPLOADS
def test_an_upload_can_fail_be_retried_and_cancelled(alice, films, troubles):
    alice.open(films.path)
    page = alice.page
    page.route("**/upload/", lambda route: route.abort())
    pick(page, ("Late.txt", b"hello"), ("Never.txt", b"hello"))
    late, never = (page.locator(".transfer").filter(has_text=each) for each in ("Late", "Never"))
    expect(late).to_have_attribute("data-state", "failed")
    expect(never).to_have_attribute("data-state", "failed")
    expect(late).to_contain_text("The connection was lost")
    page.unroute("**/upload/")
    late.get_by_role("button", name="Retry").click()
    expect(link(page, "Late.txt")).to_be_visible()
    page.get_by_label("Cancel Never.txt").click()
    expect(page.locator("#uploads")).to_be_hidden()
    troubles.clear()


@UPLOADS
def test_a_late_upload_continues_after_signing_in_in_another_tab(alice, films, ferry):
    alice.open(films.path)
    page = alice.page
    page.context.clear_cookies(name=f"ferry_session_{ferry.port}")
    pick(page, ("Late.txt", b"hello"))
    late = page.locator(".transfer").filter(has_text="Late.txt")
    expect(late).to_contain_text("Sign in again in another tab")
    Visitor(page.context.new_page(), ferry.url, ferry).sign_in()
    late.get_by_role("button", name="Retry").click()
    expect(link(page, "Late.txt")).to_be_visible()


def test_after_an_upload_the_back_button_returns_to_the_previous_page(alice, films):
    page = alice.page
    alice.open("/")
    link(page, films.name).click()
    is_open(page, films.name)
    pick(page, ("New.txt", b"hello"))
    expect(link(page, "New.txt")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(f"{alice.url}/")


@UPLOADS
def test_a_refusal_lost_with_the_connection_is_requested_again(alice, films, troubles):
    alice.open(films.path)
    page = alice.page
    page.evaluate("document.body.setAttribute('hx-headers', '{\"X-CSRFToken\": \"old\"}')")
    page.route("**/upload/", lambda route: route.abort("connectionreset"), times=1)
    pick(page, ("Kept.txt", b"hello"))
    expect(link(page, "Kept.txt")).to_be_visible()
    troubles.clear()


@LAYOUT
def test_the_bar_of_an_upload_does_not_lag_behind_its_number(alice, films):
    alice.open(films.path)
    page = alice.page
    page.route("**/upload/", lambda _route: None)
    pick(page, ("Slow.bin", b"hello"))
    expect(page.locator("#uploads progress")).to_be_visible()
    dressed(page)
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
    [drawn] = filter(is_drawn_part, inside(root))
    style = session.send("CSS.getComputedStyleForNode", {"nodeId": drawn["nodeId"]})
    styles = {each["name"]: each["value"] for each in style["computedStyle"]}
    assert styles["transition-duration"] == "0s"
    page.get_by_label("Cancel Slow.bin").click()


def inside(node: dict) -> Iterator[dict]:
    """Yield the node and all nodes below it, including nodes that the browser adds to controls."""
    yield node
    for each in [*node.get("children", []), *node.get("shadowRoots", [])]:
        yield from inside(each)


def is_drawn_part(node: dict) -> bool:
    return "-webkit-progress-value" in node.get("attributes", [])


@UPLOADS
def test_uploads_out_of_sight_are_counted_below(alice, films):
    alice.open(films.path)
    page = alice.page
    page.route("**/upload/", lambda _route: None)
    pick(page, *((f"Up {number}.txt", b"hello") for number in range(14)))
    facts = page.locator("#uploads .sect p")
    expect(facts).to_have_text("0 of 14 uploaded · 0 bytes of 70 bytes")
    expect(page.locator("#uploads .transfer")).to_have_count(3)
    expect(page.locator("#uploads-more")).to_have_text("and 11 more")
    for number in range(11):
        page.get_by_label(f"Cancel Up {number}.txt").click()
    expect(facts).to_have_text("0 of 3 uploaded · 0 bytes of 15 bytes")
    expect(page.locator("#uploads .transfer bdi")).to_have_text(
        [f"Up {number}.txt" for number in (12, 13, 11)]
    )
    expect(page.locator("#uploads-more")).to_be_empty()
    page.get_by_role("button", name="Cancel all").click()
    expect(page.locator("#uploads")).to_be_hidden()


@UPLOADS
def test_a_lack_of_space_is_explained(alice, films):
    alice.open(films.path)
    reason = "There isn't enough space for this file."
    alice.page.route(
        "**/upload/", lambda route: route.fulfill(status=413, json={"ok": False, "reason": reason})
    )
    pick(alice.page, ("Huge.bin", b"hello"))
    expect(alice.page.locator(".transfer")).to_contain_text(reason)


@UPLOADS
def test_uploads_continue_while_another_page_is_open(alice, films, troubles):
    alice.open(films.path)
    page = alice.page
    page.route("**/upload/", lambda _route: None)
    pick(page, ("a.txt", b"hello"))
    expect(page.locator("#uploads progress")).to_be_visible()
    with page.context.expect_page() as other:
        page.get_by_role("link", name="Transfers").click()
    expect(page.locator("#toasts")).to_contain_text("Uploads continue here")
    expect(other.value.get_by_role("heading", level=1)).to_have_text("Transfers")
    other.value.close()
    page.locator("header.site").get_by_role("link", name="Files").click()
    is_open(page, "Files")
    expect(page.locator("#uploads progress")).to_be_visible()
    page.get_by_role("button", name="Cancel all").click()
    page.get_by_role("link", name="Transfers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Transfers")
    troubles.clear()


@UPLOADS
def test_uploads_continue_while_another_folder_is_open(alice, films):
    alice.open(films.path)
    page = alice.page
    held = hold(page, "**/upload/")
    with page.expect_request("**/upload/"):
        pick(page, ("Slow.txt", b"hello"))
    expect(page.locator(".transfer")).to_contain_text("Keep this tab open")
    link(page, "Alps").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alps")
    expect(page.locator(".transfer")).to_contain_text("Slow.txt")
    held[0].continue_()
    expect(page.locator("#toasts")).to_contain_text("Uploaded: 1")
    page.keyboard.press("u")
    expect(link(page, "Slow.txt")).to_be_visible()


# Slow responses

FOLDER = re.compile(r"/files/\w+/$")


def release(page: Page, route: Route) -> None:
    """Let a request continue, and wait until the page has its response."""
    with page.expect_event("requestfinished", lambda request: request == route.request):
        route.continue_()
    page.evaluate("new Promise(setTimeout)")


@LATE
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_slow_folders_the_last_one_opens(alice, films, order):
    alice.open(films.path)
    page = alice.page
    held = hold(page, FOLDER)
    for name in ("Alps", "Bays"):
        with page.expect_request(FOLDER):
            link(page, name).click()
    for number in order:
        release(page, held[number])
    is_open(page, "Bays")
    expect(page).to_have_url(held[1].request.url)


@LATE
def test_a_late_refresh_of_another_folder(alice, films):
    alice.open(films.path)
    page = alice.page
    held = hold(page, "**/listing/**")
    with page.expect_request("**/listing/**"):
        pick(page, ("Slow.txt", b"hello"))
    link(page, "Alps").click()
    is_open(page, "Alps")
    release(page, held[0])
    expect(page.locator("#summary")).to_have_text("Empty")


@LATE
def test_a_refresh_while_a_folder_opens(alice, films):
    """It keeps the row of the clicked link: without it, htmx couldn't update the meter."""
    alice.open(films.path)
    page = alice.page
    held = hold(page, FOLDER)
    with page.expect_request(FOLDER):
        link(page, "Alps").click()
    with page.expect_response("**/listing/**") as listing:
        page.evaluate("document.dispatchEvent(new Event('entries-changed'))")
    listing.value.finished()
    release(page, held[0])
    is_open(page, "Alps")


def paste_and_leave(page: Page, into: str = "Alps") -> list[Route]:
    """Cut a file, paste it into a folder inside, and go back up before the server answers."""
    held = hold(page, "**/move/")
    link(page, "Elms.txt").focus()
    page.keyboard.press("Control+x")
    link(page, into).click()
    is_open(page, into)
    with page.expect_request("**/move/"):
        page.keyboard.press("Control+v")
    page.locator("#up").click()
    return held


@pytest.mark.journey
@LATE
def test_a_late_move_says_so_in_the_open_folder(alice, films):
    alice.open(films.path)
    page = alice.page
    held = paste_and_leave(page)
    is_open(page, films.name)
    held[0].continue_()
    expect(page.locator("#toasts").get_by_role("button", name="Undo")).to_be_visible()
    expect(row(page, "Elms.txt")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text(films.name)


@LATE
def test_a_late_question_says_so_in_the_open_folder(alice, films, shelf):
    shelf.file(shelf.folder("Capes", inside=films), "Elms.txt")
    alice.open(films.path)
    page = alice.page
    held = paste_and_leave(page, into="Capes")
    is_open(page, films.name)
    held[0].continue_()
    expect(page.locator("#toasts .error")).to_have_text("1 name is taken")
    expect(row(page, "Elms.txt")).to_have_count(1)


@LATE
def test_a_late_step_of_a_closed_dialog_says_nothing(alice, films):
    alice.open(films.path)
    page = alice.page
    open_menu(page, "Elms.txt").get_by_text("Move or copy").click()
    dialog = page.get_by_role("dialog", name="Move or copy 1 item")
    held = hold(page, "**/move/**")
    with page.expect_request("**/move/**"):
        dialog.locator(".places").get_by_role("button", name="Alps").click()
    page.keyboard.press("Escape")
    link(page, "Alps").click()
    is_open(page, "Alps")
    with page.expect_response("**/listing/**"):
        held[0].continue_()
    assert page.locator("#toasts .toast").count() == 0


@LATE
@pytest.mark.parametrize(
    "fail",
    [Route.abort, lambda route: route.fulfill(status=502, body="<h1>Bad Gateway</h1>")],
    ids=["no response", "a proxy's page"],
)
def test_a_late_failure_says_so_in_the_open_folder(alice, films, troubles, fail):
    alice.open(films.path)
    page = alice.page
    held = paste_and_leave(page)
    is_open(page, films.name)
    fail(held[0])
    expect(page.locator("#toasts .error")).to_be_visible()
    troubles.clear()


# Modules that fail to load


def drop_a_file(page: Page) -> None:
    page.evaluate(
        """() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(["x"], "x.txt"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
        }"""
    )


def rename_by_key(page: Page) -> None:
    link(page, "Elms.txt").focus()
    page.keyboard.press("F2")


ON_DEMAND = {
    "previews/overlay": lambda page: link(page, "Elms.txt").click(),
    "files/entry-menu": lambda page: row(page, "Elms.txt").get_by_label("Actions for").click(),
    "files/renaming": rename_by_key,
    "files/uploads": lambda page: page.locator("a[data-upload]").first.click(),
    "files/uploads ": drop_a_file,
}


@MODULES
@pytest.mark.parametrize("module", ON_DEMAND)
def test_an_action_whose_code_fails_to_load_says_so_and_offers_to_reload(
    alice, films, troubles, module
):
    """Ferry is away, or an upgrade while the page was open has removed the module."""
    page, toast = alice.page, alice.page.locator("#toasts .toast")
    lost = re.compile(rf"/js/{module.strip()}\.")
    for lose in (lambda route: route.abort(), lambda route: route.fulfill(status=404)):
        alice.open(films.path)
        page.route(lost, lose)
        ON_DEMAND[module](page)
        expect(toast).to_contain_text("This page couldn't load what it needs.")
        page.unroute(lost)
        with page.expect_navigation():
            toast.get_by_role("button", name="Reload").click()
    if module == "previews/overlay":
        expect(page).to_have_url(re.compile("/view/$"))
    troubles.clear()


@MODULES
def test_a_preview_whose_code_fails_to_load_says_so(alice, films, shelf, troubles):
    shelf.file(films, "Tone.wav", b"RIFF")
    alice.open(films.path)
    alice.page.route(re.compile(r"/js/previews/audio\."), lambda route: route.abort())
    link(alice.page, "Tone.wav").click()
    expect(alice.page.locator("#overlay .toast")).to_contain_text("This page couldn't load")
    troubles.clear()


# Without scripts


@pytest.mark.journey
@pytest.mark.browser("Without scripts, the browser itself sends forms and files, and downloads.")
def test_everything_works_without_scripts(scriptless, films, shelf):
    page = scriptless.page
    scriptless.open(films.path)
    page.get_by_role("link", name="Size").click()
    expect(page.locator("th[aria-sort]")).to_have_text("Size")
    page.get_by_label("Filter this folder by name").fill("dunes")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#listing .entry-name")).to_have_count(1)
    assert names(page) == ["Dunes.2.mkv"]
    page.get_by_label("Actions for Dunes.2.mkv").click()
    page.get_by_label("New name for Dunes.2.mkv").fill("Sands.mkv")
    page.get_by_role("button", name="Rename").click()
    assert "Sands.mkv" in shelf.names(films)
    scriptless.open(films.path)
    page.get_by_role("link", name="New folder").first.click()
    page.get_by_label("Name").fill("Caves")
    page.get_by_role("button", name="Create folder").click()
    expect(row(page, "Caves")).to_have_count(1)
    page.get_by_role("link", name="Upload").first.click()
    page.get_by_label("Files").set_input_files(
        {"name": "Plain.txt", "mimeType": "text/plain", "buffer": b"hello"}
    )
    page.get_by_role("button", name="Upload").click()
    expect(row(page, "Plain.txt")).to_have_count(1)
    page.get_by_label("Select Caves").check()
    page.get_by_label("Select Plain.txt").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete 2 items?")
    page.get_by_role("button", name="Delete 2 items").click()
    expect(row(page, "Caves")).to_have_count(0)
    page.get_by_label("Select Clouds.mkv").check()
    page.get_by_role("button", name="Download ZIP").click()
    expect(page.get_by_role("main")).to_contain_text("Clouds.mkv")
    with page.expect_download():
        page.get_by_role("link", name="Download ZIP").click()


# Hostile names, and appearance


@LAYOUT
def test_a_name_with_dots_stays_on_one_line(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, "Reel." * 30 + "mkv")
    alice.page.set_viewport_size({"width": 820, "height": 900})
    alice.open(folder.path)
    lines = "(name) => name.offsetHeight / parseFloat(getComputedStyle(name).lineHeight)"
    assert alice.page.locator("#listing .entry-name").evaluate(lines) < 1.5


@LAYOUT
def test_a_long_name_keeps_its_extension_in_sight(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, "Reel." * 40 + "mkv")
    page = alice.page
    for view in ("list", "compact", "grid", "media"):
        alice.open(f"{folder.path}?view={view}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            name, extension = page.locator(".entry-name"), page.locator(".entry-name .ext")
            outer, inner = name.bounding_box(), extension.bounding_box()
            assert outer
            assert inner
            assert inner["width"] > 20, (view, width)
            assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1, (view, width)
            assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1, (view, width)


@LAYOUT
def test_the_filter_has_space_for_its_words(alice, films):
    page = alice.page
    alice.open(films.path)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        field = page.locator("#q").bounding_box()
        assert field
        assert field["width"] >= 170, width


@LAYOUT
def test_a_heading_that_takes_the_focus_has_no_ring(alice, films):
    page = alice.page
    alice.open(films.path)
    page.keyboard.press("Tab")
    page.locator("#title").focus()
    expect(page.locator("#title")).to_have_css("outline-style", "none")


@pytest.fixture(scope="module")
def harm(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    for name in [*HOSTILE, LONG]:
        shelf.file(folder, name)
    shelf.folder("m" * 200, inside=folder)
    return folder


@pytest.mark.browser("Only a browser would run a name as markup or as a script.")
@pytest.mark.parametrize("view", [pytest.param("list", marks=pytest.mark.journey), "grid", "media"])
def test_hostile_names_are_only_text(alice, harm, view):
    page = alice.page
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    alice.open(f"{harm.path}?view={view}")
    for name in HOSTILE:
        row(page, name).hover()
        menu = open_menu(page, name)
        expect(menu.locator(".menu-title")).to_have_text(name)
        menu.get_by_text("Rename").click()
        expect(page.get_by_label(f"New name for {name}")).to_be_focused()
        page.keyboard.press("Escape")
        open_menu(page, name).get_by_text("Delete").click()
        expect(page.get_by_role("dialog").locator(".delete-list")).to_contain_text(name)
        page.get_by_role("dialog").get_by_text("Keep").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.locator("#listing img, #listing script").count() <= len(HOSTILE)
    spoken = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap((element) =>
            [...element.attributes].filter(({ name }) => name.startsWith("hx-"))
                .map(({ value }) => value))"""
    )
    assert spoken
    assert not [value for value in spoken if "alert" in value or "7*7" in value]


@LAYOUT
@pytest.mark.parametrize("width", [390, 1440])
def test_a_long_title_takes_three_lines_at_most(alice, shelf, width):
    alice.page.set_viewport_size({"width": width, "height": 900})
    alice.open(shelf.folder("A name that " + "nobody would choose " * 11).path)
    title = alice.page.locator("#title")
    lines = title.evaluate("e => e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)")
    assert 1 < lines < 3.5


@LAYOUT
def test_no_listing_scrolls_sideways(alice, harm, crowd):
    page = alice.page
    faults = {}
    views = [f"{harm.path}?view={view}" for view in ("grid", "media")]
    for path in ["/", harm.path, *views, f"{harm.path}?q={'w' * 200}", crowd]:
        alice.open(path)
        dressed(page)
        faults[path] = []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 700})
            faults[path] += too_wide(page)
    assert {path: found for path, found in faults.items() if found} == {}


@LAYOUT
def test_no_menu_and_no_dialog_scrolls_sideways(alice, harm):
    page = alice.page
    faults = []

    def note(what: str) -> None:
        dressed(page)
        faults.extend(f"{what}, {each}" for each in too_wide(page))

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 700})
        alice.open(harm.path)
        open_menu(page, LONG)
        note("menu")
        page.locator("#entry-menu").get_by_text("Rename").click()
        expect(page.locator(".rename .input")).to_be_focused()
        note("rename")
        page.keyboard.press("Escape")
        open_menu(page, LONG).get_by_text("Delete").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        note("delete")
    assert faults == []


STATES: dict[str, Callable[[Page], None]] = {
    "listing": lambda page: None,
    "grid": lambda page: (
        page.goto(f"{page.url}?view=grid"),
        page.locator(".grid .tile").first.wait_for(),
    ),
    "by season and day": lambda page: (
        page.goto(f"{page.url}?view=media"),
        page.locator(".grid .section").first.wait_for(),
    ),
    "menu": lambda page: (
        page.locator(".more").first.click(),
        page.locator("#entry-menu").wait_for(),
    ),
    "menu of the folder": lambda page: page.locator("#folder-more").click(),
    "details": lambda page: (
        page.locator("#folder-more").click(),
        page.locator("#folder-menu").get_by_text("Details").click(),
        page.locator("#details[open]").wait_for(),
    ),
    "new folder": lambda page: page.evaluate("document.getElementById('new-folder').showModal()"),
    "selection": lambda page: page.locator("#listing .tick[name=entry]").first.evaluate(
        "box => box.click()"
    ),
    "delete": lambda page: (
        page.locator("#listing .tick[name=entry]").first.evaluate("box => box.click()"),
        page.locator("#delete-chosen").click(),
        page.locator("#delete[open]").wait_for(),
    ),
    "rename": lambda page: (
        page.locator(".more").first.click(),
        page.locator("[data-do=rename]").click(),
        page.locator(".rename :focus").wait_for(),
    ),
    "veil": lambda page: page.dispatch_event("#main", "dragenter", {"dataTransfer": carried(page)}),
}


@AXE
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_in_any_state(alice, harm, width):
    page = alice.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    faults = {}
    for name, reach in STATES.items():
        alice.open(harm.path)
        reach(page)
        faults[name] = faults_at(page, width)
    assert {name: found for name, found in faults.items() if found} == {}


@AXE
def test_axe_finds_nothing_on_other_listings_and_forms(alice, harm, crowd):
    faults = {}
    for path in [crowd, f"{harm.path}?q=nothing", f"{harm.path}new/", f"{harm.path}upload/"]:
        alice.open(path)
        faults[path] = faults_at(alice.page, 390, 1440)
    assert {path: found for path, found in faults.items() if found} == {}
