"""Row 24: a grant ends with its origin, and survives everything else.

SECURITY.md shows people the same table; a test compares the two.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client, RequestFactory

from config.embedded import service, upstream
from service.models import Account
from service.store.blobs import library_store
from tests.cases import each_case
from tests.people import PASSWORD, Stranger, make_person, page, signed_in, words
from tests.service.builders import a_file, put
from tests.webui.add.test_views import magnet
from tests.webui.contents.test_relayed_files import leave
from tests.webui.notices.receiver import Browser
from tests.webui.server.test_program_views import make_old_password
from tests.webui.service import EMAIL, IMPATIENT, storage_of
from tests.webui.service import PASSWORD as FOREIGN_PASSWORD
from tests.webui.shares import linked
from webui.connection import connection
from webui.http import known_devices
from webui.http.known_devices import COOKIE as DEVICE_COOKIE
from webui.models import Channel, Device, Role
from webui.v1.client import Client as ServiceClient

pytestmark = pytest.mark.django_db
SECURITY = (Path(__file__).resolve().parents[2] / "SECURITY.md").read_text()
SECTION = SECURITY.split("\n## What ends")[1].partition("\n## ")[0]
NEW_PASSWORD = "a louder harbour at night"
HTMX = {"hx-request": "true"}
Opens = Callable[[], bool]


@pytest.fixture(autouse=True)
def really(own_service, monkeypatch, settings, tmp_path):
    """Connect the site to the real embedded service, which other services may replace."""
    settings.DATA_DIR = tmp_path
    elsewhere = storage_of("elsewhere", is_embedded=False)
    client_for = connection.client_for

    def clients(place):
        if place.is_embedded:
            return client_for(place)
        return ServiceClient(
            place.url, place.credentials, transport=elsewhere.fake, patience=IMPATIENT
        )

    # A test can't run a server at the https address of a public host.
    monkeypatch.setattr(connection, "client_for", clients)
    connection.disconnect()
    yield
    connection.disconnect()


@pytest.fixture
def film(really):
    account = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    return a_file(account, "Film.mkv", blob=put(library_store(), b"a film"))


def stranger() -> Client:
    return Stranger(headers={"host": "localhost", "user-agent": "Firefox/140.0"})


def is_in(client: Client) -> bool:
    return client.get("/account/pair/code/").status_code == 200


def path_of(url: str) -> str:
    return urlsplit(url).path


def of_service(path: str, method: str = "GET", **headers: str) -> int:
    request = RequestFactory().generic(method, path, headers={"host": "localhost", **headers})
    # Like Django's test client, keep the test's database connection open after the request.
    request_finished.disconnect(close_old_connections)
    try:
        with closing(service.handler().get_response(request)) as response:
            return response.status_code
    finally:
        request_finished.connect(close_old_connections)


def is_sent(path: str) -> bool:
    answer = stranger().get(path)
    leave(answer)
    return answer.status_code == 200


# Grants: each function makes a grant for a person, and returns whether it still opens


def session(olga, film) -> Opens:
    phone = stranger()
    phone.post("/signin/", {"username": "olga", "password": PASSWORD})
    return lambda: is_in(phone)


def unlisted_session(olga, film) -> Opens:
    """Make a session without its row among the devices, as if writing the row had failed."""
    phone = signed_in(olga.user)
    Device.objects.filter(session_key=phone.session.session_key).delete()
    return lambda: is_in(phone)


def remembered_device(olga, film) -> Opens:
    phone = stranger()
    phone.post("/signin/", {"username": "olga", "password": PASSWORD})
    cookie = phone.cookies[DEVICE_COOKIE].value
    return lambda: known_devices.is_device_of(cookie, "olga")


def pairing_link(olga, film) -> Opens:
    shown = page(olga.client.post("/account/pair/", headers=HTMX))
    path = path_of(shown.select_one("input.mono")["value"])

    def opens() -> bool:
        phone = stranger()
        phone.post(path)
        return is_in(phone)

    return opens


def approved_code(olga, film) -> Opens:
    phone = stranger()
    code = words(phone.post("/pair/"), ".pair-code")
    olga.client.post("/account/pair/code/", {"code": code, "approve": "1"})

    def opens() -> bool:
        phone.post("/pair/state/")
        return is_in(phone)

    return opens


def sign_in_link(olga, film) -> Opens:
    said = StringIO()
    call_command("signin_link", olga.user.username, stdout=said)
    path = re.search(r"/pair/[\w-]+/", said.getvalue())[0]

    def opens() -> bool:
        phone = stranger()
        phone.post(path)
        return is_in(phone)

    return opens


def invitation(olga, film) -> Opens:
    answer = olga.client.post("/account/people/invite/", {"role": "owner"})
    path = path_of(page(answer).select_one("input.mono")["value"])

    def opens() -> bool:
        guest = stranger()
        form = {"username": "ida", "password": NEW_PASSWORD, "password_again": NEW_PASSWORD}
        guest.post(path, form)
        return is_in(guest)

    return opens


def token(olga, film) -> Opens:
    shown = page(olga.client.post("/account/tokens/", {"name": "seedbox"}))
    line = shown.select_one("#token-line")["value"]
    headers = {"host": "localhost", "authorization": line.removeprefix("Authorization: ")}
    return lambda: Client().post("/send/", {"text": magnet()}, headers=headers).status_code == 200


def made_token(olga, **form: str) -> str:
    shown = page(olga.client.post("/account/tokens/", form))
    return shown.select_one("#token-line")["value"]


def drive_token(olga, film, **form: str) -> Opens:
    token = made_token(olga, name=f"drive {form}", purpose="drive", **form)
    headers = {"host": "localhost", "authorization": f"Bearer {token}"}
    method = "PROPFIND" if form else "LOCK"
    return lambda: Client().generic(method, "/dav/", headers=headers).status_code in (207, 412)


def reading_token(olga, film) -> Opens:
    return drive_token(olga, film, read_only="1")


def program_token(olga, film) -> Opens:
    token = made_token(olga, name="programs", purpose="programs")
    return lambda: of_service("/rest/user", authorization=f"Bearer {token}") == 200


def player_link(olga, film) -> Opens:
    answer = olga.client.post(f"/files/0/file-{film.pk}/link/")
    path = path_of(page(answer).select_one(".pairing input")["value"])
    return lambda: is_sent(path)


def page_link(olga, film) -> Opens:
    path = linked.make_link(olga, "0", [f"file-{film.pk}"])
    return lambda: stranger().get(path).status_code == 302


def visitors_file(olga, film) -> Opens:
    path = linked.make_link(olga, "0")
    return lambda: is_sent(f"{path}files/file/{film.pk}/download/?in=0")


def receiving_link(olga, film) -> Opens:
    path = linked.make_link(olga, "0", purpose="send")
    return lambda: stranger().get(f"{path}send/").status_code == 200


def signed_link(olga, film) -> Opens:
    link = olga.client.get(f"/files/file/{film.pk}/download/")["Location"]
    return lambda: of_service(link) == 200


def program_password(olga, film) -> Opens:
    """Use the password as a program would, so that this process remembers it."""
    password = make_old_password(olga.user)
    pair = b64encode(f"{upstream.EMBEDDED_ACCOUNT}:{password}".encode()).decode()

    def opens() -> bool:
        return of_service("/rest/user", authorization=f"Basic {pair}") == 200

    assert opens()
    return opens


def told_device(olga, film) -> Opens:
    phone = stranger()
    phone.post("/signin/", {"username": "olga", "password": PASSWORD})
    phone.post("/account/notices/device/", Browser().form("https://push.example/phone"))
    return lambda: Channel.alive().filter(kind="device", user=olga.user).exists()


def told_server(olga, film) -> Opens:
    form = {"kind": "webhook", "url": "https://hooks.example/ferry", "topic": "done"}
    assert olga.client.post("/account/notices/add/", form).status_code == 200
    return lambda: Channel.alive().filter(kind="webhook", user=olga.user).exists()


def feed(olga, film) -> Opens:
    shown = page(olga.client.post("/account/notices/add/", {"kind": "feed"}))
    path = path_of(shown.select_one("#notice-secret")["value"])
    return lambda: stranger().get(path).status_code == 200


GRANTS = {
    "signed-in device": session,
    "signed-in device that no list shows": unlisted_session,
    "remembered device": remembered_device,
    "pairing link": pairing_link,
    "approved code": approved_code,
    "sign-in link": sign_in_link,
    "invitation": invitation,
    "token for scripts": token,
    "token that changes the drive": drive_token,
    "token that reads the drive": reading_token,
    "token for other programs": program_token,
    "notifications on a device": told_device,
    "notifications to a server": told_server,
    "feed of notifications": feed,
    "link for players": player_link,
    "link to a page": page_link,
    "what a visitor received": visitors_file,
    "link to send files": receiving_link,
    "password for other programs": program_password,
    "signed link to content": signed_link,  # Last: making the password ends signed links.
}


# Events: each happens to Olga after she has made all grants


def nothing(olga, alice):
    pass


def new_password(olga, alice):
    form = {"old_password": PASSWORD, "password": NEW_PASSWORD, "password_again": NEW_PASSWORD}
    assert olga.client.post("/account/password/", form).status_code == 302
    assert is_in(olga.client)


def new_password_by_command(olga, alice):
    # The command asks at a terminal, which tests don't have.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("getpass.getpass", lambda prompt: NEW_PASSWORD)
        call_command("changepassword", "olga", stdout=StringIO())


def member(olga, alice):
    alice.client.post(f"/account/people/{olga.user.pk}/", {"role": "member"})


def guest(olga, alice):
    alice.client.post(f"/account/people/{olga.user.pk}/", {"role": "guest"})


def member_and_owner_again(olga, alice):
    member(olga, alice)
    alice.client.post(f"/account/people/{olga.user.pk}/", {"role": "owner"})


def sign_out(olga, alice):
    olga.client.post("/signout/")


def sign_out_everywhere(olga, alice):
    olga.client.post("/account/devices/signout/")
    assert is_in(olga.client)


def sign_out_everywhere_on_the_page_of_people(olga, alice):
    olga.client.post(f"/account/people/{olga.user.pk}/signout/")
    assert is_in(olga.client)


def sign_out_everywhere_by_another(olga, alice):
    alice.client.post(f"/account/people/{olga.user.pk}/signout/")
    assert not is_in(olga.client)


def removal(olga, alice):
    alice.client.post(f"/account/people/{olga.user.pk}/remove/")


def connection_change(olga, alice):
    form = {"url": "https://storage.example", "email": EMAIL, "password": FOREIGN_PASSWORD}
    assert alice.client.post("/account/connection/", form).status_code == 302


def connection_change_and_back(olga, alice):
    connection_change(olga, alice)
    alice.client.post("/account/connection/forget/")


SIGNED_IN = {
    *("signed-in device", "signed-in device that no list shows", "remembered device"),
    "notifications on a device",
}
ELSEWHERE = {"notifications to a server", "feed of notifications"}
PAIRINGS = {"pairing link", "approved code"}
WAYS_IN = PAIRINGS | {"sign-in link"}
OF_A_MEMBER = {"link to a page", "what a visitor received", "link to send files"}
HANDED_OUT = {"sign-in link", "invitation", "link for players"} | OF_A_MEMBER
OF_AN_OWNER = {"invitation", "password for other programs", "signed link to content"}
OF_AN_OWNER |= {"token for other programs"}
TOKENS_OF_A_MEMBER = {"token for scripts", "token that changes the drive"}
ENDED = {
    nothing: set(),
    new_password: SIGNED_IN | PAIRINGS | HANDED_OUT,
    new_password_by_command: SIGNED_IN | PAIRINGS | HANDED_OUT,
    member: WAYS_IN | OF_AN_OWNER,
    guest: WAYS_IN | OF_AN_OWNER | OF_A_MEMBER | TOKENS_OF_A_MEMBER | ELSEWHERE,
    member_and_owner_again: WAYS_IN | OF_AN_OWNER,
    sign_out: PAIRINGS,
    sign_out_everywhere: SIGNED_IN | PAIRINGS | HANDED_OUT,
    sign_out_everywhere_on_the_page_of_people: SIGNED_IN | PAIRINGS | HANDED_OUT,
    sign_out_everywhere_by_another: SIGNED_IN | PAIRINGS | HANDED_OUT,
    removal: set(GRANTS),
    # Grants to content on this machine don't open until the site shows the embedded service again.
    connection_change: {
        "link for players",
        *OF_A_MEMBER,
        "signed link to content",
        "password for other programs",
        "token for other programs",
    },
    connection_change_and_back: set(),
}


@pytest.mark.promise("each grant ends with its origin")
@pytest.mark.slow
@each_case("event", ENDED)
def test_each_grant_ends_with_its_origin(event, film):
    connection.disconnect()
    alice, olga = make_person("alice", Role.OWNER), make_person("olga", Role.OWNER)
    opens = {name: make(olga, film) for name, make in GRANTS.items() if name != "sign-in link"}
    event(olga, alice)
    ended = ENDED[event] - {"sign-in link"}
    assert {name for name, is_open in opens.items() if not is_open()} == ended


@each_case("event", ENDED)
def test_a_sign_in_link_ends_with_its_origin(event, film):
    """Test it separately, since it replaces a pairing link."""
    alice, olga = make_person("alice", Role.OWNER), make_person("olga", Role.OWNER)
    is_open = sign_in_link(olga, film)
    event(olga, alice)
    assert is_open() != ("sign-in link" in ENDED[event])


# The events behind the columns of SECURITY.md's table. Its rows are the grants.
COLUMNS = {
    "new password": (new_password, new_password_by_command),
    "another role": (member, member_and_owner_again),
    "sign-out there": (sign_out,),
    "sign-out everywhere": (
        sign_out_everywhere,
        sign_out_everywhere_on_the_page_of_people,
        sign_out_everywhere_by_another,
    ),
    "removal": (removal,),
    "another service": (connection_change,),
}


def test_security_shows_what_each_event_ends():
    head, *rows = re.findall(r"^\| .*\|$", SECTION, re.MULTILINE)
    _grant, *columns = cells(head)
    assert columns == list(COLUMNS)
    shown = {
        grant: dict(zip(columns, effects, strict=True)) for grant, *effects in map(cells, rows)
    }
    assert list(shown) == [name for name in GRANTS if name != "signed-in device that no list shows"]
    wrong = [
        (grant, column, event.__name__)
        for grant, effects in shown.items()
        for column, word in effects.items()
        for event in COLUMNS[column]
        if (grant in ENDED[event]) != word.startswith(("ends", "rests"))
    ]
    assert wrong == []


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]
