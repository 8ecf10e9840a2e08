"""Pause, continue, order, select, filter, and sort on the Transfers screen, with Ferry's own
service and worker."""

import re
import secrets
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.browser.shelf import Shelf
from tests.browser.targets import too_small
from tests.browser.test_files import GUEST
from tests.browser.touches import resting_on
from tests.browser.waiting import PATIENCE_MS
from tests.running import Ferry, running
from tests.service.media.waiting import wait_until

SELECTING = pytest.mark.browser("Clicks, touches, and keys choose rows")
DRAGGING = pytest.mark.browser("The browser drags and drops rows")
pytestmark = pytest.mark.browser("Scripts act on rows that stay on the page while it polls")
CONTEXT = "kept"
TORRENT = b"d8:announce3:udp4:infod6:lengthi%de4:name%d:%b12:piece lengthi16384e6:pieces20:%bee"
UNDER_WAY = re.compile("downloading|stalled")
NAMES = ("Alps", "Bays", "Cliffs", "Dunes", "Elms", "Fjord")


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """Run a Ferry without peers, and with one slot."""
    folder = tmp_path_factory.mktemp("ferry")
    settings = {"TORRENT_NETWORK": "loopback", "ACTIVE_TRANSFERS": "1"}
    with running(folder, WEB_PROCESSES="2", **settings) as program:
        program.make_owner()
        yield program


def torrent(name: str, size_bytes: int) -> bytes:
    pieces = secrets.token_hex(10).encode()
    return TORRENT % (size_bytes, len(name), name.encode(), pieces)


def add(shelf: Shelf, *names: str) -> dict[str, str]:
    """Add torrents, the largest first. Pause them, and return their keys by name."""
    for size_bytes, name in zip(range(16_000, 0, -1_000), names, strict=False):
        files = {"file": (f"{name}.torrent", torrent(name, size_bytes))}
        shelf.post("/transfers/send/", files=files)
    rows = re.compile(
        r'<li class="transfer[^>]*id="(\w+)" data-state="(\w+)".*?<bdi>(.*?)</bdi>', re.DOTALL
    )
    keys: dict[str, str] = {}

    def are_paused() -> bool:
        shelf.post("/transfers/change/?act=pause&all=whole")
        found = rows.findall(shelf.get("/transfers/"))
        keys.update({name: key for key, state, name in found if state == "stopped"})
        return keys.keys() >= set(names)

    wait_until(are_paused, PATIENCE_MS / 1000, pause_seconds=0.3)
    return keys


@pytest.fixture
def films(shelf: Shelf) -> Iterator[dict[str, str]]:
    yield add(shelf, *NAMES)
    shelf.post("/transfers/cancel/", {"all": "1", "confirmed": "1"})


def row(page: Page, name: str) -> Locator:
    return page.locator("#transfers .transfer").filter(has_text=name)


def has_order(page: Page, *names: str) -> None:
    expect(page.locator("#active .transfer-name")).to_have_text(list(names))


def chosen(page: Page) -> Locator:
    return page.locator(".selection-count strong")


def said(page: Page, words: str) -> None:
    expect(page.locator("#toasts").get_by_text(words)).to_be_visible()


def state(page: Page, name: str, expected: str | re.Pattern[str]) -> None:
    expect(row(page, name)).to_have_attribute("data-state", expected)


# Pause and continue


@pytest.mark.journey
def test_one_continues_and_is_paused_again(alice, films):
    alice.open("/transfers/")
    page = alice.page
    bays = row(page, "Bays")
    expect(bays.locator(".facts")).to_contain_text("Paused")
    expect(bays.locator(".facts")).to_contain_text("keeps 15 KB of space reserved")
    bays.get_by_label("Continue Bays").click()
    said(page, "Transfer continues")
    state(page, "Bays", UNDER_WAY)
    has_order(page, "Bays", "Alps", "Cliffs", "Dunes", "Elms", "Fjord")
    bays.get_by_label("Pause Bays").click()
    said(page, "Transfer paused")
    state(page, "Bays", "stopped")
    has_order(page, *NAMES)
    expect(bays.get_by_label("Continue Bays")).to_be_focused()


def test_a_paused_transfer_frees_its_slot_for_the_next_one(alice, films):
    alice.open("/transfers/")
    page = alice.page
    for name in ("Alps", "Bays"):
        row(page, name).get_by_label(f"Continue {name}").click()
        expect(row(page, name).get_by_label(f"Pause {name}")).to_be_visible()
    state(page, "Alps", UNDER_WAY)
    row(page, "Alps").get_by_label("Pause Alps").click()
    state(page, "Bays", UNDER_WAY)


@pytest.mark.journey
def test_all_continue_and_are_paused_from_the_head_of_the_page(alice, films):
    alice.open("/transfers/")
    page = alice.page
    pause, resume = (page.get_by_label(words) for words in ("Pause all", "Continue all"))
    expect(pause).to_be_hidden()
    resume.click()
    said(page, "6 transfers continue")
    expect(page.locator("#active [data-state=stopped]")).to_have_count(0)
    expect(resume).to_be_hidden()
    # A button that a key pressed stays while it has the focus.
    pause.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#active [data-state=stopped]")).to_have_count(6)
    expect(pause).to_be_focused()
    page.keyboard.press("Tab")
    expect(resume).to_be_focused()
    expect(pause).to_be_hidden()


# Order


def test_the_menu_changes_the_order(alice, films):
    alice.open("/transfers/")
    page = alice.page
    for name, action, expected in (
        ("Dunes", "Move to top", "DABCEF"),
        ("Alps", "Move down", "DBACEF"),
        ("Elms", "Move up", "DBAECF"),
        ("Dunes", "Move to bottom", "BAECFD"),
    ):
        row(page, name).locator(".more").click()
        page.get_by_role("button", name=action).click()
        has_order(page, *[next(each for each in NAMES if each[0] == mark) for mark in expected])
        expect(row(page, name).locator(".more")).to_be_focused()


def open_with_scripts(visitor: Visitor, query: str = "") -> Page:
    """Open the page, and wait for the scripts that come after it: no drag is held for them."""
    visitor.open(f"/transfers/{query}")
    visitor.page.wait_for_load_state("networkidle")
    return visitor.page


def drag(page: Page, name: str, to: str, *, is_below: bool = False) -> None:
    box = row(page, to).bounding_box()
    target = {"x": 40, "y": box["height"] - 3 if is_below else 3}
    row(page, name).locator(".transfer-name").drag_to(row(page, to), target_position=target)


@DRAGGING
@pytest.mark.journey
def test_rows_are_dragged_to_another_place(alice, films):
    page = open_with_scripts(alice)
    drag(page, "Elms", "Bays")
    has_order(page, "Alps", "Elms", "Bays", "Cliffs", "Dunes", "Fjord")
    drag(page, "Alps", "Fjord", is_below=True)
    has_order(page, "Elms", "Bays", "Cliffs", "Dunes", "Fjord", "Alps")
    row(page, "Bays").hover()
    page.get_by_label("Select Bays").check()
    page.get_by_label("Select Dunes").check()
    drag(page, "Dunes", "Elms")
    has_order(page, "Bays", "Dunes", "Elms", "Cliffs", "Fjord", "Alps")
    expect(chosen(page)).to_have_text("2 selected")
    page.reload()
    has_order(page, "Bays", "Dunes", "Elms", "Cliffs", "Fjord", "Alps")


@DRAGGING
def test_nothing_is_dragged_in_another_order(alice, shelf, films):
    more = [f"Grove {number}" for number in range(4)]
    add(shelf, *more)
    page = open_with_scripts(alice, "?sort=size")
    before = page.locator("#active .transfer-name").all_inner_texts()
    drag(page, "Alps", "Fjord")
    expect(page.locator("#toasts .toast")).to_have_count(0)
    assert page.locator("#active .transfer-name").all_inner_texts() == before


@DRAGGING
def test_no_row_moves_while_one_is_dragged(alice, shelf, films):
    page = open_with_scripts(alice)
    start, end = (row(page, name).bounding_box() for name in ("Fjord", "Bays"))
    page.mouse.move(start["x"] + 40, start["y"] + 10)
    page.mouse.down()
    for pixels in (5, 4):
        page.mouse.move(end["x"] + 40, end["y"] + pixels)
    with page.expect_response(lambda answer: "/list/" in answer.url and answer.status == 200):
        shelf.post(f"/transfers/change/?act=first&entry={films['Dunes']}")
    has_order(page, *NAMES)
    expect(row(page, "Bays")).to_have_attribute("data-drop", "before")
    page.mouse.up()
    has_order(page, "Dunes", "Alps", "Fjord", "Bays", "Cliffs", "Elms")
    expect(page.locator("[data-drop]")).to_have_count(0)


# Selecting


@SELECTING
@pytest.mark.journey
def test_rows_are_selected_by_clicks_and_acted_on_together(alice, films):
    alice.open("/transfers/")
    page = alice.page
    row(page, "Bays").hover()
    page.get_by_label("Select Bays").check()
    page.get_by_label("Select Elms").click(modifiers=["Shift"])
    expect(chosen(page)).to_have_text("4 selected")
    row(page, "Cliffs").locator(".transfer-name").click(modifiers=["Control"])
    expect(chosen(page)).to_have_text("3 selected")
    row(page, "Alps").locator(".transfer-name").click(modifiers=["Control"])
    row(page, "Bays").locator(".transfer-name").click(modifiers=["Shift"])
    expect(chosen(page)).to_have_text("4 selected")
    bar = page.get_by_role("group", name="Selection")
    expect(bar.get_by_role("button", name="Pause")).to_be_hidden()
    expect(bar.get_by_role("button", name="Retry")).to_be_hidden()
    bar.get_by_role("button", name="Last").click()
    has_order(page, "Cliffs", "Fjord", "Alps", "Bays", "Dunes", "Elms")
    bar.get_by_role("button", name="Continue").click()
    said(page, "4 transfers continue")
    state(page, "Cliffs", "stopped")
    expect(bar.get_by_role("button", name="Pause")).to_be_visible()
    expect(bar.get_by_role("button", name="Continue")).to_be_hidden()
    bar.get_by_role("button", name="Pause").click()
    expect(page.locator("#active [data-state=stopped]")).to_have_count(6)
    expect(chosen(page)).to_have_text("4 selected")
    assert faults_at(page, 320, 1440) == []
    page.get_by_label("Clear selection").click()
    expect(bar).to_be_hidden()


@SELECTING
def test_a_selection_survives_the_rows_that_change_below_it(alice, shelf, films):
    alice.open("/transfers/")
    page = alice.page
    row(page, "Bays").hover()
    page.get_by_label("Select Bays").check()
    shelf.post(f"/transfers/change/?act=resume&entry={films['Bays']}")
    shelf.post(f"/transfers/change/?act=last&entry={films['Alps']}")
    state(page, "Bays", UNDER_WAY)
    expect(page.locator("#active .transfer-name").last).to_have_text("Alps")
    expect(page.get_by_label("Select Bays")).to_be_checked()
    expect(page.get_by_label("Select Alps")).not_to_be_checked()
    shelf.post("/transfers/cancel/", {"entry": films["Bays"], "confirmed": "1"})
    expect(row(page, "Bays")).to_have_count(0)
    expect(page.locator(".actionbar")).to_be_hidden()


@SELECTING
def test_several_are_canceled_with_one_question_and_one_undo(alice, films):
    alice.open("/transfers/")
    page = alice.page
    for name in ("Alps", "Cliffs", "Fjord"):
        row(page, name).hover()
        page.get_by_label(f"Select {name}").check()
    page.locator("#cancel-chosen").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 3 transfers?")
    expect(dialog.get_by_text("Keep transfers")).to_be_focused()
    assert faults_at(page, 320, 1440) == []
    dialog.get_by_role("button", name="Cancel 3 transfers").click()
    has_order(page, "Bays", "Dunes", "Elms")
    expect(page.locator(".actionbar")).to_be_hidden()
    toast = page.locator("#toasts .toast").filter(has_text="3 transfers canceled")
    toast.get_by_role("button", name="Undo").click()
    has_order(page, *NAMES)
    expect(page.locator("#active [data-state=stopped]")).to_have_count(6)


@SELECTING
@pytest.mark.journey
def test_the_whole_list_by_keys(alice, films):
    alice.open("/transfers/")
    page, keys = alice.page, alice.page.keyboard
    expect(row(page, "Alps").locator(".tick")).to_be_attached()
    keys.press("j")
    expect(page.get_by_label("Select Alps")).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Space")
    expect(chosen(page)).to_have_text("1 selected")
    keys.press("Shift+ArrowDown")
    expect(chosen(page)).to_have_text("2 selected")
    keys.press("k")
    keys.press("x")
    expect(chosen(page)).to_have_text("1 selected")
    keys.press("Escape")
    expect(page.locator(".actionbar")).to_be_hidden()
    keys.press("p")
    state(page, "Bays", UNDER_WAY)
    expect(page.get_by_label("Select Bays")).to_be_focused()
    keys.press("p")
    state(page, "Bays", "stopped")
    keys.press("Delete")
    expect(page.get_by_role("dialog")).to_contain_text("Cancel this transfer?")
    keys.press("Escape")
    keys.press("Control+a")
    expect(chosen(page)).to_have_text("6 selected")
    keys.press("p")
    expect(page.locator("#active [data-state=stopped]")).to_have_count(0)
    keys.press("p")
    expect(page.locator("#active [data-state=stopped]")).to_have_count(6)
    keys.press("Delete")
    expect(page.get_by_role("dialog")).to_contain_text("Cancel 6 transfers?")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    keys.press("Escape")
    keys.press("m")
    expect(page.locator("#transfer-menu")).to_be_visible()
    keys.press("Escape")
    keys.press("?")
    expect(page.locator("#keys")).to_contain_text("Pause or continue")


@SELECTING
def test_links_are_copied_together(context, alice, films):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    alice.open("/transfers/")
    page = alice.page
    row(page, "Alps").hover()
    page.get_by_label("Select Alps").check()
    page.get_by_label("Select Bays").check()
    page.get_by_role("button", name="Copy links").click()
    said(page, "Links copied")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert [re.sub("btih:.*&", "btih:&", line) for line in lines] == [
        f"magnet:?xt=urn:btih:&dn={name}" for name in ("Alps", "Bays")
    ]


@SELECTING
@pytest.mark.journey
def test_rows_are_selected_by_touch(phone, films):
    phone.open("/transfers/")
    page = phone.page
    # The script of fingers comes last, and buttons that appear move the rows.
    page.wait_for_load_state("networkidle")
    with resting_on(row(page, "Bays")):
        expect(chosen(page)).to_have_text("1 selected")
    expect(chosen(page)).to_have_text("1 selected")
    row(page, "Dunes").locator(".facts").tap()
    expect(chosen(page)).to_have_text("2 selected")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    assert too_small(page) == []
    # The head of the page has buttons for all transfers.
    bar = page.get_by_role("group", name="Selection")
    bar.get_by_role("button", name="Continue").tap()
    said(page, "2 transfers continue")
    bar.get_by_role("button", name="Pause").tap()
    page.get_by_role("button", name="Select all").tap()
    expect(chosen(page)).to_have_text("6 selected")
    page.get_by_label("Clear selection").tap()
    expect(page.locator(".actionbar")).to_be_hidden()
    page.get_by_label("Select items").tap()
    row(page, "Elms").tap()
    page.get_by_role("button", name="First", exact=True).tap()
    expect(page.locator("#active .transfer-name").first).to_have_text("Elms")


@SELECTING
def test_one_row_is_paused_and_moved_by_touch(phone, films):
    phone.open("/transfers/")
    page = phone.page
    row(page, "Dunes").locator(".more").tap()
    page.get_by_role("button", name="Move to top").tap()
    expect(page.locator("#active .transfer-name").first).to_have_text("Dunes")
    row(page, "Dunes").get_by_label("Continue Dunes").tap()
    state(page, "Dunes", UNDER_WAY)
    row(page, "Dunes").get_by_label("Pause Dunes").tap()
    state(page, "Dunes", "stopped")
    row(page, "Alps").locator(".more").tap()
    page.locator("#transfer-menu").get_by_role("button", name="Select").tap()
    expect(chosen(page)).to_have_text("1 selected")


# A slow network

SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}


def open_slowly(visitor: Visitor) -> Page:
    """Open the page as a phone in a train does for the first time."""
    session = visitor.page.context.new_cdp_session(visitor.page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    session.send("Network.emulateNetworkConditions", SLOW)
    visitor.open("/transfers/")
    return visitor.page


@SELECTING
def test_the_first_click_works_on_a_slow_network(alice, films):
    page = open_slowly(alice)
    row(page, "Bays").locator(".more").click()
    page.get_by_role("button", name="Move to top").click()
    has_order(page, "Bays", "Alps", "Cliffs", "Dunes", "Elms", "Fjord")
    open_slowly(alice)
    row(page, "Cliffs").hover()
    page.get_by_label("Select Cliffs").click()
    page.get_by_label("Select Elms").click(modifiers=["Shift"])
    expect(chosen(page)).to_have_text("3 selected")
    expect(page.get_by_label("Select Dunes")).to_be_checked()


@SELECTING
def test_the_first_keys_work_on_a_slow_network(alice, films, many):
    page = open_slowly(alice)
    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    expect(page.get_by_label("Select Bays")).to_be_checked()
    expect(chosen(page)).to_have_text("1 selected")
    open_slowly(alice)
    page.keyboard.press("Control+a")
    expect(chosen(page)).to_have_text("10 selected")
    open_slowly(alice)
    page.keyboard.press("f")
    page.keyboard.type("grove")
    has_order(page, *many)


@SELECTING
def test_a_finger_that_rests_selects_on_a_slow_network(phone, films):
    page = open_slowly(phone)
    with resting_on(row(page, "Bays")):
        expect(chosen(page)).to_have_text("1 selected")
    expect(page.get_by_label("Select Bays")).to_be_checked()


@SELECTING
@pytest.mark.journey
def test_the_first_tap_works_on_a_slow_network(phone, films):
    page = open_slowly(phone)
    page.get_by_label("Select items").tap()
    row(page, "Bays").locator(".facts").tap()
    expect(chosen(page)).to_have_text("1 selected")
    open_slowly(phone)
    row(page, "Elms").locator(".more").tap()
    expect(page.locator("#transfer-menu")).to_be_visible()


# Filter and sort


@pytest.fixture
def many(shelf: Shelf, films: dict[str, str]) -> list[str]:
    names = [f"Grove {number}" for number in range(4)]
    add(shelf, *names)
    return names


def test_the_list_is_filtered_while_people_type(alice, shelf, films, many):
    alice.open("/transfers/")
    page = alice.page
    page.wait_for_load_state("networkidle")
    page.keyboard.press("f")
    page.keyboard.type("grove")
    has_order(page, *many)
    expect(page).to_have_url(re.compile(r"/transfers/\?q=grove$"))
    expect(page.locator("#matches")).to_contain_text("4 of 10")
    expect(page.locator("#said")).to_have_text("4 of 10")
    page.get_by_label("Order").select_option("Smallest first")
    has_order(page, *many[::-1])
    expect(page).to_have_url(re.compile("q=grove&sort=size$"))
    shelf.post(f"/transfers/change/?act=resume&entry={films['Alps']}")
    page.get_by_label("State").select_option("Paused")
    page.get_by_label("Filter transfers by name").fill("")
    expect(page.locator("#matches")).to_contain_text("9 of 10")
    assert faults_at(page, 320, 1440) == []
    page.reload()
    expect(page.locator("#active .transfer")).to_have_count(9)
    expect(page.get_by_label("State")).to_have_value("paused")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("#active .transfer")).to_have_count(10)
    expect(page).to_have_url(f"{alice.url}/transfers/")
    page.get_by_label("Filter transfers by name").fill("nothing")
    expect(page.locator("#matches")).to_contain_text("No transfers match.")
    page.keyboard.press("Escape")
    expect(page.locator("#active .transfer")).to_have_count(10)


def test_a_filtered_list_follows_what_happens(alice, shelf, films, many):
    alice.open("/transfers/?state=paused&q=s")
    page = alice.page
    has_order(page, "Alps", "Bays", "Cliffs", "Dunes", "Elms")
    shelf.post(f"/transfers/change/?act=resume&entry={films['Cliffs']}")
    has_order(page, "Alps", "Bays", "Dunes", "Elms")
    shelf.post(f"/transfers/change/?act=pause&entry={films['Cliffs']}")
    has_order(page, "Alps", "Bays", "Cliffs", "Dunes", "Elms")


@SELECTING
def test_all_that_match_are_changed(alice, films, many):
    alice.open("/transfers/")
    page = alice.page
    page.get_by_label("Filter transfers by name").fill("grove")
    has_order(page, *many)
    row(page, many[0]).hover()
    page.get_by_label(f"Select {many[0]}").check()
    page.get_by_role("button", name="Select all").click()
    expect(chosen(page)).to_have_text("4 selected")
    page.get_by_role("button", name="First", exact=True).click()
    said(page, "Moved to the top of the queue")
    page.get_by_label("Filter transfers by name").fill("")
    has_order(page, *many, *NAMES)
    expect(chosen(page)).to_have_text("4 selected")


# Without scripts, and by role


def test_everything_works_without_scripts(scriptless, films, many):
    scriptless.open("/transfers/")
    page = scriptless.page
    page.get_by_label("Filter transfers by name").fill("s")
    page.get_by_label("Order").select_option("Smallest first")
    page.get_by_role("button", name="Show", exact=True).click()
    has_order(page, "Elms", "Dunes", "Cliffs", "Bays", "Alps")
    row(page, "Bays").get_by_label("Continue Bays").click()
    expect(page.locator("#toasts")).to_contain_text("Transfer continues")
    expect(page.locator("#matches")).to_contain_text("5 of 10")
    page.get_by_label("Select Bays").check()
    page.get_by_label("Select Dunes").check()
    page.get_by_role("button", name="Pause", exact=True).click()
    state(page, "Bays", "stopped")
    page.get_by_role("button", name="Continue all").click()
    expect(page.locator("#toasts")).to_contain_text("10 transfers continue")
    page.get_by_label("Select Alps").check()
    page.get_by_label("Select Elms").check()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel 2 transfers?")
    page.get_by_role("button", name="Cancel 2 transfers").click()
    expect(page.locator("form.banner")).to_contain_text("2 transfers canceled")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#active .transfer")).to_have_count(5)


def test_guests_see_and_filter_but_select_nothing(page, ferry, films, many):
    ferry.manage("shell", "-c", GUEST)
    guest = Visitor(page, ferry.url, ferry)
    guest.sign_in("gwen")
    guest.open("/transfers/")
    expect(page.locator("#active .transfer")).to_have_count(10)
    expect(page.locator(".tick, .pause, #entries, #pause-all")).to_have_count(0)
    # No button appears for guests once the script of rows has come.
    page.wait_for_load_state("networkidle")
    page.keyboard.press("j")
    expect(row(page, "Alps").locator(".more")).to_be_focused()
    page.keyboard.press("Control+a")
    expect(page.locator(".actionbar")).to_have_count(0)
    page.get_by_label("Filter transfers by name").fill("alps")
    has_order(page, "Alps")
