import sys
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from config.embedded import upstream
from config.environment import parse_size
from host import preparation
from service.accounts import accounts
from service.accounts.credentials import LONGEST_PASSWORD
from service.code_point_order import by_code_point
from service.errors import EmailTaken, NotFound
from service.models import Account
from webui.activity import events
from webui.models import ProgramPassword


class Command(BaseCommand):
    help = "Manages the accounts of Ferry's own service, with which programs use /rest."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        new = actions.add_parser("add", help="the password is read from standard input, one line")
        add_email(new)
        new.add_argument("--type", choices=Account.Kind.values, default=Account.Kind.PAID)
        new.add_argument("--space", type=parse_size, default=accounts.DEFAULT_SPACE_BYTES)
        actions.add_parser("list")
        add_email(actions.add_parser("password", help="read from standard input, one line"))
        kind = actions.add_parser("type")
        add_email(kind)
        kind.add_argument("type", choices=Account.Kind.values)
        space = actions.add_parser("space")
        add_email(space)
        space.add_argument("space", type=parse_size, help="such as 50GB")
        deletions = actions.add_parser("deletions", help="what other programs delete")
        add_email(deletions)
        deletions.add_argument("deletions", choices=("final", "restorable"))
        add_email(actions.add_parser("remove", help="with all its files"))

    def handle(self, *_args: Any, **options: Any) -> None:
        if "email" in options:
            check_email(options["email"])
        make_tables()
        try:
            self.stdout.write(ACTIONS[options["action"]](options))
            if options["action"] != "list":
                events.record_command(
                    events.Kind.ACCOUNT_CHANGED, options["email"], detail=options["action"]
                )
        except NotFound as unknown:
            raise CommandError(f"No account {options['email']}.") from unknown
        except EmailTaken as duplicate:
            raise CommandError(f"The account {options['email']} already exists.") from duplicate


def make_tables() -> None:
    """Make the tables if Ferry has never run. Existing tables are never changed."""
    with preparation.alone(settings.DATA_DIR / "prepare.lock"):
        if MigrationRecorder(connection).has_table():
            return
        preparation.make_tables()


def add_email(parser: CommandParser) -> None:
    parser.add_argument("email")


def check_email(email: str) -> None:
    try:
        validate_email(email)
    except ValidationError as wrong:
        raise CommandError(f"{email!r} isn't an email address.") from wrong


def add(options: dict[str, Any]) -> str:
    account = accounts.add(
        options["email"],
        password_from_input(Account(email=options["email"])),
        timezone.now(),
        kind=Account.Kind(options["type"]),
        space_max_bytes=options["space"],
    )
    return f"Added {line_of(account)}"


def list_all(_options: dict[str, Any]) -> str:
    rows = Account.objects.order_by(by_code_point("email"))
    return "\n".join(map(line_of, rows)) or "There is no account."


def change_password(options: dict[str, Any]) -> str:
    account = accounts.find(options["email"])
    accounts.set_password(account, password_from_input(account))
    if account.email == upstream.EMBEDDED_ACCOUNT:
        # The machine's administrator set it: it doesn't end with the owner who made the last one.
        ProgramPassword.objects.all().delete()
    return f"{account.email} has a new password; its signed links no longer work."


def change_type(options: dict[str, Any]) -> str:
    account = accounts.find(options["email"])
    accounts.set_kind(account, Account.Kind(options["type"]))
    return line_of(accounts.find(options["email"]))


def change_space(options: dict[str, Any]) -> str:
    accounts.set_space(accounts.find(options["email"]), options["space"], timezone.now())
    return line_of(accounts.find(options["email"]))


def change_deletions(options: dict[str, Any]) -> str:
    account, is_final = accounts.find(options["email"]), options["deletions"] == "final"
    accounts.set_keeps_deleted(account, keeps_deleted=not is_final)
    if is_final:
        return f"What programs delete as {account.email} is gone."
    return f"What programs delete as {account.email} can be restored for some time."


def remove(options: dict[str, Any]) -> str:
    account = accounts.find(options["email"])
    accounts.remove(account, timezone.now())
    return f"Removed {account.email} with all its files."


def password_from_input(account: Account) -> str:
    """Read a password from standard input: everyone on this machine can see arguments."""
    password = sys.stdin.readline().rstrip("\r\n")
    refuse_weak(password, account)
    return password


def refuse_weak(password: str, person: Any) -> None:
    """Refuse a weak password, such as one that resembles the name or email of `person`."""
    if len(password) > LONGEST_PASSWORD:
        raise CommandError(f"A password has at most {LONGEST_PASSWORD} characters.")
    try:
        validate_password(password, person)
    except ValidationError as weak:
        raise CommandError(" ".join(weak.messages)) from weak


def line_of(account: Account) -> str:
    used_gb, most_gb = (
        size / 10**9 for size in (account.space_used_bytes, account.space_max_bytes)
    )
    return f"{account.email}  {account.kind}  {used_gb:.2f} of {most_gb:.2f} GB used"


ACTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "add": add,
    "list": list_all,
    "password": change_password,
    "type": change_type,
    "space": change_space,
    "deletions": change_deletions,
    "remove": remove,
}
