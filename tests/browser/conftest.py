import re
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import greenlet
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.browser.chromium import launched
from tests.browser.people import Visitor
from tests.browser.shelf import Shelf
from tests.contract.served import served
from tests.running import Ferry, running
from tests.webui.service import EMAIL, PASSWORD, Storage, storage_of

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FAILURES = Path(__file__).parent / "failures"
# Chromium says so of every answer that is no success, also of those a journey is about.
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of (4\d\d|503)")

# A machine that is busy may be slow. What pages do again by themselves, each thirty seconds, is to
# hide nothing.
expect.set_options(timeout=20_000)

# A minute before faulthandler ends the process.
HANGS_SECONDS = 840
CLOSES_SECONDS = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(autouse=True)
def _tells_where_it_hangs(request: pytest.FixtureRequest) -> Iterator[None]:
    """What waits for Chromium waits in a greenlet, and faulthandler shows those that run."""
    watch = threading.Timer(HANGS_SECONDS, tell_stack, [request.config, greenlet.getcurrent()])
    watch.start()
    yield
    watch.cancel()


def tell_stack(config: pytest.Config, waiting: greenlet.greenlet) -> None:
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        traceback.print_stack(waiting.gr_frame, file=sys.stderr)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    with launched(playwright) as browser:
        yield browser


@pytest.fixture
def context(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """Journeys that stand between page and server say SERVICE_WORKERS = "block" in their module:
    a page's own worker would hide its calls from them. Modules that say CONTEXT = "kept" share one
    context, which is emptied after each test; a test with a clock has one of its own all the same,
    as clocks stay installed."""
    if getattr(request.module, "CONTEXT", "own") == "kept" and "clock" not in request.fixturenames:
        yield from emptied(request.getfixturevalue("kept_context"))
        return
    with chromium.new_context(**desk(request.module)) as context:
        yield context


def desk(module: ModuleType) -> dict[str, Any]:
    workers = getattr(module, "SERVICE_WORKERS", "allow")
    return {"viewport": {"width": 1440, "height": 900}, "service_workers": workers}


@pytest.fixture(scope="module")
def kept_context(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """Its first page stays open, and with it the process that draws pages: to start one and to
    compile all scripts again costs more than most journeys."""
    with chromium.new_context(**desk(request.module)) as context:
        context.new_page()
        yield context


def emptied(context: BrowserContext) -> Iterator[BrowserContext]:
    """Leaves no page but the first, and nothing of what the others stored."""
    first = context.pages[0]
    yield context
    context.set_offline(False)
    places = [urlsplit(page.url) for page in context.pages]
    origins = {f"{each.scheme}://{each.netloc}" for each in places if each.scheme == "http"}
    session = context.new_cdp_session(first)
    close_others(context, session.send("Target.getTargetInfo")["targetInfo"])
    context.clear_cookies()
    context.clear_permissions()
    for origin in sorted(origins):
        facts = {"origin": origin, "storageTypes": "all"}
        session.send("Storage.clearDataForOrigin", facts)
    session.detach()
    if first.url == "about:blank" and origins:
        first.goto(f"{min(origins)}/signin/")


def close_others(context: BrowserContext, first: dict[str, str]) -> None:
    """Chromium forgets to close a page that begins to load again at that moment, so ask until it
    is closed. `page.close()` asks once, and waits for ever."""
    assert context.browser is not None
    session = context.browser.new_browser_cdp_session()
    until = time.monotonic() + CLOSES_SECONDS
    while others := context.pages[1:]:
        assert time.monotonic() < until, [page.url for page in others]
        for target in session.send("Target.getTargets")["targetInfos"]:
            is_ours = target.get("browserContextId") == first["browserContextId"]
            if is_ours and target["type"] == "page" and target["targetId"] != first["targetId"]:
                with suppress(Error):  # It has closed by now.
                    session.send("Target.closeTarget", {"targetId": target["targetId"]})
        with suppress(Error):  # It is late.
            others[0].wait_for_event("close", timeout=2_000)
    session.detach()


@pytest.fixture
def clock(page: Page) -> Any:
    """The page's own time, which goes on as usual until a test moves it."""
    page.clock.install()
    return page.clock


@pytest.fixture
def troubles() -> list[str]:
    """What the console complained about; a journey that means trouble empties it."""
    return []


@pytest.fixture
def page(
    context: BrowserContext, request: pytest.FixtureRequest, troubles: list[str]
) -> Iterator[Page]:
    """A page whose console stays free of errors, and of which a failed test leaves a picture."""
    page = context.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    yield page
    report = request.node.stash.get(REPORT, None)
    if report is None or report.failed:
        FAILURES.mkdir(exist_ok=True)
        page.screenshot(path=FAILURES / f"{re.sub(r'[^a-z0-9]+', '-', request.node.name)}.png")
    assert [line for line in troubles if not EXPECTED.search(line)] == []


REPORT = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report
    return report


@pytest.fixture(scope="module")
def far() -> Storage:
    """Somebody else's service, that tests can move."""
    return storage_of(secrets.token_hex(8), is_embedded=False)


@pytest.fixture(scope="module")
def far_ferry(far: Storage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """What a module about a foreign service calls its `ferry`."""
    with (
        served(far.fake, EMAIL, PASSWORD) as url,
        running(tmp_path_factory.mktemp("ferry"), SERVICE_URL=url, WEB_PROCESSES="2") as program,
    ):
        program.make_owner()
        yield program


@pytest.fixture(scope="module")
def shelf(ferry: Ferry) -> Iterator[Shelf]:
    shelf = Shelf(ferry)
    yield shelf
    shelf.close()


@pytest.fixture
def alice(page: Page, ferry: Ferry) -> Visitor:
    """At a desk."""
    alice = Visitor(page, ferry.url, ferry)
    alice.bring_session()
    return alice


@pytest.fixture
def phone(chromium: Browser, ferry: Ferry) -> Iterator[Visitor]:
    """Alice again, with the device in her hand."""
    troubles: list[str] = []
    with chromium.new_context(**PHONE) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        alice = Visitor(page, ferry.url, ferry)
        alice.bring_session()
        yield alice
        assert troubles == []


@pytest.fixture
def scriptless(chromium: Browser, ferry: Ferry) -> Iterator[Visitor]:
    with chromium.new_context(java_script_enabled=False) as context:
        alice = Visitor(context.new_page(), ferry.url, ferry)
        alice.bring_session()
        yield alice


@pytest.fixture(params=["localhost", "phone.lan"])
def visitor(page: Page, ferry: Ferry, request: pytest.FixtureRequest) -> Visitor:
    """Somebody at this machine, and at a phone in the LAN, where the page is no secure context."""
    return Visitor(page, f"http://{request.param}:{ferry.port}", ferry)
