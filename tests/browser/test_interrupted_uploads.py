"""Large uploads whose connection, or whose tab, is gone for a while."""

import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_of
from tests.browser.people import Visitor
from tests.service.working import until

pytestmark = pytest.mark.browser("The browser uploads a file over a line that is cut")
SIZE = 12 * 2**20
BYTES_PER_SECOND = 2_000_000


@pytest.fixture
def films(shelf):
    return shelf.folder()


@pytest.fixture
def film(tmp_path) -> Path:
    path = tmp_path / "Der Film, 电影.mkv"
    path.write_bytes(os.urandom(SIZE))
    return path


def begin(page: Page, *films: Path) -> list[int]:
    """Upload slowly, and return where each request begins, as they come."""
    offsets: list[int] = []

    def note(request) -> None:
        if request.method == "PATCH":
            offsets.append(int(request.headers["upload-offset"]))

    page.on("request", note)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    rates = {"downloadThroughput": -1, "uploadThroughput": BYTES_PER_SECOND}
    session.send("Network.emulateNetworkConditions", {"offline": False, "latency": 0, **rates})
    page.locator("#upload-files").set_input_files(films)
    return offsets


def until_percent(page: Page, percent: int) -> None:
    page.wait_for_function(
        "percent => document.querySelector('#uploads progress')?.value >= percent", arg=percent
    )


def arrived(page: Page, film: Path):
    return page.locator(f'.entry-name[title="{film.name}"]')


class Line:
    """A line to Ferry that can be cut: browsers pretend to be offline only for new requests."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._threads: list[Thread] = []
        self.is_cut = False
        self.url = f"http://localhost:{self._listening.getsockname()[1]}"
        self._begin(self._accept)

    def cut(self) -> None:
        self.is_cut = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in (self._listening, *self._ends):
            end.close()

    def _begin(self, act: Callable[..., None], *ends: socket.socket) -> None:
        self._threads.append(Thread(target=act, args=ends, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _peer = self._listening.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection(self._target)
                self._ends += [near, far]
                for source, target in ((near, far), (far, near)):
                    self._begin(self._relay, source, target)

    @staticmethod
    def _relay(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def far(page, ferry, troubles):
    """Yield a person behind a line that can be cut, and the line."""
    line = Line(ferry.port)
    visitor = Visitor(page, line.url, ferry)
    visitor.sign_in()
    yield visitor, line
    line.close()
    # Browsers log each request that fails.
    troubles.clear()


@pytest.mark.journey
def test_an_upload_continues_when_the_connection_is_back(far, films, film, shelf, ferry):
    visitor, line = far
    page = visitor.page
    visitor.open(films.path)
    offsets = begin(page, film)
    until_percent(page, 30)
    line.cut()
    expect(page.locator("#uploads .state")).to_contain_text("Interrupted")
    expect(page.locator("#uploads .rate")).to_be_empty()
    other = page.context.new_page()
    until(lambda: other.goto(ferry.url + films.path) and other.locator("#interrupted bdi").count())
    expect(other.locator("#interrupted bdi")).to_have_text(film.name)
    assert faults_of(other) == []
    line.is_cut = False
    expect(arrived(page, film)).to_be_visible(timeout=60_000)
    other.reload()
    expect(other.locator("#interrupted")).to_be_hidden()
    assert shelf.content(films, film.name) == film.read_bytes()
    assert offsets[0] == 0
    assert offsets[-1] > SIZE * 0.2


PHOTOS, PHOTO_BYTES = 20, 600_000


def set_life(page: Page, state: str) -> None:
    """Freeze the page as a phone does when it sleeps, or wake it up."""
    page.context.new_cdp_session(page).send("Page.setWebLifecycleState", {"state": state})


def test_photos_continue_after_a_phone_slept_and_none_arrives_twice(far, films, tmp_path, shelf):
    visitor, line = far
    page = visitor.page
    paths = [tmp_path / f"IMG_{number:04}.jpg" for number in range(PHOTOS)]
    for path in paths:
        path.write_bytes(os.urandom(PHOTO_BYTES))
    visitor.open(films.path)
    begin(page, *paths)
    until(lambda: len(shelf.names(films)) > 3)
    set_life(page, "frozen")
    line.cut()
    arrived_before = len(shelf.names(films))
    assert arrived_before < PHOTOS
    line.is_cut = False
    set_life(page, "active")
    until(lambda: len(shelf.names(films)) == PHOTOS)
    expect(page.locator("#uploads")).to_be_hidden(timeout=60_000)
    assert sorted(shelf.names(films)) == [each.name for each in paths]
    assert all(shelf.content(films, each.name) == each.read_bytes() for each in paths)


def test_the_same_file_continues_after_its_tab_was_closed(alice, films, film, shelf, ferry):
    again = Visitor(alice.page.context.new_page(), ferry.url, ferry)
    again.open(films.path)
    alice.open(films.path)
    begin(alice.page, film)
    until_percent(alice.page, 30)
    alice.page.close()
    offsets = begin(again.page, film)
    expect(arrived(again.page, film)).to_be_visible(timeout=60_000)
    assert shelf.content(films, film.name) == film.read_bytes()
    # Data that the closed tab had sent may arrive after the request of the second tab.
    assert len(offsets) <= 2
    assert offsets[0] > SIZE * 0.2


def test_a_reload_in_an_empty_folder_says_how_to_continue(alice, films, film, ferry):
    """The server notices only after the page has loaded that the upload was interrupted."""
    alice.open(films.path)
    page = alice.page
    before = set((ferry.data_dir / "resumable").glob("*"))
    begin(page, film)
    until_percent(page, 30)
    (key,) = {each.stem for each in set((ferry.data_dir / "resumable").iterdir()) - before}
    with open(ferry.data_dir / "resumable" / f"{key}.busy", "rb") as busy:
        fcntl.flock(busy, fcntl.LOCK_SH)
        page.reload()
        expect(page.locator(".empty")).to_contain_text("This folder is empty")
        expect(page.locator("#interrupted")).to_be_hidden()
    expect(page.locator("#interrupted")).to_contain_text("choose the same file again")
    expect(page.locator("#interrupted bdi")).to_have_text(film.name)
    offsets = begin(page, film)
    expect(page.locator("#uploads bdi")).to_have_text(film.name)
    expect(page.locator("#interrupted")).to_be_hidden()
    expect(arrived(page, film)).to_be_visible(timeout=60_000)
    expect(page.locator("#interrupted")).to_be_hidden()
    assert offsets[0] > SIZE * 0.2


def test_a_canceled_upload_leaves_nothing_and_restarts(alice, films, film, ferry):
    alice.open(films.path)
    page = alice.page
    begin(page, film)
    until_percent(page, 30)
    before = set((ferry.data_dir / "resumable").iterdir())
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.get_by_label(f"Cancel {film.name}").click()
    expect(page.locator("#uploads")).to_be_hidden()
    gone = before - set((ferry.data_dir / "resumable").iterdir())
    assert len({path.stem for path in gone}) == 1
    offsets = begin(page, film)
    expect(arrived(page, film)).to_be_visible(timeout=60_000)
    assert offsets == [0]


def test_an_upload_canceled_before_it_begins_sends_nothing(alice, films, film):
    """The service is slow to create the upload, and the person cancels in the meantime."""
    alice.open(films.path)
    page = alice.page
    with page.expect_request("**/uploads/"):
        page.route("**/uploads/", lambda route: held.append((route, route.fetch())))
        held = []
        offsets = begin(page, film)
    page.get_by_label(f"Cancel {film.name}").click()
    until(lambda: held or page.evaluate("0"))
    ((route, response),) = held
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        route.fulfill(response=response)
    expect(arrived(page, film)).to_have_count(0)
    assert offsets == []


def test_an_upload_survives_a_restart_of_ferry(alice, films, film, shelf, troubles):
    """Its first request is refused, as by a proxy while Ferry starts."""
    alice.open(films.path)
    page = alice.page
    page.route("**/files/uploads/*/", lambda route: route.fulfill(status=502), times=2)
    begin(page, film)
    expect(arrived(page, film)).to_be_visible(timeout=60_000)
    assert shelf.content(films, film.name) == film.read_bytes()
    troubles.clear()
