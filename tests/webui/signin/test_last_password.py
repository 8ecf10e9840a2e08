"""Actions that open Ferry to others ask for the password again after ten minutes."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.embedded import upstream
from service.accounts import accounts
from tests.cases import each_case
from tests.people import PASSWORD, page, typed_password, words
from tests.webui.people.test_pairing import offered
from tests.webui.people.test_views import NEW, invited
from tests.webui.service import EMAIL
from webui.connection import connection
from webui.models import (
    Connection,
    OneTimeLink,
    OwnerSetting,
    Role,
    Throttle,
    Token,
)
from webui.signin import throttle
from webui.signin.session import FRESH

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}
STORAGE_PASSWORD = "herring in oil, and only there"
CONNECT = {"url": "https://storage.example", "email": EMAIL, "password": STORAGE_PASSWORD}


@pytest.fixture(autouse=True)
def _service(storage, monkeypatch):
    accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
    # A test can't serve anything at the https address of a public host.
    monkeypatch.setattr(connection, "check", lambda *_account: storage.service.v1.account())
    connection.disconnect()
    yield
    connection.disconnect()


def is_settled() -> bool:
    return accounts.find(upstream.EMBEDDED_ACCOUNT).space_max_bytes == 7777 * 10**9


# For each action, the URL, the form, and a function that says whether it was done.
ACTS = {
    "a token": ("/account/tokens/", {"name": "seedbox"}, Token.objects.exists),
    "connection": ("/account/connection/", CONNECT, Connection.objects.exists),
    "space": ("/account/server/storage/", {"space_gb": "7777", "deleted_days": "3333"}, is_settled),
    "a name": ("/account/server/names/", {"server_name": "Harbor"}, OwnerSetting.objects.exists),
    "an owner": ("/account/people/invite/", {"role": "owner"}, OneTimeLink.objects.exists),
}


def ask(alice, name, **options):
    path, form, _is_done = ACTS[name]
    return alice.client.post(path, form, **options)


def confirm(alice, answer, path, password=PASSWORD):
    sealed = page(answer).select_one("[name=sealed_form]")["value"]
    form = {"sealed_form": sealed, "current_password": password}
    return alice.client.post(path, form)


@each_case("name", ACTS)
def test_after_ten_minutes_an_action_requires_the_password_again(alice, name):
    path, form, is_done = ACTS[name]
    typed_password(alice.client, ago=FRESH)
    prompt = ask(alice, name)
    assert words(prompt, "h1") == "Enter your password"
    assert not is_done()
    for typed in form.values():
        assert typed not in prompt.content.decode()
    wrong = confirm(alice, prompt, path, "guess")
    assert wrong.status_code == 422
    assert page(wrong).select_one("[name=current_password][aria-invalid=true]")
    assert not is_done()
    assert confirm(alice, wrong, path).status_code in (200, 302)
    assert is_done()


@each_case("name", ACTS)
def test_no_password_is_required_within_ten_minutes(alice, name):
    typed_password(alice.client, ago=FRESH - timedelta(seconds=30))
    assert ask(alice, name).status_code in (200, 302)
    assert ACTS[name][2]()


def test_a_password_lasts_for_ten_minutes(alice):
    typed_password(alice.client, ago=FRESH)
    confirm(alice, ask(alice, "a token"), "/account/tokens/")
    assert ask(alice, "space").status_code == 302
    assert is_settled()


def test_a_clock_that_was_set_back_makes_no_password_fresh(alice):
    typed_password(alice.client, ago=-timedelta(hours=1))
    assert words(ask(alice, "a token"), "h1") == "Enter your password"


def test_a_connection_is_forgotten_and_an_owner_made_with_the_password_too(alice, bob):
    connection.store("https://storage.example", EMAIL, STORAGE_PASSWORD)
    typed_password(alice.client, ago=FRESH)
    prompt = alice.client.post("/account/connection/forget/")
    assert Connection.objects.exists()
    assert confirm(alice, prompt, "/account/connection/forget/").status_code == 302
    assert not Connection.objects.exists()
    typed_password(alice.client, ago=FRESH)
    prompt = alice.client.post(f"/account/people/{bob.user.pk}/", {"role": "owner"})
    bob.user.refresh_from_db()
    assert bob.user.role == Role.MEMBER
    confirm(alice, prompt, f"/account/people/{bob.user.pk}/")
    bob.user.refresh_from_db()
    assert bob.user.role == Role.OWNER


def test_actions_that_grant_nothing_ask_for_no_password(alice, bob):
    typed_password(alice.client, ago=FRESH)
    alice.client.post("/account/people/invite/", {"role": "guest"})
    assert OneTimeLink.objects.exists()
    assert alice.client.post("/account/programs/").status_code == 302
    alice.client.post(f"/account/people/{bob.user.pk}/", {"role": "guest"})
    bob.user.refresh_from_db()
    assert bob.user.role == Role.GUEST
    assert alice.client.get("/account/people/invite/").status_code == 200


def test_under_htmx_the_browser_sends_the_form_as_a_page(alice):
    typed_password(alice.client, ago=FRESH)
    answer = ask(alice, "a token", headers=HTMX)
    assert answer.status_code == 204
    assert answer["HX-Trigger"] == "ferry:send-as-page"
    assert not Token.objects.exists()


def test_a_paired_device_has_no_password_typed_in_it(alice, mallory):
    path, _number, _state = offered(alice)
    mallory.post(path)
    assert words(mallory.post("/account/tokens/", {"name": "x"}), "h1") == "Enter your password"


def test_joining_signing_in_and_changing_the_password_count_as_typing_it(alice, mallory):
    mallory.post(invited(alice), NEW)
    assert mallory.post("/account/tokens/", {"name": "joined"}).status_code == 200
    mallory.cookies.clear()
    mallory.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert mallory.post("/account/tokens/", {"name": "signed in"}).status_code == 200
    typed_password(mallory, ago=FRESH)
    new = "a louder harbour at night"
    form = {"old_password": PASSWORD, "password": new, "password_again": new}
    mallory.post("/account/password/", form)
    assert mallory.post("/account/tokens/", {"name": "changed"}).status_code == 200
    assert {each.name for each in Token.objects.all()} == {"joined", "signed in", "changed"}


def test_a_waiting_form_is_for_its_person_and_its_address(alice, bob):
    typed_password(alice.client, ago=FRESH)
    prompt = ask(alice, "a token")
    assert confirm(bob, prompt, "/account/tokens/")["Location"] == "/account/#tokens"
    elsewhere = confirm(alice, prompt, "/account/server/storage/")
    assert elsewhere["Location"] == "/account/server/#storage"
    sealed = {"sealed_form": "nonsense", "current_password": PASSWORD}
    assert alice.client.post("/account/tokens/", sealed)["Location"] == "/account/#tokens"
    assert not Token.objects.exists()
    assert not is_settled()


def test_guesses_are_slowed_down(alice, clock):
    typed_password(alice.client, ago=FRESH)
    prompt = ask(alice, "a token")
    answers = [
        confirm(alice, prompt, "/account/tokens/", "guess").status_code
        for _time in range(throttle.FREE_BY_SESSION + 1)
    ]
    assert answers == [422] * throttle.FREE_BY_SESSION + [429]
    assert not Token.objects.exists()


def test_a_wrong_password_is_logged_and_counts_as_a_guess_at_the_name(alice, caplog):
    typed_password(alice.client, ago=FRESH)
    path, _form, _is_done = ACTS["a token"]
    prompt = ask(alice, "a token")
    assert not Throttle.objects.exists()
    assert confirm(alice, prompt, path, "guess").status_code == 422
    assert Throttle.objects.get(key=throttle.key_for_name("alice").digest).count == 1
    lines = [record.getMessage() for record in caplog.records if record.name == "ferry.signin"]
    assert lines == ["failed name='alice' address=127.0.0.1"]
