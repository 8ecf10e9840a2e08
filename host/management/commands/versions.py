from typing import Any

from django.core.management.base import BaseCommand

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
