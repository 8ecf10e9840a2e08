"""How Chromium is started: headless, quiet, and knowing two names that lead to this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Playwright

from tests.tools import program

# Chromium heeds only the last list, so Playwright's own is repeated. What follows it are processes
# that each new window starts for its address bar, and one that waits for another site: they take
# more of a processor than the pages do.
WITHOUT = [
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(WITHOUT)}",
    "--host-resolver-rules=MAP phone.lan 127.0.0.1, MAP elsewhere.example 127.0.0.1",
]


@contextmanager
def launched(playwright: Playwright, *more: str) -> Iterator[Browser]:
    executable = program("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    arguments = [*ARGUMENTS, *more]
    with playwright.chromium.launch(executable_path=executable, args=arguments) as browser:
        yield browser
