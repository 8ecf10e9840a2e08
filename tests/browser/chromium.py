"""How Chromium is started: headless, quiet, and knowing two names that lead to this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Playwright

from tests.tools import program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP phone.lan 127.0.0.1, MAP elsewhere.example 127.0.0.1",
]


@contextmanager
def launched(playwright: Playwright, *more: str) -> Iterator[Browser]:
    executable = program("chromium", "chromium-browser", "google-chrome")
    arguments = [*ARGUMENTS, *more]
    with playwright.chromium.launch(executable_path=executable, args=arguments) as browser:
        yield browser
