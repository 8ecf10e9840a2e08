"""The Files screen with a foreign service: another Ferry, which may be unreachable."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.running import Ferry, free_port, running

pytestmark = pytest.mark.browser("that open pages update as another Ferry is read, lost, and found")
EMAIL = "ferry@localhost"
SECRET = "a herring in the hold"


@dataclass
class There:
    """The foreign service, which keeps its folder and port when it restarts."""

    data_dir: Path
    port: int
    stack: ExitStack

    def start(self) -> Ferry:
        settings = {"PORT": str(self.port), "WEB_PROCESSES": "1"}
        return self.stack.enter_context(running(self.data_dir, **settings))

    def stop(self) -> None:
        self.stack.close()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[There]:
    with ExitStack() as stack:
        there = There(tmp_path_factory.mktemp("there"), free_port(), stack)
        ferry = there.start()
        ferry.say("account", "password", EMAIL, words=f"{SECRET}\n")
        facts = {"auth": (EMAIL, SECRET), "timeout": 60, "trust_env": False}
        with httpx.Client(base_url=ferry.url, **facts) as client:
            client.post("/rest/folder", data={"path": "Films"}).raise_for_status()
        yield there


@pytest.fixture(scope="module")
def here(there: There, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    url = f"http://{EMAIL.replace('@', '%40')}:{SECRET.replace(' ', '%20')}@127.0.0.1:{there.port}"
    data_dir = tmp_path_factory.mktemp("here")
    with running(data_dir, SERVICE_URL=url, WEB_PROCESSES="1") as ferry:
        ferry.make_owner()
        yield ferry


@pytest.fixture
def alice(here: Ferry, page: Page) -> Iterator[Visitor]:
    alice = Visitor(page, here.url, here)
    alice.enter()
    yield alice
    assert SECRET not in here.log


def test_search_finds_entries_that_the_worker_reads_in_the_meantime(alice):
    page = alice.page
    page.keyboard.press("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    page.locator("#query").fill("film")
    # The results update on their own while the worker reads.
    expect(page.locator("#results .name")).to_have_text("Films", timeout=60_000)
    expect(page.locator("#results")).to_contain_text("Searched all 2 folders", timeout=60_000)
    expect(page.locator("#query")).to_be_focused()
    assert faults_at(page, 320, 1440) == []


def test_a_listing_seen_before_is_shown_with_its_age_until_the_service_is_back(
    alice, there, troubles
):
    page = alice.page
    expect(page.get_by_role("link", name="Films")).to_be_visible()
    there.stop()
    page.reload()
    banner = page.get_by_role("status").filter(has=page.get_by_role("link", name="Try now"))
    expect(banner).to_be_visible()
    expect(page.locator(".page-sub")).to_contain_text("as of")
    expect(page.get_by_text("Films")).to_be_visible()
    page.get_by_role("link", name="Try now").click()
    expect(page.locator("#toasts")).to_contain_text("Ferry still isn't responding.")
    there.start()
    page.get_by_role("link", name="Try now").click()
    expect(banner).to_be_hidden()
    expect(page.locator(".page-sub")).not_to_contain_text("as of")
    troubles.clear()
