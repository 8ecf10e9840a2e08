"""The page that helps a device trust Ferry's https, with steps for each system."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

# The first match counts. iPads claim to be Macs.
SYSTEMS = (
    (r"iPhone|iPad|iPod", "ios"),
    (r"Android", "android"),
    (r"Firefox/", "firefox"),
    (r"Windows", "windows"),
    (r"Macintosh", "macos"),
    (r"Linux|X11", "linux"),
)


@dataclass(frozen=True)
class System:
    title: str
    # The first one has the button that downloads the certificate, and may need no words.
    steps: list[str]
    is_profile: bool = False
    """Whether the device takes the certificate in a profile."""


@dataclass(frozen=True)
class SecurePage:
    origin: str
    is_secure: bool
    own: System | None
    others: list[System]


def secure_page(origin: str, agent: str, *, is_secure: bool, has_root: bool) -> SecurePage:
    """Return the page. If the owner brought a certificate, devices need no steps to trust it."""
    all_systems = systems() if has_root else {}
    own = next((key for pattern, key in SYSTEMS if re.search(pattern, agent)), "")
    others = [each for key, each in all_systems.items() if key != own]
    return SecurePage(origin, is_secure, all_systems.get(own), others)


def systems() -> dict[str, System]:
    return {
        "ios": System(
            _("iPhone and iPad"),
            [
                _("Open this page in Safari, download the certificate, and tap “Allow”."),
                _("Open Settings, tap “Profile Downloaded”, then “Install”."),
                _(
                    "In Settings, open General > About > Certificate Trust Settings, and turn on "
                    "“Ferry at home”."
                ),
            ],
            is_profile=True,
        ),
        "android": System(
            "Android",
            [
                "",
                _("Open Settings, search for “CA certificate”, and choose “Install anyway”."),
                _("Choose the file “ferry.crt” from your downloads."),
                _(
                    "In Firefox, also open Settings > About Firefox and tap the logo five times. "
                    "Then turn on “Use third party CA certificates” in Settings > Secret Settings."
                ),
            ],
        ),
        "firefox": System(
            _("Firefox on a computer"),
            [
                "",
                _("Open Settings > Privacy & Security > View Certificates > Authorities."),
                _("Choose “Import”, then the file “ferry.crt”, and trust it for websites."),
            ],
        ),
        "windows": System(
            "Windows",
            [
                _("Download the certificate, open it, and choose “Install Certificate”."),
                _("Choose “Current User” and the store “Trusted Root Certification Authorities”."),
                _("Confirm the warning, then restart your browser."),
            ],
        ),
        "macos": System(
            "macOS",
            [
                _("Download the certificate and open it. Add it to the “login” keychain."),
                _("In Keychain Access, double-click “Ferry at home”, and open “Trust”."),
                _("Choose “Always Trust”, close the window, and enter your password."),
            ],
        ),
        "linux": System(
            _("Linux with Chrome or Chromium"),
            [
                "",
                _("Open chrome://certificate-manager, and choose “Custom”."),
                _("Import the file “ferry.crt” as a trusted certificate."),
            ],
        ),
    }
