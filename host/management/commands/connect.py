import getpass
import sys
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webui.activity import events
from webui.connection import connection
from webui.models import Connection
from webui.server.pages.server import place_of
from webui.v1.errors import Failure
from webui.words.failures import message_of


class Command(BaseCommand):
    help = (
        "Connects the site to another v1 service. Asks for name and password, or reads them "
        "as two lines from standard input. Never give them as arguments, which everyone on this "
        "machine can see."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", nargs="?", help="such as https://storage.example.org")
        parser.add_argument("--forget", action="store_true", help="back to the embedded service")

    def handle(self, *_args: Any, url: str | None, forget: bool, **_options: Any) -> None:
        if settings.SERVICE_URL:
            raise CommandError("SERVICE_URL is set and takes precedence over what is stored here.")
        if forget:
            previous = Connection.objects.first()
            connection.disconnect()
            if previous is not None:
                events.record_command(events.Kind.DISCONNECTED, place_of(previous.url))
            self.stdout.write("Removed. The site shows Ferry's own service again.")
            return
        service_url = address(url or "")
        name, password = credentials()
        try:
            account = connection.check(service_url, name, password)
        except Failure as failure:
            raise CommandError(f"{message_of(failure).words} Nothing was saved.") from None
        connection.store(service_url, name, password)
        events.record_command(events.Kind.CONNECTED, place_of(service_url))
        self.stdout.write(f"Connected as {account.name or name}.")


def address(url: str) -> str:
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise CommandError("Leave name and password out of the address. Ferry asks for them.")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise CommandError("Give an address such as https://storage.example.org")
    return url.rstrip("/")


def credentials() -> tuple[str, str]:
    if sys.stdin.isatty():
        return input("Email address: ").strip(), getpass.getpass()
    lines = [sys.stdin.readline().rstrip("\r\n") for _line in range(2)]
    if not all(lines):
        raise CommandError("Standard input must have two lines: email address and password.")
    return lines[0], lines[1]
