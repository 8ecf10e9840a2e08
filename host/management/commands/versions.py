from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from host import versions
from host.storage import release


class Command(BaseCommand):
    help = "Prints the versions of Ferry and of what it runs, and their known holes."
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        for program, version in versions.running().items():
            note = f", released on {release.date()}" if program == "Ferry" else ""
            self.stdout.write(f"{program} {version or 'unknown'}{note}")
        for sentence in versions.known_holes(versions.running()):
            self.stderr.write(f"Warning: {sentence}")
        if settings.RELEASES_URL:
            self.compare(settings.RELEASES_URL)

    def compare(self, url: str) -> None:
        try:
            newest = versions.newest_release(url)
        except (httpx.HTTPError, httpx.InvalidURL) as trouble:
            raise CommandError(f"RELEASES_URL: it can't be read: {trouble}") from None
        is_newer = versions.is_before(release.version(), (newest,))
        self.stdout.write(f"Ferry {newest} is out." if is_newer else "No newer Ferry is out.")
