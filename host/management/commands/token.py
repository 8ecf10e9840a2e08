from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from host.management.commands.account import make_tables
from host.management.commands.signin_link import names
from webui.activity import events
from webui.connection import connection
from webui.library import paths
from webui.library.bounds import Bounds
from webui.models import Role, User
from webui.tokens import tokens
from webui.tokens.tokens import LONGEST_NAME, Purpose
from webui.v1.errors import Failure


class Command(BaseCommand):
    help = "Makes a token for a person's programs, and prints it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["add"])
        parser.add_argument("person", help="the name that the person signs in with")
        parser.add_argument("--for", required=True, choices=Purpose.values, dest="purpose")
        parser.add_argument("--name", default="", help="what the account page calls the token")
        parser.add_argument("--read-only", action="store_true", help="it can't change anything")
        parser.add_argument(
            "--folder", default="", metavar="PATH", help="it opens only this folder"
        )

    def handle(
        self,
        *_args: Any,
        person: str,
        purpose: str,
        name: str,
        read_only: bool,
        folder: str,
        **_options: Any,
    ) -> None:
        make_tables()
        user = User.objects.filter(username__iexact=person, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no person {person!r}. {names()}")
        if not tokens.may_do(Role(user.role), purpose, writes=not read_only):
            raise CommandError(f"{user.username} is a {user.role}, who may only read: --read-only.")
        service, bounds = find_bounds(folder)
        now = timezone.now()
        name = name[:LONGEST_NAME] or f"{purpose} {now:%Y-%m-%d %H:%M:%S}"
        token = tokens.create(
            *(user, name, now, Purpose(purpose)),
            may_write=not read_only,
            service=service,
            bounds=bounds,
        )
        events.record_command(events.Kind.TOKEN_MADE, name)
        self.stdout.write(token)


def find_bounds(path: str) -> tuple[str, Bounds | None]:
    """Return the service, and what the token is limited to."""
    if not paths.names_of(path):
        return "", None
    try:
        service = connection.service()
        folder = paths.find_folder(service, paths.names_of(path), timezone.now())
    except Failure as failure:
        raise CommandError(f"The storage service failed: {failure}") from failure
    if folder is None:
        raise CommandError(f"There is no folder {path!r}.")
    return service.key, Bounds(folder.folder, folder.name)
