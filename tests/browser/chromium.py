"""Start Chromium: headless, quiet, and with two host names that lead to this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Playwright

from tests.tools import program

# Chromium uses only the last such list, so this one begins with Playwright's. Then come features
# that start processes: those of each new window's address bar, and a spare one for another site.
# They take more CPU than the pages do.
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
def launched(playwright: Playwright, *more: str, is_full: bool = False) -> Iterator[Browser]:
    """Launch the headless shell, or all of Chromium, which also shows notifications."""
    shell = () if is_full else ("chromium-headless-shell",)
    executable = program(*shell, "chromium", "chromium-browser", "google-chrome")
    arguments = [*ARGUMENTS, *more]
    with playwright.chromium.launch(executable_path=executable, args=arguments) as browser:
        yield browser
