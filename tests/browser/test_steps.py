"""The steps of everyday actions, counted at a desktop and on a phone.

The table in docs/performance.md has the same numbers, and those of qBittorrent's page."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.waiting import PATIENCE_MS
from tests.running import Ferry, running
from tests.swarm import Made, Seeder, seeder, torrent

pytestmark = pytest.mark.browser("Only a browser shows how many presses an action takes")
CONTEXT = "kept"
NAMES = ("Alps", "Bays", "Cliffs", "Dunes", "Elms", "Fjord", "Grove", "Heath", "Isle")
ROW = re.compile(r"^\| ([^|]+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
PAGE = (settings.BASE_DIR / "docs/performance.md").read_text()
TABLE = {name: tuple(map(int, counts)) for name, *counts in ROW.findall(PAGE)}

Action = Callable[["Steps"], None]
ACTIONS: dict[str, Action] = {}


def action(name: str) -> Callable[[Action], Action]:
    """Register how people do what the table calls by this name, and see that it's done."""

    def register(act: Action) -> Action:
        ACTIONS[name] = act
        return act

    return register


@dataclass
class Steps:
    """A person whose steps are counted: presses of a button or finger, and fields filled in."""

    page: Page
    is_phone: bool
    count: int = 0

    def press(self, target: Locator) -> None:
        self.count += 1
        if self.is_phone:
            target.tap()
        else:
            target.click()

    def fill(self, field: Locator, text: str) -> None:
        self.count += 1
        field.fill(text)

    def pick(self, field: Locator, value: str) -> None:
        self.count += 1
        field.select_option(value)

    def row(self, name: str) -> Locator:
        return self.page.locator("#transfers .transfer").filter(has_text=name)

    def menu(self, name: str, item: str) -> None:
        """Open the menu of a row, and choose an item."""
        self.press(self.row(name).locator(".more"))
        self.press(self.page.locator("#transfer-menu").get_by_text(item, exact=True))

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def said(self, words: str) -> None:
        expect(self.page.locator("#toasts")).to_contain_text(words)

    def has_state(self, name: str, state: str | re.Pattern[str]) -> None:
        expect(self.row(name)).to_have_attribute("data-state", state)


UNDER_WAY = re.compile("queued|downloading|stalled")


# Adding


@action("add a link")
def add_a_link(steps: Steps) -> None:
    steps.fill(steps.page.locator("#omni"), torrent("Linked", b"linked").magnet())
    steps.press(steps.button("Add"))
    expect(steps.page.locator("#results, .results")).to_be_visible()


@action("add a link to another folder")
def add_to_a_folder(steps: Steps) -> None:
    steps.fill(steps.page.locator("#omni"), torrent("Foldered", b"foldered").magnet())
    folder = steps.page.get_by_label("Destination").locator("option").nth(1)
    steps.pick(steps.page.get_by_label("Destination"), folder.get_attribute("value") or "")
    steps.press(steps.button("Add"))
    expect(steps.page.locator("#results, .results")).to_be_visible()


def unfold(steps: Steps) -> None:
    """On a phone, the box shows its buttons once it is touched."""
    if steps.is_phone:
        steps.press(steps.page.locator("#omni"))


def upload(steps: Steps, made: Made) -> None:
    with steps.page.expect_file_chooser() as chooser:
        steps.press(steps.page.locator("#send").get_by_text("Upload files"))
    steps.count += 1
    file = {"name": "x.torrent", "mimeType": "application/x-bittorrent", "buffer": made.content}
    chooser.value.set_files([file])


@action("add a torrent file")
def add_a_file(steps: Steps) -> None:
    unfold(steps)
    upload(steps, torrent("Uploaded", b"uploaded"))
    expect(steps.row("Uploaded")).to_be_visible()


@action("leave out a file before a torrent starts")
def choose_first(steps: Steps) -> None:
    unfold(steps)
    steps.press(steps.page.get_by_label("Choose files first"))
    upload(steps, season("Chosen"))
    choice = steps.page.locator("#choose-files[open]")
    steps.press(choice.get_by_role("checkbox", name="Notes.txt"))
    steps.press(choice.get_by_role("button", name="Download chosen files"))
    steps.said("2 files chosen")


def season(name: str) -> Made:
    names = ("Episode 1.mkv", "Episode 2.mkv", "Notes.txt")
    return torrent(name, {(each,): f"{name} {each}".encode() for each in names})


# One transfer


@action("leave out a file of a running torrent")
def leave_out_a_file(steps: Steps) -> None:
    steps.menu("Season", "Choose files")
    steps.press(steps.page.locator("#choose-files").get_by_role("checkbox", name="Notes.txt"))
    steps.said("2 files chosen")


@action("pause a transfer")
def pause(steps: Steps) -> None:
    change(steps, "Alps", "Pause")
    steps.has_state("Alps", "stopped")


@action("continue a transfer")
def resume(steps: Steps) -> None:
    change(steps, "Alps", "Continue")
    steps.has_state("Alps", UNDER_WAY)


def change(steps: Steps, name: str, act: str) -> None:
    if steps.is_phone:
        steps.menu(name, act)
    else:
        steps.press(steps.page.get_by_label(f"{act} {name}"))


@action("move a transfer to the top of the queue")
def move_first(steps: Steps) -> None:
    steps.menu("Elms", "Move to top")
    steps.said("Moved to the top of the queue")


@action("move a transfer to the end of the queue")
def move_last(steps: Steps) -> None:
    steps.menu("Elms", "Move to bottom")
    steps.said("Moved to the bottom of the queue")


@action("limit the download speed of a transfer")
def limit_one(steps: Steps) -> None:
    steps.menu("Bays", "Limits")
    steps.fill(steps.page.locator("#limits").get_by_label("Download speed"), "0.5")
    steps.press(steps.button("Save"))
    steps.said("Saved")


@action("limit the ratio of a transfer")
def limit_ratio(steps: Steps) -> None:
    steps.menu("Bays", "Limits")
    steps.fill(steps.page.locator("#limits").get_by_label("Share ratio"), "1.5")
    steps.press(steps.button("Save"))
    steps.said("Saved")


@action("see the files")
def see_files(steps: Steps) -> None:
    steps.menu("Season", "Choose files")
    expect(steps.page.locator("#choose-files")).to_contain_text("Episode 1.mkv")


@action("see the peers")
def see_peers(steps: Steps) -> None:
    steps.press(steps.row("Alps").get_by_role("link", name="Alps", exact=True))
    expect(steps.page.get_by_role("heading", name="Peers")).to_be_visible(timeout=PATIENCE_MS)


@action("see the trackers")
def see_trackers(steps: Steps) -> None:
    steps.press(steps.row("Alps").get_by_role("link", name="Alps", exact=True))
    expect(steps.page.get_by_role("heading", name="Trackers")).to_be_visible(timeout=PATIENCE_MS)


@action("copy the magnet link")
def copy_link(steps: Steps) -> None:
    steps.menu("Alps", "Copy link")
    steps.said("Link copied")


@action("cancel a transfer, and delete what has arrived")
def cancel(steps: Steps) -> None:
    if steps.is_phone:
        steps.menu("Cliffs", "Cancel transfer")
    else:
        steps.press(steps.page.get_by_label("Cancel Cliffs"))
    steps.press(steps.page.get_by_role("dialog").get_by_role("button", name="Cancel transfer"))
    expect(steps.row("Cliffs")).to_have_count(0)


# Finished transfers


@action("rename what arrived")
def rename(steps: Steps) -> None:
    steps.menu("Finished", "Rename")
    steps.fill(steps.page.get_by_label("New name"), "Renamed")
    steps.press(steps.button("Rename"))
    expect(steps.page.locator(".entry-name", has_text="Renamed")).to_be_visible()


@action("move what arrived to another folder")
def move(steps: Steps) -> None:
    steps.menu("Finished", "Move or copy")
    steps.press(steps.page.locator("#move-places").get_by_text("Shelf").first)
    steps.press(steps.button("Move here"))
    steps.said("Shelf")


@action("delete what arrived")
def delete(steps: Steps) -> None:
    steps.menu("Ready", "Delete files")
    steps.press(steps.page.locator("main .danger"))
    expect(steps.page.locator(".entry-name", has_text="Ready")).to_have_count(0)


@action("remove a finished transfer from the list")
def remove(steps: Steps) -> None:
    steps.menu("Ready", "Remove from list")
    expect(steps.row("Ready")).to_have_count(0)


# Several


@action("pause three transfers")
def pause_three(steps: Steps) -> None:
    if steps.is_phone:
        steps.press(steps.page.get_by_label("Select items"))
    for name in ("Dunes", "Fjord", "Grove"):
        steps.row(name).hover()
        steps.press(steps.page.get_by_label(f"Select {name}"))
    expect(steps.page.locator(".selection-count")).to_contain_text("3 selected")
    steps.press(steps.page.locator("#entries").get_by_role("button", name="Pause"))
    for name in ("Dunes", "Fjord", "Grove"):
        steps.has_state(name, "stopped")


@action("pause all")
def pause_all(steps: Steps) -> None:
    steps.press(steps.button("Pause all"))
    expect(steps.page.locator('#active [data-acts~="pause"]')).to_have_count(0)


@action("continue all")
def continue_all(steps: Steps) -> None:
    steps.press(steps.button("Continue all"))
    expect(steps.page.locator("#active [data-state=stopped]")).to_have_count(0)


@action("show only one state")
def filter_by_state(steps: Steps) -> None:
    steps.pick(steps.page.get_by_label("State"), "done")
    expect(steps.row("Alps")).to_have_count(0)


@action("show only one name")
def filter_by_name(steps: Steps) -> None:
    steps.fill(steps.page.locator("#q"), "bays")
    expect(steps.row("Alps")).to_have_count(0)


@action("sort by size")
def sort_by_size(steps: Steps) -> None:
    steps.pick(steps.page.get_by_label("Order"), "size")
    expect(steps.page).to_have_url(re.compile("sort=size"))


# Speeds


@action("limit the download speed of all")
def limit_all(steps: Steps) -> None:
    steps.press(steps.page.get_by_role("link", name="Limits", exact=True))
    field = steps.page.get_by_label("Download speed, in MB/s", exact=True)
    expect(field).to_be_focused()
    steps.fill(field, "25")
    steps.press(steps.page.locator("form", has=field).get_by_role("button", name="Save"))
    steps.said("Saved")


@action("switch to slow speeds")
def go_slow(steps: Steps) -> None:
    steps.press(steps.button("Slow speeds"))
    expect(steps.page.locator("#speed")).to_contain_text("Slow speeds apply")


@action("switch back")
def go_fast(steps: Steps) -> None:
    steps.press(steps.button("Switch back"))
    expect(steps.page.locator("#speed .banner")).to_have_count(0)


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """Run a Ferry in which no transfer waits for a slot."""
    settings = {"TORRENT_NETWORK": "loopback", "ACTIVE_TRANSFERS": "20"}
    with running(tmp_path_factory.mktemp("ferry"), WEB_PROCESSES="1", **settings) as program:
        program.make_owner()
        yield program


@pytest.fixture
def transfers(shelf: Shelf, tmp_path: Path) -> Iterator[None]:
    """Add eleven transfers, two of which finish, and a folder beside them."""
    folder = shelf.folder("Shelf")
    shelf.get("/")
    with seeder() as seeds:
        for made in (season("Finished"), torrent("Ready", b"ready")):
            add_seeded(shelf, seeds, made, tmp_path)
        tracked = {"announce": "http://127.0.0.1:50009/announce"}
        for made in (
            season("Season"),
            *(torrent(name, name.encode(), **tracked) for name in NAMES),
        ):
            shelf.post("/transfers/send/", files={"file": ("x.torrent", made.content)})
        yield
    shelf.post("/transfers/cancel/", {"all": "whole", "confirmed": "1"})
    shelf.delete(Folder("", "/files/0/", "", ""), folder.key)


def add_seeded(shelf: Shelf, seeds: Seeder, made: Made, folder: Path) -> None:
    seeds.give(made, folder)
    shelf.post("/transfers/send/", {"text": made.magnet(peer=seeds.address)})


def counted(visitor: Visitor, *, is_phone: bool) -> dict[str, int]:
    page = visitor.page
    visitor.open("/transfers/")
    expect(page.locator("#done .transfer")).to_have_count(2, timeout=PATIENCE_MS)
    expect(page.locator("#active .transfer")).to_have_count(len(NAMES) + 1)
    counts = {}
    for name, act in ACTIONS.items():
        visitor.open("/transfers/")
        expect(page.locator(".more").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        steps = Steps(page, is_phone)
        act(steps)
        counts[name] = steps.count
    return counts


def test_no_action_takes_more_steps_than_the_table_says_at_a_desktop(alice, transfers):
    alice.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    counts = counted(alice, is_phone=False)
    assert counts == {name: ours for name, (ours, _theirs, _o, _t) in TABLE.items()}


def test_no_action_takes_more_steps_than_the_table_says_on_a_phone(phone, transfers):
    phone.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    counts = counted(phone, is_phone=True)
    assert counts == {name: ours for name, (_o, _t, ours, _theirs) in TABLE.items()}


def test_no_action_takes_more_steps_than_in_qbittorrent():
    longer = [name for name, (a, b, c, d) in TABLE.items() if a > b or c > d]
    assert (longer, len(TABLE)) == ([], len(ACTIONS))
