"""From http to https: the page notices when this browser trusts Ferry, and leads there."""

import os
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, Locator, Page, Playwright, expect

from tests.browser.axe import faults_at
from tests.browser.chromium import ARGUMENTS, launched
from tests.browser.people import Visitor
from tests.browser.trust import make_store, trust
from tests.running import PASSWORD, START_SECONDS, Ferry, free_port, running, started
from tests.tools import program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser("Only a browser knows which certificates it trusts."),
]
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ferry, str]]:
    """Run a Ferry with https; yield it with the mark by which Chromium trusts its certificate."""
    data_dir, port = tmp_path_factory.mktemp("data"), free_port()
    with running(data_dir, HTTPS_PORT=str(port), ALLOWED_HOSTS="phone.lan") as ferry:
        ferry.make_owner()
        content = (data_dir / "tls" / "server.pem").read_bytes()
        leaf = x509.load_pem_x509_certificates(content)[0]
        key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        yield ferry, b64encode(sha256(key).digest()).decode()


@pytest.fixture(scope="module")
def trusting(secured: tuple[Ferry, str], playwright: Playwright) -> Iterator[Browser]:
    with launched(playwright, f"--ignore-certificate-errors-spki-list={secured[1]}") as browser:
        yield browser


def opened(browser: Browser, ferry: Ferry, **options: object) -> Visitor:
    page = browser.new_context(**options).new_page()
    visitor = Visitor(page, f"http://phone.lan:{ferry.port}", ferry)
    visitor.enter()
    return visitor


def test_a_browser_without_the_certificate_sees_the_steps(chromium, secured):
    visitor = opened(chromium, secured[0], user_agent=IPHONE, has_touch=True)
    visitor.open("/account/")
    visitor.page.get_by_role("link", name="Secure this device").click()
    expect(visitor.page.get_by_text("Not yet. Follow the steps.")).to_be_visible()
    expect(visitor.page.get_by_text("Certificate Trust Settings")).to_be_visible()
    assert faults_at(visitor.page, 320, 390, 1440) == []
    visitor.page.get_by_role("link", name="Not now").click()
    expect(visitor.page).to_have_url(f"http://phone.lan:{secured[0].port}/")
    visitor.page.context.close()


def test_a_browser_that_trusts_it_continues_signed_in(trusting, secured):
    visitor = opened(trusting, secured[0])
    page = visitor.page
    visitor.open("/secure/")
    expect(page.get_by_text("This device trusts Ferry.")).to_be_visible()
    page.get_by_role("button", name="Continue with HTTPS").click()
    expect(page.get_by_role("link", name="Open Ferry")).to_be_visible()
    assert page.url.startswith("https://phone.lan:")
    assert page.evaluate("isSecureContext")
    page.get_by_role("link", name="Open Ferry").click()
    expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
    assert faults_at(page, 390) == []
    page.context.close()


def test_it_notices_when_someone_has_followed_the_steps(trusting, secured):
    """The picture fails at first, as if this browser didn't trust the certificate yet."""
    visitor = opened(trusting, secured[0])
    visitor.page.route("https://phone.lan:*/**/*.png*", lambda route: route.abort())
    visitor.open("/secure/")
    expect(visitor.page.get_by_text("Not yet.")).to_be_visible()
    visitor.page.unroute_all()
    expect(visitor.page.get_by_role("link", name="Open Ferry")).to_be_visible(timeout=30_000)
    assert visitor.page.url.startswith("https://phone.lan:")
    visitor.page.context.close()


def test_without_scripts_two_links_lead_to_https(trusting, secured):
    visitor = opened(trusting, secured[0], java_script_enabled=False)
    visitor.open("/secure/")
    visitor.page.get_by_role("button", name="Continue with HTTPS").click()
    visitor.page.get_by_role("link", name="Open Ferry with HTTPS").click()
    assert "This device trusts Ferry." in visitor.page.inner_text("main")
    assert visitor.page.url.startswith("https://phone.lan:")
    visitor.page.context.close()


class Finger:
    """Count what a person has to tap."""

    taps = 0

    def tap(self, place: Locator) -> None:
        self.taps += 1
        place.tap()


@contextmanager
def phone(playwright: Playwright, home: Path) -> Iterator[Page]:
    """Open a browser that keeps its sessions and its certificates in a folder."""
    options = {"args": ARGUMENTS, "env": {**os.environ, "HOME": str(home)}, "has_touch": True}
    options |= {"executable_path": program("chromium"), "viewport": {"width": 390, "height": 844}}
    with playwright.chromium.launch_persistent_context(home / "profile", **options) as context:
        yield context.pages[0]


def test_a_new_ferry_and_a_new_phone_need_a_minute_and_six_taps(playwright, tmp_path):
    """What the phone's own settings ask isn't Ferry's; here, it is a command."""
    store, root = tmp_path / ".pki" / "nssdb", tmp_path / "ferry.crt"
    make_store(store)
    began_at, finger = time.monotonic(), Finger()
    settings = {"HTTPS_PORT": str(free_port()), "ALLOWED_HOSTS": "phone.lan"}
    with started(tmp_path / "data", **settings) as ferry:
        assert ferry.output.saw("Ferry answers", START_SECONDS), ferry.log
        origin = f"http://phone.lan:{ferry.port}"
        with phone(playwright, tmp_path) as page:
            page.goto(origin + ferry.welcome_path)
            page.get_by_label("Name").fill("alice")
            page.get_by_label("Password", exact=True).fill(PASSWORD)
            page.get_by_label("Repeat password").fill(PASSWORD)
            finger.tap(page.get_by_role("button", name="Start using Ferry"))
            finger.tap(page.get_by_role("link", name="Account"))
            finger.tap(page.get_by_role("link", name="Secure this device"))
            with page.expect_download() as download:
                finger.tap(page.get_by_role("link", name="Download the certificate").first)
            download.value.save_as(root)
        trust(store, root)
        with phone(playwright, tmp_path) as page:
            page.goto(f"{origin}/secure/")
            expect(page.get_by_text("This device trusts Ferry.")).to_be_visible()
            finger.tap(page.get_by_role("button", name="Continue with HTTPS"))
            finger.tap(page.get_by_role("link", name="Open Ferry"))
            expect(page.get_by_role("heading", name="Files", exact=True)).to_be_visible()
            assert page.url.startswith("https://")
    assert finger.taps <= 6
    assert time.monotonic() - began_at < 60
