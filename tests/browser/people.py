from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from playwright.sync_api import Browser, Page

from tests.running import PASSWORD, Ferry


def forgive(ferry: Ferry) -> None:
    """Reset the limits on sign-in attempts, since all journeys come from one address."""
    ferry.manage("unlock")


@dataclass
class Visitor:
    page: Page
    url: str
    ferry: Ferry

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def enter(self, name: str = "alice") -> None:
        """Use an earlier session of this person while it lasts; else sign in."""
        cookies = self.ferry.cookies
        self.page.context.add_cookies(cookies.get((self.url, name), []))
        self.open("/")
        if "/signin/" in self.page.url:
            self.sign_in(name)
            cookies[self.url, name] = self.page.context.cookies(self.url)

    def bring_session(self, name: str = "alice") -> None:
        """Do as `enter` does, but load no page while an earlier session lasts."""
        cookies = self.ferry.cookies.get((self.url, name), [])
        self.page.context.add_cookies(cookies)
        headers = {
            "Host": self.url.removeprefix("http://"),
            "Cookie": "; ".join(f"{each['name']}={each['value']}" for each in cookies),
        }
        with closing(HTTPConnection("127.0.0.1", self.ferry.port, timeout=60)) as connection:
            connection.request("HEAD", "/account/", headers=headers)
            does_last = connection.getresponse().status == 200
        if not does_last:
            self.enter(name)

    def sign_in(self, name: str = "alice", password: str = PASSWORD) -> None:
        self.open("/signin/")
        self.fill_in(name, password)
        if password == PASSWORD:
            self.page.wait_for_url(lambda address: "/signin/" not in address)

    def type_password(self, name: str = "alice") -> None:
        """Begin a session with a password typed just now; a kept session may be an hour old."""
        self.open("/signin/?switch")
        self.fill_in(name, PASSWORD)
        self.page.wait_for_url(lambda address: "/signin/" not in address)

    def fill_in(self, name: str, password: str) -> None:
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def meet_worker(self) -> None:
        """Reload once the service worker runs: it doesn't control pages loaded before."""
        self.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        self.page.reload()
        assert self.page.evaluate("navigator.serviceWorker.controller !== null")

    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()


@contextmanager
def alice_at(browser: Browser, ferry: Ferry, **options: Any) -> Iterator[Visitor]:
    """Yield Alice at a device with these options, and fail if a script of its pages does."""
    troubles: list[str] = []
    with browser.new_context(**options) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        alice = Visitor(page, ferry.url, ferry)
        alice.bring_session()
        yield alice
        assert troubles == []
