"""Row 32: each kind of credential opens its own doors, and no others, whatever it may do there.

A session opens the site, and a token one door. tests/webui/drive/test_writing.py tests each method
of the drive with each right.
"""

from base64 import b64encode
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from config.embedded import upstream
from tests.attacks.test_24_grants import of_service
from tests.cases import each_case
from tests.people import PASSWORD, make_person
from tests.webui.add.test_views import magnet
from tests.webui.server.test_program_views import make_old_password
from tests.webui.shares import linked
from webui.connection import connection
from webui.library.bounds import Bounds
from webui.library.entries import ROOT
from webui.models import Role, Throttle, Token
from webui.tokens import tokens
from webui.tokens.tokens import Purpose

pytestmark = pytest.mark.django_db
METRICS_TOKEN = "a token for metrics"


@pytest.fixture(autouse=True)
def really(own_service, settings):
    settings.METRICS_TOKEN = METRICS_TOKEN


def basic(secret: str, name: str = "any name") -> dict[str, str]:
    return {"authorization": f"Basic {b64encode(f'{name}:{secret}'.encode()).decode()}"}


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


# Credentials, each as the headers of all ways to send it


def session(olga) -> Iterator[dict[str, str]]:
    key = olga.client.session.session_key
    yield {"cookie": "; ".join(f"{each.key}={each.value}" for each in olga.client.cookies.values())}
    yield from (basic(key), bearer(key))


def password(olga) -> Iterator[dict[str, str]]:
    yield from (basic(PASSWORD, "olga"), bearer(PASSWORD))


def token_for(purpose: Purpose, **options):
    def make(olga) -> Iterator[dict[str, str]]:
        token = tokens.create(olga.user, f"{purpose}", timezone.now(), purpose, **options)
        yield from (basic(token), basic(token, "olga"), basic(token, ""), bearer(token))

    return make


def of_programs(olga) -> Iterator[dict[str, str]]:
    yield basic(make_old_password(olga.user), upstream.EMBEDDED_ACCOUNT)


def of_metrics(olga) -> Iterator[dict[str, str]]:
    yield from (basic(METRICS_TOKEN), bearer(METRICS_TOKEN))


def of_link(olga) -> Iterator[dict[str, str]]:
    token = linked.make_link(olga, "0").split("/")[2]
    yield from (basic(token), bearer(token))


def nothing(olga) -> Iterator[dict[str, str]]:
    yield from ({}, basic(""), bearer(""), bearer("ferry_guess"), basic("ferry_guess"))
    yield from ({"authorization": "Basic %%%"}, {"authorization": "Basic"})


CREDENTIALS = {
    "nothing": nothing,
    "session": session,
    "password": password,
    "token to send": token_for(Purpose.SEND),
    "token for the drive": token_for(Purpose.DRIVE),
    "token to read the drive": token_for(Purpose.DRIVE, may_write=False),
    "token for programs": token_for(Purpose.PROGRAMS),
    "token for programs to read": token_for(Purpose.PROGRAMS, may_write=False),
    "password for other programs": of_programs,
    "token for metrics": of_metrics,
    "link": of_link,
}


# Doors: each returns a status


def ask(method: str, path: str, **options):
    def open_(headers: dict[str, str]) -> int:
        site = Client(enforce_csrf_checks=True)
        named = {"host": "localhost"} | headers
        return site.generic(method, path, headers=named, **options).status_code

    return open_


def ask_transmission(headers: dict[str, str]) -> int:
    """Return 200 in place of 409, with which this door tells a program what to repeat."""
    status = ask("GET", "/transmission/rpc")(headers)
    return 200 if status == 409 else status


FORM = {"data": f"text={magnet()}", "content_type": "application/x-www-form-urlencoded"}
DOORS = {
    "site": ask("GET", "/"),
    "account": ask("GET", "/account/"),
    "send": ask("POST", "/send/", **FORM),
    "drive": ask("PROPFIND", "/dav/"),
    "drive, to change it": ask("MKCOL", "/dav/New"),
    "programs": ask("GET", "/api/v2/app/version"),
    "programs, to change something": ask("POST", "/api/v2/torrents/createTags"),
    "transmission": ask_transmission,
    "v1": lambda headers: of_service("/rest/user", **headers),
    "metrics": ask("GET", "/metrics"),
}
PROGRAMS = {"programs", "programs, to change something", "transmission"}
OPENS = {
    "session": {"site", "account"},
    "token to send": {"send"},
    "token for the drive": {"drive", "drive, to change it"},
    "token to read the drive": {"drive"},
    "token for programs": {*PROGRAMS, "v1"},
    "token for programs to read": {"programs", "transmission", "v1"},
    "password for other programs": {"v1"},
    "token for metrics": {"metrics"},
}
OPEN, CLOSED = (200, 201, 207, 405, 422), (302, 401, 403, 404, 429)


@each_case("credential", CREDENTIALS)
def test_each_credential_opens_its_doors_and_no_others(credential):
    olga = make_person(f"olga{len(credential)}x{credential[-3:]}".replace(" ", ""), Role.OWNER)
    ways = list(CREDENTIALS[credential](olga))
    opened = set()
    for door, open_ in DOORS.items():
        statuses = {open_(headers) for headers in ways}
        assert statuses <= {*OPEN, *CLOSED}, (door, statuses)
        if statuses & {*OPEN}:
            opened.add(door)
    assert opened == OPENS.get(credential, set())


RIGHTS = {
    # Purpose, role, may write -> what it may do there.
    (Purpose.SEND, Role.GUEST, True): set(),
    (Purpose.SEND, Role.MEMBER, True): {"send"},
    (Purpose.DRIVE, Role.GUEST, True): {"drive"},
    (Purpose.DRIVE, Role.GUEST, False): {"drive"},
    (Purpose.DRIVE, Role.MEMBER, True): {"drive", "drive, to change it"},
    (Purpose.DRIVE, Role.MEMBER, False): {"drive"},
    (Purpose.PROGRAMS, Role.GUEST, True): set(),
    (Purpose.PROGRAMS, Role.MEMBER, True): PROGRAMS,
    (Purpose.PROGRAMS, Role.OWNER, True): {*PROGRAMS, "v1"},
}
# What an owner's token opens if it is limited to a folder: v1 knows no such limit.
RIGHTS_IN_A_FOLDER = {
    (Purpose.DRIVE, True): {"drive", "drive, to change it"},
    (Purpose.DRIVE, False): {"drive"},
    (Purpose.PROGRAMS, True): PROGRAMS,
    (Purpose.PROGRAMS, False): {"programs", "transmission"},
}


@each_case("right", RIGHTS)
def test_a_token_does_what_its_person_may_do_now(right):
    """The row of a token outlives a change that no one's code has made."""
    purpose, role, may_write = right
    person = make_person(f"{purpose}{role}{may_write}", Role.OWNER)
    token = tokens.create(person.user, "x", timezone.now(), purpose, may_write=may_write)
    person.user.role = role
    person.user.save()
    opened = {door for door, open_ in DOORS.items() if open_(bearer(token)) in OPEN}
    assert opened == RIGHTS[right]


@each_case("right", RIGHTS_IN_A_FOLDER)
def test_a_token_of_a_folder_opens_its_door_where_the_folder_is(right):
    purpose, may_write = right
    olga, service = make_person(f"olga {purpose} {may_write}", Role.OWNER), connection.service()
    bounds = Bounds(service.v1.create_folder(f"{purpose} {may_write}", ROOT), "Films")
    opened = {}
    for key in (service.key, "elsewhere"):
        token = tokens.create(
            *(olga.user, key, timezone.now(), purpose),
            may_write=may_write,
            service=key,
            bounds=bounds,
        )
        opened[key] = {door for door, open_ in DOORS.items() if open_(bearer(token)) in OPEN}
    assert opened == {service.key: RIGHTS_IN_A_FOLDER[right], "elsewhere": set()}


def test_at_v1_a_token_to_read_changes_nothing_and_a_folder_is_no_limit(alice):
    now = timezone.now()
    reads = tokens.create(alice.user, "a", now, Purpose.PROGRAMS, may_write=False)
    limited = tokens.create(
        alice.user, "b", now, Purpose.PROGRAMS, service="x", bounds=Bounds("7", "Films")
    )
    assert of_service("/rest/folder", **bearer(reads)) == 200
    assert of_service("/rest/folder", **bearer(limited)) == 403
    assert of_service("/rest/folder/7/delete", "POST", **bearer(reads)) == 403


@each_case(
    ("purpose", "role", "status"),
    [
        (Purpose.DRIVE, Role.OWNER, 403),
        (Purpose.SEND, Role.OWNER, 403),
        (Purpose.PROGRAMS, Role.MEMBER, 403),
        (Purpose.PROGRAMS, Role.GUEST, 403),
        (Purpose.PROGRAMS, Role.OWNER, 200),
    ],
)
def test_v1_tells_a_token_for_something_else_from_an_unknown_one(purpose, role, status):
    person = make_person(f"{purpose}{role}", role)
    token = tokens.create(person.user, "x", timezone.now(), purpose)
    for headers in (basic(token), bearer(token)):
        assert of_service("/rest/user", **headers) == status
    Token.objects.all().delete()
    assert of_service("/rest/user", **bearer(token)) == 401


@each_case("door", ["send", "drive", "v1"])
def test_guesses_slow_down_their_network_and_no_valid_token(door, alice):
    purpose = {"send": Purpose.SEND, "drive": Purpose.DRIVE, "v1": Purpose.PROGRAMS}[door]
    Throttle.objects.all().delete()
    token = tokens.create(alice.user, door, timezone.now(), purpose)
    statuses = [DOORS[door](bearer("ferry_guess")) for _guess in range(30)]
    assert statuses[0] == 401
    assert Throttle.objects.get().count >= 20
    assert statuses[-1] == 429
    assert DOORS[door](bearer(token)) in OPEN


def test_a_cross_site_form_does_nothing_on_the_drive(alice):
    token = tokens.create(alice.user, "x", timezone.now(), Purpose.DRIVE)
    headers = {"origin": "https://evil.example", **basic(token)}
    assert ask("POST", "/dav/", **FORM)(headers) == 405
    answer = Client().options(
        "/dav/", headers={"host": "localhost", "origin": "https://evil.example"}
    )
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_no_token_is_in_the_database_the_log_or_the_process_list(alice, caplog):
    caplog.set_level("DEBUG")
    said = StringIO()
    call_command("token", "add", "alice", "--for", "drive", stdout=said)
    token = said.getvalue().strip()
    assert DOORS["drive"](basic(token)) == 207
    assert DOORS["drive"](basic(f"{token}x")) == 401
    assert token not in str(Token.objects.values())
    assert token not in caplog.text


def test_a_command_makes_no_token_that_could_do_nothing(gwen, alice):
    with pytest.raises(CommandError, match="read-only"):
        call_command("token", "add", "gwen", "--for", "drive")
    call_command("token", "add", "gwen", "--for", "drive", "--read-only", stdout=StringIO())
    for options in (["gwen", "--for", "send"], ["ida", "--for", "drive"]):
        with pytest.raises(CommandError):
            call_command("token", "add", *options)
    with pytest.raises(CommandError, match="no folder"):
        call_command("token", "add", "gwen", "--for", "drive", "--read-only", "--folder", "Gone")
    assert Token.objects.count() == 1
