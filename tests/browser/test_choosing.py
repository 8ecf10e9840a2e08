"""Choose two of five files of a torrent, with mouse, keyboard, and without scripts: the whole
program, its worker, and a peer on loopback."""

import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.browser.targets import too_small
from tests.browser.test_sending import drop, paste
from tests.browser.waiting import PATIENCE_MS
from tests.running import Ferry, running
from tests.service.media.waiting import wait_until
from tests.swarm import Made, Seeder, seeder, torrent

pytestmark = pytest.mark.browser(
    "Boxes of folders follow their files, and the dialog opens once the peer has sent the list"
)
CONTEXT = "kept"
DONE_LINK = ".transfer-name a:not([data-details])"
CHOSEN = ["Episode 2.mkv", "Subtitles.srt"]
# At that rate, the transfer takes minutes.
SLOWLY = 16 * 1024


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    with running(tmp_path_factory.mktemp("ferry"), WEB_PROCESSES="1") as program:
        program.make_owner()
        yield program


@pytest.fixture
def seeds() -> Iterator[Seeder]:
    with seeder() as seeds:
        yield seeds


def season(size_bytes: int = 40_000) -> Made:
    """Return a torrent of five files in two folders that no other test has."""
    paths = [
        *(("Extras", "Cover.jpg"), ("Extras", "Notes.txt")),
        *(("Season", "Episode 1.mkv"), ("Season", "Episode 2.mkv"), ("Season", "Subtitles.srt")),
    ]
    files = {path: secrets.token_bytes(size_bytes) for path in paths}
    return torrent(f"Season {secrets.token_hex(4)}", files)


def given(made: Made, seeds: Seeder, folder: Path) -> str:
    """Have the peer seed the torrent. Return its magnet link."""
    seeds.give(made, folder)
    return made.magnet(peer=seeds.address)


def row(page: Page, title: str) -> Locator:
    return page.locator("#transfers .transfer").filter(has_text=title)


def dialog(page: Page) -> Locator:
    return page.locator("#choose-files[open] .choice")


def box(choice: Locator, name: str) -> Locator:
    return choice.get_by_role("checkbox", name=name)


def add(page: Page, text: str) -> None:
    paste(page, text)
    page.get_by_label("Choose files first").check()
    page.locator("#send").get_by_role("button", name="Add", exact=True).click()


def bring(page: Page, made: Made) -> Locator:
    """Drop the torrent file, and return the dialog, which opens by itself."""
    page.get_by_label("Choose files first").check()
    drop(page, f"{made.name}.torrent", made.content)
    expect(dialog(page)).to_contain_text(made.name)
    return dialog(page)


def has_arrived(visitor: Visitor, made: Made) -> None:
    """Check that only the chosen files are in Files."""
    page = visitor.page
    wait_until(lambda: is_done(visitor, made.name), PATIENCE_MS / 1000, pause_seconds=0.5)
    page.goto(visitor.url + row(page, made.name).locator(DONE_LINK).get_attribute("href"))
    names = page.locator("main .entry-name")
    expect(names).to_have_count(1)
    names.first.click()
    expect(names).to_have_count(len(CHOSEN))
    assert [each.get_attribute("title") for each in names.all()] == CHOSEN


def is_done(visitor: Visitor, title: str) -> bool:
    visitor.open("/transfers/")
    return row(visitor.page, title).locator(DONE_LINK).count() == 1


@pytest.mark.journey
def test_two_of_five_files_are_chosen_with_the_mouse(alice, seeds, tmp_path):
    made = season()
    page = alice.page
    alice.open("/transfers/")
    add(page, given(made, seeds, tmp_path))
    choice = dialog(page)
    expect(choice.locator("[data-sum]")).to_have_text("5 of 5 files, 200 KB of 200 KB")
    box(choice, "All files in Extras").uncheck()
    box(choice, "Episode 1.mkv").uncheck()
    expect(box(choice, "All files in Season")).to_have_js_property("indeterminate", True)
    expect(choice.locator("[data-sum]")).to_have_text("2 of 5 files, 80 KB of 200 KB")
    choice.get_by_role("button", name="Download chosen files").click()
    expect(page.locator("#toasts")).to_contain_text("2 files chosen")
    has_arrived(alice, made)


def test_two_of_five_files_are_chosen_with_the_keyboard(alice, seeds, tmp_path):
    made = season()
    page = alice.page
    alice.open("/add/")
    add(page, given(made, seeds, tmp_path))
    page.wait_for_url("**/transfers/?choose=*")
    choice = dialog(page)
    expect(choice).to_be_visible(timeout=PATIENCE_MS)
    keys = page.keyboard
    expect(page.locator("#choose-files-title")).to_be_focused()
    # The field, three buttons, a folder's box, the folder, its two files, and the next box.
    for _ in range(3):
        keys.press("Tab")
    expect(choice.get_by_role("link", name="None")).to_be_focused()
    keys.press("Enter")
    expect(choice.locator("[data-sum]")).to_have_text("0 of 5 files, 0 bytes of 200 KB")
    for _ in range(6):
        keys.press("Tab")
    expect(box(choice, "All files in Season")).to_be_focused()
    keys.press("Space")
    for _ in range(2):
        keys.press("Tab")
    expect(box(choice, "Episode 1.mkv")).to_be_focused()
    keys.press("Space")
    expect(choice.locator("[data-sum]")).to_have_text("2 of 5 files, 80 KB of 200 KB")
    for _ in range(4):
        keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#choose-files")).to_be_hidden()
    has_arrived(alice, made)


def test_two_of_five_files_are_chosen_without_scripts(scriptless, seeds, tmp_path):
    made = season()
    page = scriptless.page
    scriptless.open("/add/")
    page.locator("#omni").fill(given(made, seeds, tmp_path))
    page.get_by_label("Choose files first").check()
    page.locator("#send").get_by_role("button", name="Add", exact=True).click()

    def is_known() -> bool:
        scriptless.open("/transfers/")
        return row(page, made.name).get_by_role("link", name="Choose files").count() == 1

    wait_until(is_known, PATIENCE_MS / 1000, pause_seconds=0.5)
    row(page, made.name).get_by_role("link", name="Choose files").click()
    page.get_by_role("link", name="None").click()
    page.get_by_role("button", name="Download chosen files").click()
    expect(page.get_by_role("alert")).to_have_text("Choose at least one file.")
    for name in CHOSEN:
        box(page.locator(".choice"), name).check()
    page.get_by_role("button", name="Download chosen files").click()
    expect(page.locator("#toasts")).to_contain_text("2 files chosen")
    has_arrived(scriptless, made)


def choice_under_way(visitor: Visitor, made: Made, magnet: str) -> Locator:
    """Add the torrent, and return the dialog with its files while it arrives."""
    page = visitor.page
    visitor.open("/transfers/")
    paste(page, magnet)
    page.locator("#send").get_by_role("button", name="Add", exact=True).click()
    coming = row(page, made.name)
    expect(coming).to_have_attribute("data-state", "downloading", timeout=PATIENCE_MS)
    coming.locator(".more").click()
    page.locator("#transfer-menu").get_by_role("link", name="Choose files").click()
    return dialog(page)


def test_the_choice_changes_while_the_torrent_arrives(alice, seeds, tmp_path):
    made = season()
    seeds.limit_upload(SLOWLY)
    page = alice.page
    choice = choice_under_way(alice, made, given(made, seeds, tmp_path))
    expect(choice.locator("[data-percent]", has_text=re.compile(r"[1-9]"))).not_to_have_count(0)
    choice.get_by_role("link", name="None").click()
    expect(choice.get_by_role("alert")).to_have_text("Choose at least one file.")
    # Each change is saved at once.
    for name in CHOSEN:
        box(choice, name).check()
    expect(page.locator("#toasts")).to_contain_text("2 files chosen")
    choice.get_by_role("link", name="Close").click()
    expect(page.locator("#choose-files")).to_be_hidden()
    seeds.limit_upload(0)
    has_arrived(alice, made)


def test_a_change_that_is_not_saved_is_undone_and_the_dialog_says_so(
    alice, seeds, tmp_path, troubles
):
    made = season(400_000)
    seeds.limit_upload(SLOWLY)
    page = alice.page
    choice = choice_under_way(alice, made, given(made, seeds, tmp_path))
    film = box(choice, "Episode 1.mkv")
    page.route("**/files/", lambda route: route.abort())
    film.click()
    expect(choice.get_by_role("alert")).to_have_text(
        "Can't reach Ferry. Nothing on this page has changed."
    )
    expect(film).to_be_checked()
    expect(choice.get_by_role("status")).to_contain_text("5 of 5 files")
    expect(choice.get_by_text("Saved")).to_be_hidden()
    page.unroute("**/files/")
    film.uncheck()
    expect(choice.get_by_text("Saved")).to_be_visible()
    expect(choice.get_by_role("alert")).to_have_count(0)
    expect(film).not_to_be_checked()
    page.route("**/files/", lambda route: route.abort())
    box(choice, "Episode 2.mkv").click()
    expect(choice.get_by_role("alert")).to_be_visible()
    expect(box(choice, "Episode 2.mkv")).to_be_checked()
    expect(film).not_to_be_checked()
    expect(choice.get_by_text("Saved")).to_be_hidden()
    troubles.clear()


@pytest.mark.browser("Only layout shows what the filter leaves, and whether a finger hits it")
def test_a_filter_narrows_what_the_buttons_and_boxes_change(alice):
    page = alice.page
    alice.open("/transfers/")
    choice = bring(page, season())
    choice.get_by_role("link", name="None").click()
    choice.get_by_role("searchbox").fill("EPISODE")
    expect(choice.get_by_role("checkbox")).to_have_count(3)
    choice.get_by_role("link", name="All", exact=True).click()
    choice.get_by_role("searchbox").fill("extras")
    expect(choice.get_by_role("checkbox")).to_have_count(3)
    box(choice, "All files in Extras").check()
    choice.get_by_role("searchbox").press("Enter")
    choice.get_by_role("searchbox").fill("nothing")
    expect(choice.get_by_text("No file is called that.")).to_be_visible()
    choice.get_by_role("searchbox").fill("")
    expect(choice.locator("[data-sum]")).to_contain_text("4 of 5 files")
    choice.get_by_role("link", name="Only films").click()
    expect(choice.locator("[data-sum]")).to_contain_text("2 of 5 files")


@pytest.mark.browser("The browser says why a form isn't sent, and a dialog gives the focus back")
def test_a_dialog_without_a_choice_stays_and_can_be_opened_again(alice):
    made = season()
    page = alice.page
    alice.open("/transfers/")
    choice = bring(page, made)
    choice.get_by_role("link", name="None").click()
    send = choice.get_by_role("button", name="Download chosen files")
    send.click()
    assert send.evaluate("button => button.validationMessage") == "Choose at least one file."
    expect(choice).to_be_visible()
    page.keyboard.press("Escape")
    expect(choice).to_be_hidden()
    waiting = row(page, made.name)
    expect(waiting.locator(".state")).to_have_text("Waiting for your choice")
    waiting.get_by_role("link", name="Choose files").click()
    expect(choice).to_be_visible()
    assert faults_at(page, 390, 1440) == []


def test_on_a_phone_the_dialog_is_usable(phone):
    phone.open("/transfers/")
    phone.page.locator("#omni").tap()
    choice = bring(phone.page, season())
    assert too_small(phone.page) == []
    assert faults_at(phone.page, 320, 390) == []
    expect(choice.get_by_role("button", name="Download chosen files")).to_be_in_viewport()
