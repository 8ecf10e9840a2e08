"""From a link in the field to the files in their folder: the whole program, its worker, and peers
and servers on loopback."""

import re
import secrets
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import Visitor
from tests.browser.test_sending import drop, paste
from tests.running import Ferry, running
from tests.swarm import Made, Seeder, Tracker, WebSeed, seeder, serving_http, torrent

pytestmark = pytest.mark.browser(
    "The open page shows what the worker does meanwhile, and one click opens the result"
)
CONTEXT = "kept"
SLOWLY = 64 * 1024
# At that rate, the transfer takes minutes, until the test lifts the limit.
LARGE_BYTES = 20_000_000
ARRIVAL_MS = 60_000
COURSE = ["queued", "metadata", "downloading", "moving", "moved"]
# Record each state of one new row. Its id is constant, but its name arrives with the metadata.
WATCH = """() => {
  const had = new Set([...document.querySelectorAll("#transfers .transfer")].map(({ id }) => id));
  window.states = [];
  const look = () => {
    for (const { id, dataset } of document.querySelectorAll("#transfers .transfer")) {
      if (!had.has(id) && window.states.at(-1) !== dataset.state) window.states.push(dataset.state);
    }
  };
  const sights = { subtree: true, childList: true, attributes: true };
  new MutationObserver(look).observe(document.getElementById("transfers"), sights);
}"""


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    with running(tmp_path_factory.mktemp("ferry"), WEB_PROCESSES="1") as program:
        program.make_owner()
        yield program


@pytest.fixture
def seeds() -> Iterator[Seeder]:
    with seeder() as seeds:
        yield seeds


@pytest.fixture
def alice(page: Page, ferry: Ferry) -> Visitor:
    alice = Visitor(page, ferry.url, ferry)
    alice.bring_session()
    alice.open("/transfers/")
    return alice


def name() -> str:
    return f"Film {secrets.token_hex(4)}"


def film(title: str, size_bytes: int = 300_000) -> Made:
    """Return a torrent of a folder with three files that no other test has."""
    files = {
        ("film.mkv",): secrets.token_bytes(size_bytes),
        ("extras", "subtitle.srt"): b"Hello",
        ("extras", "cover.txt"): secrets.token_bytes(100),
    }
    return torrent(title, files)


def row(page: Page, title: str) -> Locator:
    return page.locator("#transfers .transfer").filter(has_text=title)


def send(page: Page, text: str) -> None:
    """Paste the text somewhere on the page, and send it with the button."""
    paste(page, text)
    expect(page.locator("#omni")).to_have_value(text)
    page.locator("#send").get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#results-summary")).to_contain_text("1 added")


def opens(page: Page, title: str, *names: str) -> None:
    """Open what has arrived with one click, and check that its files show."""
    arrived = row(page, title)
    expect(arrived.locator(".facts")).to_contain_text("In your files", timeout=ARRIVAL_MS)
    arrived.get_by_role("link", name="Open", exact=True).click()
    page.wait_for_url(lambda url: "/transfers/" not in url)
    for each in names:
        expect(page.locator("main").get_by_text(each, exact=False).first).to_be_visible()


@pytest.mark.journey
def test_a_pasted_magnet_is_seen_coming_and_becomes_a_folder_with_its_files(alice, seeds, tmp_path):
    made = film(name(), size_bytes=LARGE_BYTES)
    seeds.limit_upload(SLOWLY)
    seeds.give(made, tmp_path)
    page = alice.page
    page.evaluate(WATCH)
    send(page, made.magnet(peer=seeds.address))
    coming = row(page, made.name)
    expect(coming.locator(".transfer-pct")).to_have_text(
        re.compile(r"[1-9]\d?%"), timeout=ARRIVAL_MS
    )
    expect(coming.locator(".state")).to_contain_text("/s")
    expect(coming.locator(".facts")).to_contain_text("1 peer")
    expect(page.locator("#running")).to_contain_text("1")
    seeds.limit_upload(0)
    expect(page.locator("#toasts")).to_contain_text(
        f"{made.name} is in your files", timeout=ARRIVAL_MS
    )
    expect(coming).to_have_attribute("data-state", "moved")
    states = page.evaluate("window.states")
    assert states == sorted(states, key=COURSE.index)
    assert {"downloading", "moved"} <= set(states)
    opens(page, made.name, "film.mkv", "extras")
    expect(page.locator("h1")).to_have_text(made.name)


def test_a_dropped_torrent_is_fetched_into_its_folder(alice, seeds, tmp_path):
    with serving_http(Tracker()) as tracker:
        tracker.peers.append(seeds.address)
        title = name()
        made = torrent(title, {("a.mkv",): secrets.token_bytes(90_000)}, announce=tracker.announce)
        seeds.give(made, tmp_path)
        drop(alice.page, f"{title}.torrent", made.content)
        expect(alice.page.locator("#toasts")).to_contain_text("Added")
        opens(alice.page, title, "a.mkv")


def test_an_address_is_fetched_as_the_file_that_it_is(alice, tmp_path):
    title = f"{secrets.token_hex(4)}.iso"
    (tmp_path / title).write_bytes(secrets.token_bytes(200_000))
    with serving_http(WebSeed(folder=tmp_path)) as server:
        send(alice.page, f"{server.url}/{title}")
        opens(alice.page, title, title.removesuffix(".iso"))
