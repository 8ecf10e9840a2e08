"""Films of a foreign service in a real browser: a separate media host has their bytes and wants no
credentials, and the site relays them."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser import films
from tests.browser.films import moves_on, state, until, watch
from tests.browser.people import Visitor
from tests.contract.fake import FakeV1
from tests.contract.served import served
from tests.running import Ferry, running
from tests.service.media import samples
from tests.webui.media_host import Host, listening

pytestmark = pytest.mark.browser("that a relayed film plays and seeks, and requests only this site")
CONTEXT = "kept"
SERVICE_WORKERS = "block"
EMAIL, PASSWORD = "gwen@example.net", "a herring in the hold"
MEDIA_ADDRESS = "127.0.0.2"
NAME = "Tide.avi"
POLL_MS = 2_000
SENT = {"host", "accept", "accept-encoding", "connection", "user-agent", "range"}


@dataclass
class There:
    """The service, the host of its media, and the site that shows both."""

    v1: FakeV1
    media: Host
    ferry: Ferry
    folder: int = 0
    film: int = 0

    def add_film(self) -> None:
        """Add a film in its own folder, with a new id."""
        self.folder = self.v1.add(f"Journey {secrets.token_hex(4)}").id
        content = b"of a kind that no browser plays"
        self.film = self.v1.add(NAME, self.folder, content).id

    def says(self, kind: str, *answers: httpx.Response) -> None:
        """Set the service's answers; it repeats the last one."""
        queue = [*answers, *[answers[-1]] * 99]
        self.v1.answers[f"/rest/file/{self.film}/{kind}"] = queue

    def tells(self, path: str) -> httpx.Response:
        return httpx.Response(200, json={"result": True, "url": self.media.url + path})


@pytest.fixture(scope="module")
def bytes_of_film() -> dict[str, bytes]:
    """Return HLS with separate video and audio, by path at the media host, and an MP4."""
    folder = samples.place("foreign")
    folder.mkdir(exist_ok=True)
    tracks = ("-i", str(films.copied()), "-map", "0:v", "-map", "0:a:0", "-c", "copy")
    samples.run(
        *(*tracks, "-f", "hls", "-hls_time", "4", "-hls_playlist_type", "vod"),
        *("-hls_segment_type", "fmp4", "-master_pl_name", "master.m3u8"),
        *("-var_stream_map", "v:0,agroup:sound a:0,agroup:sound,default:yes"),
        str(folder / "part%v.m3u8"),
    )
    samples.run(*tracks, "-movflags", "+faststart", str(folder / "film.mp4"))
    return {f"/film/{each.name}": each.read_bytes() for each in folder.iterdir()}


@pytest.fixture(scope="module")
def site(
    bytes_of_film: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[There]:
    v1 = FakeV1(EMAIL, PASSWORD)
    here = tmp_path_factory.mktemp("foreign-films")
    settings = {"SERVICE_MEDIA_HOSTS": MEDIA_ADDRESS, "WEB_PROCESSES": "1"}
    with (
        listening(MEDIA_ADDRESS) as media,
        served(v1, EMAIL, PASSWORD) as url,
        running(here, SERVICE_URL=url, **settings) as ferry,
    ):
        media.files = dict(bytes_of_film)
        ferry.make_owner()
        yield There(v1, media, ferry)


@pytest.fixture
def there(site: There) -> Iterator[There]:
    """After each journey, check which headers the media host received."""
    site.add_film()
    site.media.requests.clear()
    yield site
    for path, headers in site.media.requests:
        assert set(headers) <= SENT, path
        assert headers["user-agent"] == "Ferry"


@pytest.fixture
def page_of_film(page: Page, there: There) -> Iterator[Visitor]:
    """Yield Alice, whose browser may send requests only to the site."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    alice = Visitor(page, there.ferry.url, there.ferry)
    alice.bring_session()
    yield alice
    ours = (there.ferry.url, f"blob:{there.ferry.url}", "data:")
    assert [url for url in urls if not url.startswith(ours)] == []


def goes_anywhere(page: Page) -> None:
    """Check that the film plays, and continues after two seeks."""
    moves_on(page)
    assert state(page, "film.duration") == pytest.approx(films.SECONDS, abs=0.3)
    for at in (30, 12):
        page.get_by_label("Position").fill(str(at))
        until(page, f"!film.seeking && film.currentTime >= {at}")
        moves_on(page)


def answers(there: There, sort: str) -> httpx.Response:
    """Return one of the answers that real services give to a request for HLS."""
    master = f"{there.media.url}/film/master.m3u8"
    if sort == "json":
        return there.tells("/film/master.m3u8")
    if sort == "redirect":
        return httpx.Response(302, headers={"location": master})
    text = there.media.files["/film/master.m3u8"].decode()
    return httpx.Response(200, text=text.replace("part", f"{there.media.url}/film/part"))


@pytest.mark.parametrize("sort", ["json", "redirect", "playlist"])
def test_a_film_plays_and_seeks_through_the_site(page_of_film, there, sort):
    there.says("hls", answers(there, sort))
    watch(page_of_film, f"/files/{there.folder}/", NAME)
    goes_anywhere(page_of_film.page)
    kinds = {Path(path).suffix for path, _headers in there.media.requests}
    assert {".m3u8", ".mp4", ".m4s"} <= kinds


def test_a_film_that_cannot_be_streamed_says_so_and_offers_download_and_mp4(page_of_film, there):
    refusal = {"result": False, "code": 422, "reason_phrase": "cannot_convert"}
    there.says("hls", httpx.Response(422, json=refusal))
    there.says("mp4", there.tells("/film/film.mp4"))
    watch(page_of_film, f"/files/{there.folder}/", NAME)
    page = page_of_film.page
    expect(page.get_by_role("alert")).to_contain_text("couldn't convert this file")
    expect(page.get_by_role("link", name="Download the original")).to_be_visible()
    page.get_by_role("button", name="Play the MP4 copy").click()
    goes_anywhere(page)
    assert any("range" in headers for _path, headers in there.media.requests)


@pytest.mark.browser("where the focus goes when the button is removed")
def test_a_refused_mp4_leaves_the_download(page_of_film, there):
    refusal = {"result": False, "code": 422, "reason_phrase": "cannot_convert"}
    for kind in ("hls", "mp4"):
        there.says(kind, httpx.Response(422, json=refusal))
    watch(page_of_film, f"/files/{there.folder}/", NAME)
    page = page_of_film.page
    way = page.get_by_role("button", name="Play the MP4 copy")
    way.click()
    expect(way).to_have_count(0)
    expect(page.get_by_role("alert")).to_contain_text("couldn't convert this file")
    expect(page.get_by_role("link", name="Download the original")).to_be_focused()


@pytest.mark.browser("that hls.js gives up on a refused playlist")
def test_a_playlist_with_private_urls_is_explained_and_offers_the_mp4(
    page_of_film, there, troubles
):
    there.media.files["/inside.m3u8"] = "#EXTM3U\n#EXTINF:4,\nhttp://10.0.0.1/one.ts\n"
    there.says("hls", there.tells("/inside.m3u8"))
    there.says("mp4", there.tells("/film/film.mp4"))
    watch(page_of_film, f"/files/{there.folder}/", NAME)
    page = page_of_film.page
    expect(page.get_by_role("alert")).to_contain_text("The film stopped")
    page.get_by_role("button", name="Play the MP4 copy").click()
    moves_on(page)
    troubles.clear()


def so_far(percent: int | None) -> httpx.Response:
    return httpx.Response(200, json={"result": True, "converting": True, "progress": percent})


def test_the_page_shows_conversion_progress_until_the_film_plays(page_of_film, there, clock):
    there.says("hls", so_far(None))
    watch(page_of_film, f"/files/{there.folder}/", NAME)
    page = page_of_film.page
    card = page.locator(".card")
    expect(page.get_by_role("heading", name="Getting ready to play")).to_be_visible()
    expect(card.locator(".pct")).to_be_hidden()
    there.says("hls", so_far(40))
    clock.run_for(POLL_MS)
    expect(card.locator(".pct")).to_have_text("40%")
    expect(page.get_by_role("link", name="Download the original")).to_be_visible()
    there.says("hls", so_far(80))
    clock.run_for(12_000)
    expect(card.locator(".pct")).to_have_text("80%")
    expect(card.locator("[data-left]")).to_have_text(re.compile(r"^About \d+ s left\.$"))
    there.says("hls", there.tells("/film/master.m3u8"))
    clock.run_for(POLL_MS)
    card.get_by_role("button", name="Play", exact=True).click()
    moves_on(page)
