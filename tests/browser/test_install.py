"""Over HTTPS and a proxy set up as documented, Chromium itself accepts Ferry as an app."""

import json
import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.browser.chromium import launched
from tests.browser.people import Visitor
from tests.certificates import key_mark, trusted
from tests.proxies.fronts import Front, proxy
from tests.running import START_SECONDS, Ferry, free_port, running
from tests.service.media.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser(
        "Chromium decides whether Ferry can be installed, and where its worker serves."
    ),
]
FRONTS = [Front("nginx", "https", ""), Front("caddy", "https", "/ferry")]


@pytest.fixture(scope="module", params=FRONTS, ids=str)
def fronted(request, tmp_path_factory) -> Iterator[tuple[Front, str, str, Ferry]]:
    front, folder = request.param, tmp_path_factory.mktemp("front")
    home = folder / "proxy"
    home.mkdir()
    trusted(home, front.host)
    with running(folder / "data", WEB_PROCESSES="1", **front.settings) as ferry:
        ferry.make_owner()
        port = free_port()
        with proxy(front, home, ferry, port) as url:
            wait_until(lambda: listens(port), START_SECONDS)
            yield front, url, key_mark(home), ferry


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def trusting(fronted, playwright: Playwright) -> Iterator[Browser]:
    front, _url, mark, _ferry = fronted
    trust = f"--ignore-certificate-errors-spki-list={mark}"
    names = f"--host-resolver-rules=MAP {front.host} 127.0.0.1"
    with launched(playwright, trust, names) as browser:
        yield browser


@pytest.fixture
def alice(fronted, trusting: Browser) -> Iterator[Visitor]:
    front, url, _mark, ferry = fronted
    with trusting.new_page() as page:
        visitor = Visitor(page, url + front.prefix, ferry)
        visitor.sign_in()
        visitor.meet_worker()
        yield visitor


def test_chromium_would_install_it(alice, fronted):
    """Its one objection is due to the test, whose windows are private ones."""
    session = alice.page.context.new_cdp_session(alice.page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    facts = json.loads(manifest["data"])
    start, *shortcuts = [facts["start_url"], *(each["url"] for each in facts["shortcuts"])]
    assert start == f"{fronted[0].prefix}/"
    assert shortcuts == [f"{start}add/", f"{start}transfers/"]
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {error["errorId"] for error in errors} <= {"in-incognito"}


def test_the_worker_serves_what_lies_below_the_prefix(alice, fronted):
    front = fronted[0]
    scope = alice.page.evaluate("navigator.serviceWorker.ready.then((found) => found.scope)")
    assert scope == f"{alice.url}/"
    names = alice.page.evaluate("caches.keys()")
    shell, lists = (f"ferry-{kind} {front.prefix}/" for kind in ("shell", "lists"))
    assert {shell} <= {name.rpartition(" ")[0] for name in names} <= {shell, lists}


def test_shared_items_are_separate_for_each_ferry_on_a_host(alice, fronted):
    front = fronted[0]
    alice.page.set_content(
        f"<form method=post enctype=multipart/form-data action='{alice.url}/add/share/'>"
        "<textarea name=text>magnet:?xt=urn:btih:" + "c" * 40 + "</textarea></form>"
    )
    alice.page.evaluate("document.forms[0].submit()")
    alice.page.wait_for_url("**/add/?shared")
    expect(alice.page.locator("#picks li")).to_have_count(1)
    assert f"ferry-shared {front.prefix}/" in alice.page.evaluate("caches.keys()")
