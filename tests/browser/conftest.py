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
from tests.browser.people import Visitor, alice_at
from tests.browser.shelf import Shelf
from tests.contract.served import served
from tests.running import Ferry, running
from tests.webui.service import EMAIL, PASSWORD, Storage, storage_of

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FAILURES = Path(__file__).parent / "failures"
# Chromium logs each response with an error status, even if a journey is about that error. A page
# that is left aborts its requests, and htmx logs that. Of a failure it also logs `sendError`.
EXPECTED = re.compile(
    r"Failed to load resource: the server responded with a status of (4\d\d|503)"
    r"|htmx:(afterRequest|sendAbort), "
)

# A busy machine may be slow. But pages retry on their own after thirty seconds, and such a retry
# must not hide a fault.
expect.set_options(timeout=20_000)

# A minute before faulthandler ends the process.
HANGS_SECONDS = 840
CLOSES_SECONDS = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test that doesn't say what HTTP or Node can't show, and takes seconds to show it."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            mark = item.get_closest_marker("browser")
            if mark is None or not mark.args:
                raise pytest.UsageError(f"{item.nodeid} needs pytest.mark.browser(REASON).")


@pytest.fixture(autouse=True)
def _tells_where_it_hangs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print the stack of a test that hangs: faulthandler can't show the greenlet that waits."""
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
    """Yield a browser context.

    Journeys that intercept requests set SERVICE_WORKERS = "block" in their module: the page's
    service worker would hide its requests from them. Modules that set CONTEXT = "kept" share one
    context, which is emptied after each test. Even there, a test with a clock gets its own context,
    since clocks stay installed.
    """
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
    """Yield a context whose first page stays open, and with it the renderer process.

    Starting a renderer and compiling all scripts again costs more than most journeys.
    """
    with chromium.new_context(**desk(request.module)) as context:
        context.new_page()
        yield context


def emptied(context: BrowserContext) -> Iterator[BrowserContext]:
    """Yield the context, then close all pages but the first, and delete all that they stored."""
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
    """Close all pages but the first.

    Chromium forgets to close a page that begins to reload at that moment, so ask until the page is
    closed. `page.close()` asks once, and waits forever.
    """
    assert context.browser is not None
    session = context.browser.new_browser_cdp_session()
    until = time.monotonic() + CLOSES_SECONDS
    while others := context.pages[1:]:
        assert time.monotonic() < until, [page.url for page in others]
        for target in session.send("Target.getTargets")["targetInfos"]:
            is_ours = target.get("browserContextId") == first["browserContextId"]
            if is_ours and target["type"] == "page" and target["targetId"] != first["targetId"]:
                with suppress(Error):  # The page has already closed.
                    session.send("Target.closeTarget", {"targetId": target["targetId"]})
        with suppress(Error):  # The page hasn't closed yet.
            others[0].wait_for_event("close", timeout=2_000)
    session.detach()


@pytest.fixture
def clock(page: Page) -> Any:
    """Return the page's clock, which runs normally until a test moves it."""
    page.clock.install()
    return page.clock


@pytest.fixture
def troubles() -> list[str]:
    """Return the errors on the console; a journey that provokes errors empties the list."""
    return []


@pytest.fixture
def page(
    context: BrowserContext, request: pytest.FixtureRequest, troubles: list[str]
) -> Iterator[Page]:
    """Yield a page whose console must stay free of errors; save a screenshot if the test fails."""
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
    """Return a foreign service, whose state tests can change."""
    return storage_of(secrets.token_hex(8), is_embedded=False)


@pytest.fixture(scope="module")
def far_ferry(far: Storage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """Run a Ferry that shows `far`; modules about a foreign service use it as their `ferry`."""
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
    """Return Alice, at a desktop browser."""
    alice = Visitor(page, ferry.url, ferry)
    alice.bring_session()
    return alice


@pytest.fixture
def phone(chromium: Browser, ferry: Ferry) -> Iterator[Visitor]:
    """Yield Alice, at a phone."""
    with alice_at(chromium, ferry, **PHONE) as alice:
        yield alice


@pytest.fixture
def scriptless(chromium: Browser, ferry: Ferry) -> Iterator[Visitor]:
    with chromium.new_context(java_script_enabled=False) as context:
        alice = Visitor(context.new_page(), ferry.url, ferry)
        alice.bring_session()
        yield alice


@pytest.fixture(params=["localhost", "phone.lan"])
def visitor(page: Page, ferry: Ferry, request: pytest.FixtureRequest) -> Visitor:
    """Return a visitor on this machine, then one in the LAN, where pages aren't secure contexts."""
    return Visitor(page, f"http://{request.param}:{ferry.port}", ferry)
