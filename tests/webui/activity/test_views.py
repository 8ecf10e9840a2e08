"""The activity page, where the owner sees what people did."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.embedded import upstream
from service.accounts import accounts
from tests.cases import each_case
from tests.people import PASSWORD, page, words
from tests.webui.people.test_pairing import PHONE, offered
from tests.webui.people.test_views import NEW, invited
from tests.webui.service import EMAIL
from webui.activity import events as events_module
from webui.activity.events import MOST_APART, Kind
from webui.activity.page import ALL_FILES, activity_page
from webui.activity.views import PAGE_SIZE
from webui.connection import connection as site
from webui.models import Activity, Device, OneTimeLink, Share, Token
from webui.pruning import prune
from webui.signin.ask_password import FIELD
from webui.words.formatting import Calendar

pytestmark = pytest.mark.django_db
URL = "https://storage.example"


@pytest.fixture(autouse=True)
def _service(storage, monkeypatch):
    accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
    # A test can't serve anything at the https address of a public host.
    monkeypatch.setattr(site, "check", lambda *_account: storage.service.v1.account())
    site.disconnect()
    yield
    site.disconnect()


def events(alice) -> list[str]:
    rows = page(alice.client.get("/account/activity/")).select("#events bdi")
    return [row.get_text() for row in rows]


def stranger(agent: str = "Firefox/140.0") -> Client:
    return Client(headers={"host": "localhost", "user-agent": agent})


def guess(name: str, address: str = "198.51.100.7") -> None:
    form = {"username": name, "password": "guess"}
    stranger().post("/signin/", form, REMOTE_ADDR=address)


# Actions on the pages and by command


def sign_in(alice, bob, storage):
    stranger().post("/signin/", {"username": "bob", "password": PASSWORD})


def pair(alice, bob, storage):
    path, _number, _state = offered(bob)
    stranger().post(path)


def approve(alice, bob, storage):
    code = words(stranger(PHONE).post("/pair/"), ".pair-code")
    bob.client.post("/account/pair/code/", {"code": code, "approve": "1"})


def join(alice, bob, storage):
    stranger().post(invited(alice), NEW)


def take_back_an_invitation(alice, bob, storage):
    invited(alice, "owner")
    alice.client.post(f"/account/people/invitations/{OneTimeLink.objects.get().pk}/")


def change_people(alice, bob, storage):
    alice.client.post(f"/account/people/{bob.user.pk}/", {"role": "guest"})
    alice.client.post(f"/account/people/{bob.user.pk}/signout/")
    alice.client.post(f"/account/people/{bob.user.pk}/remove/")


def sign_out_devices(alice, bob, storage):
    stranger(PHONE).post("/signin/", {"username": "bob", "password": PASSWORD})
    device = Device.objects.get(agent=PHONE)
    bob.client.post(f"/account/devices/{device.pk}/signout/")
    bob.client.post("/account/devices/signout/")


def change_password(alice, bob, storage):
    new = "a louder harbour at night"
    form = {"old_password": PASSWORD, "password": new, "password_again": new}
    bob.client.post("/account/password/", form)


def make_and_revoke_a_token(alice, bob, storage):
    bob.client.post("/account/tokens/", {"name": "seedbox"})
    bob.client.post(f"/account/tokens/{Token.objects.get().pk}/revoke/")


def make_and_revoke_a_link(alice, bob, storage):
    film = storage.file("Film.mkv")
    bob.client.post(f"/files/0/file-{film.id}/link/")
    bob.client.post(f"/account/links/{Share.objects.get().pk}/revoke/")


def let_programs_in(alice, bob, storage):
    alice.client.post("/account/programs/")


def connect(alice, bob, storage):
    form = {"url": URL, "email": EMAIL, "password": "herring in oil"}
    alice.client.post("/account/connection/", form)
    alice.client.post("/account/connection/forget/")


def change_settings(alice, bob, storage):
    alice.client.post("/account/server/storage/", {"space_gb": "70", "deleted_days": "7"})
    alice.client.post("/account/server/names/", {"server_name": "Harbor", "host_names": "a.lan"})


def delete(alice, bob, storage):
    for name in ("a.txt", "b.txt", "c.txt"):
        storage.file(name)
    bob.client.post("/files/0/delete/", {"all": "1"})
    storage.file("100%s.txt")
    bob.client.post("/files/0/delete/", {"all": "1"})


def rename_and_undo(alice, bob, storage):
    key = f"file-{storage.file('a.txt').id}"
    bob.client.post(f"/files/0/{key}/rename/", {"name": "notes.txt"})
    bob.client.post("/files/undo/", {"undo": f"renamed:0:{key}:a.txt"})


def remove_a_transfer(alice, bob, storage):
    one = storage.transfer("Sintel")
    bob.client.get("/transfers/")
    bob.client.post(f"/transfers/t{one.id}/remove/")


def make_an_owner_by_command(alice, bob, storage):
    with pytest.MonkeyPatch.context() as patch:
        # The command reads the password from the environment, and no other test should see it.
        patch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
        options = {"username": "olga", "interactive": False, "stdout": StringIO()}
        call_command("createsuperuser", **options)


def change_a_password_by_command(alice, bob, storage):
    with pytest.MonkeyPatch.context() as patch:
        # The command prompts at a terminal, and a test has none.
        patch.setattr("getpass.getpass", lambda prompt: "a louder harbour at night")
        call_command("changepassword", "bob", stdout=StringIO())


def change_an_account_by_command(alice, bob, storage):
    call_command("account", "space", upstream.EMBEDDED_ACCOUNT, "100GB", stdout=StringIO())
    call_command("account", "list", stdout=StringIO())


def let_in_by_command(alice, bob, storage):
    call_command("signin_link", "BOB", stdout=StringIO())
    call_command("unlock", stdout=StringIO())


def connect_by_command(alice, bob, storage):
    site.store(URL, EMAIL, "herring in oil")
    call_command("connect", "--forget", stdout=StringIO())


SAID = {
    sign_in: ["bob signed in"],
    pair: ["bob created a pairing link", "bob signed in without a password"],
    approve: ["bob approved a device: Safari on iPhone"],
    join: [
        "alice created an invitation (Member)",
        "ida signed in",
        "ida accepted an invitation (Member)",
    ],
    take_back_an_invitation: [
        "alice created an invitation (Owner)",
        "alice revoked an invitation",
    ],
    change_people: [
        "alice changed bob's role to Guest",
        "alice signed bob out everywhere",
        "alice removed bob",
    ],
    sign_out_devices: [
        "bob signed in",
        "bob signed out a device: Safari on iPhone",
        "bob signed out all their other devices",
    ],
    change_password: ["bob changed their password"],
    make_and_revoke_a_token: ["bob created a token: seedbox", "bob revoked a token: seedbox"],
    make_and_revoke_a_link: [
        "bob created a link: Film.mkv",
        "bob revoked a link: Film.mkv",
    ],
    let_programs_in: [
        "alice revoked the password for other programs",
    ],
    connect: [
        "alice connected Ferry to storage.example",
        "alice disconnected Ferry from storage.example",
    ],
    change_settings: [
        "alice changed the space for files to 70 GB",
        "alice changed for how many days deleted items can be restored: 7",
        "alice named this server “Harbor”",
        "alice changed the names of this server: a.lan",
    ],
    delete: ["bob deleted “a.txt” and 2 more", "bob deleted “100%s.txt”"],
    rename_and_undo: [
        "bob renamed “a.txt” to “notes.txt”",
        "bob renamed “notes.txt” to “a.txt”",
    ],
    remove_a_transfer: ["bob removed a transfer: Sintel"],
    make_an_owner_by_command: ["olga became an owner"],
    change_a_password_by_command: ["A command on this machine changed bob's password"],
    change_an_account_by_command: [
        "A command on this machine changed the service account ferry@localhost (space)"
    ],
    let_in_by_command: [
        "A command on this machine created a sign-in link for bob",
        "A command on this machine cleared the limits on wrong passwords",
    ],
    connect_by_command: ["A command on this machine disconnected Ferry from storage.example"],
}


@pytest.mark.slow
@each_case("act", SAID)
def test_the_owner_reads_what_was_done(act, alice, bob, storage):
    act(alice, bob, storage)
    assert events(alice)[::-1] == SAID[act]


@each_case(
    ("folder", "count", "sentence"),
    [
        ("Films", 1, "bob moved “a” to Films"),
        ("Films", 3, "bob moved “a” and 2 more to Films"),
        (ALL_FILES, 1, "bob moved “a” to All files"),
        ("", 1, "bob moved “a”"),  # as older versions recorded it
    ],
)
def test_a_move_says_where_to(folder, count, sentence):
    facts = {"kind": Kind.MOVED, "person": "bob", "subject": "a", "detail": folder}
    event = Activity(at=timezone.now(), count=count, **facts)
    (row,) = activity_page([event], Calendar.now(), 0).rows
    assert row.text == sentence


def test_every_kind_has_a_sentence():
    rows = [
        Activity(at=timezone.now(), kind=kind, person="bob", subject="x", detail="owner")
        for kind in Kind
    ]
    shown = activity_page(rows, Calendar.now(), 0)
    assert all(row.text and "%" not in row.text for row in shown.rows)


def test_time_and_address_are_shown(alice):
    stranger().post("/signin/", {"username": "bob", "password": PASSWORD}, REMOTE_ADDR="10.1.0.7")
    form = {"username": "alice", "password": PASSWORD}
    stranger().post("/signin/", form, REMOTE_ADDR="10.1.0.7")
    note = words(alice.client.get("/account/activity/"), "#events small")
    assert note.endswith(", from 10.1.0.7")
    assert str(timezone.now().year) in note


# Failures


def test_failed_sign_ins_of_an_hour_are_one_row_for_each_name_and_network(alice):
    for _time in range(3):
        guess("Alice")
    guess("alice", "2001:db8::1")
    guess("alice", "2001:db8::2")
    guess("my password")
    assert events(alice)[::-1] == [
        "3 failed sign-ins as alice within an hour",
        "2 failed sign-ins as alice within an hour",
        "1 failed sign-in with an unknown name",
    ]
    assert "my password" not in str(list(Activity.objects.values()))


@each_case(
    ("path", "field"),
    [("/account/password/", "old_password"), ("/account/tokens/", "current_password")],
)
def test_guesses_of_signed_in_people_count_too(alice, path, field):
    alice.client.post(path, {field: "guess", FIELD: "", "password": NEW, "password_again": NEW})
    assert events(alice)[0] == "1 failed sign-in as alice"


def test_the_next_hour_is_another_row(alice):
    guess("alice")
    Activity.objects.update(at=timezone.now() - timedelta(minutes=61))
    guess("alice")
    assert events(alice) == ["1 failed sign-in as alice"] * 2


def test_strangers_cannot_flood_it(alice):
    for number in range(MOST_APART + 30):
        events_module.record_failure("alice", f"10.{number}.0.1")
    assert Activity.objects.count() == MOST_APART + 1
    assert events(alice)[0] == "30 more failed sign-ins from other addresses within an hour"


# The list


def test_it_is_pruned_after_ninety_days(alice):
    now = timezone.now()
    for days in (89, 91):
        Activity.objects.create(at=now - timedelta(days=days), kind=Kind.SIGNED_IN, person="bob")
    prune(now)
    assert [(now - each.at).days for each in Activity.objects.all()] == [89]


def test_older_events_are_a_page_further(alice):
    count = PAGE_SIZE * 2 + 5
    Activity.objects.bulk_create(
        Activity(at=timezone.now(), kind=Kind.SIGNED_IN, person=f"p{number}")
        for number in range(count)
    )
    url, seen = "/account/activity/", []
    for _page in range(3):
        shown = page(alice.client.get(url))
        seen += [row.get_text() for row in shown.select("#events bdi")]
        link = shown.select_one(".sheet a.btn")
        url = link["href"] if link else ""
    assert seen == [f"p{number} signed in" for number in reversed(range(count))]
    assert not url


@each_case("before", ["", "x", "-1", "0", "9" * 30, "²"])
def test_a_strange_page_number_breaks_nothing(alice, before):
    assert alice.client.get(f"/account/activity/?before={before}").status_code == 200


def test_an_event_costs_one_insert(alice, bob):
    with CaptureQueriesContext(connection) as seen:
        events_module.write(Kind.SIGNED_IN, "bob", "")
    assert len(seen) == 1


def test_actions_succeed_even_if_they_cannot_be_recorded(alice, monkeypatch, caplog):
    def fail(**_facts):
        raise OperationalError("database or disk is full")

    # As on a disk that fills up between two writes of one request.
    monkeypatch.setattr(Activity.objects, "create", fail)
    alice.client.post("/account/tokens/", {"name": "seedbox"})
    assert Token.objects.exists()
    assert "activity not recorded kind=token_made" in caplog.text


def test_only_the_owner_finds_it_on_the_account_page(alice, bob):
    assert page(alice.client.get("/account/server/")).select_one(
        "#activity a[href='/account/activity/']"
    )
    assert not page(bob.client.get("/account/server/")).select_one("#activity")
