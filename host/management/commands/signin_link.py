from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from host.management.commands.account import make_tables
from host.preparation import reachable_hosts
from webui.activity import events
from webui.models import User
from webui.people import pairing


class Command(BaseCommand):
    help = "Prints a link that signs a person in without a password, once, within 5 minutes."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name that the person signs in with")

    def handle(self, *_args: Any, name: str, **_options: Any) -> None:
        make_tables()
        person = User.objects.filter(username__iexact=name, is_active=True).first()
        if person is None:
            raise CommandError(f"There is no person {name!r}. {names()}")
        _row, token = pairing.offer(person, pairing.TERMINAL, timezone.now(), pairing.CODE_LIFETIME)
        events.record_command(events.Kind.LINK_PRINTED, person.username)
        path = f"{settings.URL_PREFIX}{reverse('pair-accept', args=[token])}"
        urls = [f"http://{host}:{settings.PORT}{path}" for host in reachable_hosts()]
        minutes = pairing.CODE_LIFETIME.seconds // 60
        self.stdout.write(
            f"Any of these addresses signs {person.username} in, once, within {minutes} minutes."
            f" The page shows the number {pairing.number_of(token)}."
            " Behind a proxy, put the proxy's address in front of the path.\n"
        )
        self.stdout.write("\n".join(f"  {url}" for url in urls))


def names() -> str:
    usernames = ", ".join(User.objects.order_by("pk").values_list("username", flat=True))
    return f"There are: {usernames}." if usernames else "No one has joined yet."
