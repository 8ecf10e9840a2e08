"""Row 5: other sites can't act as a person who is signed in."""

from io import BytesIO

import httpx
import pytest
from django.test import Client
from django.urls import reverse

from config.embedded import upstream
from service.models import Folder
from tests.cases import each_case
from tests.people import PASSWORD
from tests.service.builders import a_folder
from tests.service.builders import alice as an_account
from tests.webui.http.test_roles import TABLE
from webui.models import (
    Connection,
    HiddenWish,
    OneTimeLink,
    Pairing,
    Sent,
    Share,
    Throttle,
    Token,
    User,
)
from webui.signin import throttle

pytestmark = pytest.mark.django_db
SCRIPT = {"x-requested-with": "ferry"}


@pytest.fixture
def victim(alice) -> Client:
    """Return Alice's browser, which sends her cookies with forms of any site."""
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(alice.user)
    return browser


def token_of(browser: Client) -> str:
    browser.get("/account/")
    return browser.cookies["ferry_csrf_8000"].value


def posts() -> list[str]:
    """Return all POST paths but that for scripts, which test_a_cookie_opens_nothing… covers."""
    rows = [(name, args) for name, (_who, method, args) in TABLE.items() if method == "post"]
    rows = [row for row in rows if row[0] != "send-token"]
    return [reverse(name, kwargs=args) for name, args in rows]


def test_a_form_of_ours_passes(victim):
    form = {"csrfmiddlewaretoken": token_of(victim), "theme": "dark"}
    assert victim.post("/account/look/", form).status_code == 302


@pytest.mark.promise("no form works without its token")
@pytest.mark.slow
@each_case("path", posts())
def test_a_form_without_our_token_is_refused(victim, path):
    answer = victim.post(path, {"theme": "dark", "picture": BytesIO(b"x")})
    assert answer.status_code == 403
    assert victim.get("/").status_code == 200


@each_case("kind", ["text/plain", "application/json", "multipart/form-data; boundary=x"])
def test_no_content_type_evades_the_check(victim, kind):
    answer = victim.generic("POST", "/signout/", b"--x--", content_type=kind)
    assert answer.status_code == 403
    assert victim.get("/").status_code == 200


@each_case(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://localhost:8001",
        "http://localhost",
        "https://localhost:8000",
    ],
)
def test_a_stolen_token_is_no_use_from_another_origin(victim, origin):
    form = {"csrfmiddlewaretoken": token_of(victim), "theme": "dark"}
    answer = victim.post("/account/look/", form, headers={"origin": origin})
    assert answer.status_code == 403
    assert "ferry_theme_8000" not in victim.cookies


def test_signing_in_cannot_be_forged(alice):
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    answer = browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 403
    assert "ferry_session_8000" not in browser.cookies


@pytest.mark.promise("no link changes anything")
@pytest.mark.slow
def test_no_get_changes_anything(victim, storage):
    def everything() -> list[object]:
        """Return all rows but the count of guesses at links, which GET requests may change."""
        guesses = throttle.key_for_network("links", "127.0.0.1")
        counts = Throttle.objects.exclude(key=guesses.digest)
        rows = (User.objects, OneTimeLink.objects, Pairing.objects, counts, Share.objects)
        rows += (Token.objects, Sent.objects, Connection.objects, HiddenWish.objects)
        return [sorted(map(str, each.values())) for each in rows]

    before = everything()
    assert len(TABLE) > 50
    for name, (_who, _method, arguments) in TABLE.items():
        victim.get(reverse(name, kwargs=arguments))
    assert everything() == before
    assert storage.calls
    assert {method for method, _path in storage.calls} <= {"GET", "HEAD"}
    assert victim.get("/").status_code == 200


@pytest.mark.parametrize("path", ["/transfers/send/", "/files/0/upload/"])
def test_the_token_of_a_new_sign_in_reaches_our_own_pages_and_no_other_site(victim, storage, path):
    evil, old = {"origin": "https://evil.example"}, token_of(victim)
    form = {"csrfmiddlewaretoken": old, "username": "alice", "password": PASSWORD}
    assert victim.post("/signin/", form).status_code == 302
    late = victim.post(path, headers={**SCRIPT, "x-csrftoken": old})
    assert late.status_code == 403
    fresh = {**SCRIPT, "x-csrftoken": late.json()["token"]}
    assert victim.post(path, headers=fresh).status_code != 403
    assert victim.post(path, headers={**fresh, **evil}).status_code == 403
    asking = {"access-control-request-method": "POST"}
    asking |= {"access-control-request-headers": "x-requested-with"}
    for answer in (late, victim.options(path, headers={**asking, **evil})):
        assert not [each for each in answer.headers if each.lower().startswith("access-control")]


def test_the_token_is_out_of_a_scripts_reach(victim):
    token_of(victim)
    assert victim.cookies["ferry_csrf_8000"]["httponly"]


@each_case("origin", ["null", "https://evil.example", "http://localhost:8001", "x"])
@each_case("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_password_that_a_browser_keeps_for_the_interface_serves_no_other_site(origin, kind):
    """The browser sends it with every form, as it would a cookie."""
    account = an_account(password=PASSWORD)
    folder, options = a_folder(account), {"auth": (account.email, PASSWORD)}
    own = {"origin": upstream.URL, "host": upstream.URL.partition("//")[2]}
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, **options) as browser:
        forged = {"origin": origin, "content-type": kind}
        new = ("deleted", "deleted/restore", "deleted/delete", "move", "copy", "move/undo")
        for path in (f"folder/{folder.pk}/delete", "folder", "transfer/magnet", "zip", *new):
            answer = browser.post(f"/rest/{path}", content="path=Evil", headers=forged)
            assert (answer.status_code, answer.json()["error"]) == (403, "foreign_page")
        assert Folder.objects.filter(pk=folder.pk).exists()
        assert browser.post("/rest/folder", data={"path": "Ours"}, headers=own).is_success
        assert browser.post("/rest/folder", data={"path": "A script"}).is_success
