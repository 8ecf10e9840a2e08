from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import PASSWORD, page, signed_in, words
from webui import attempts
from webui.models import Attempts
from webui.views import signin as signin_view

pytestmark = pytest.mark.django_db


def sign_in(client: Client, name: str = "alice", password: str = PASSWORD, **extra):
    return client.post("/signin/", {"username": name, "password": password, **extra})


def test_a_right_password_leads_to_the_files(alice, mallory):
    answer = sign_in(mallory)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert mallory.get("/").status_code == 200


def test_while_nobody_owns_ferry_signing_in_says_how_one_becomes_the_owner(mallory):
    assert "Nobody owns this Ferry yet" in words(mallory.get("/signin/"), "main")


def test_once_somebody_owns_ferry_signing_in_says_no_more(alice, mallory):
    assert "Nobody owns" not in words(mallory.get("/signin/"), "main")


def test_the_wanted_page_is_reached_after_signing_in(alice, mallory):
    answer = mallory.get("/account/?a=b", follow=True)
    wanted = page(answer).select_one("form [name=next]")["value"]
    assert wanted == "/account/?a=b"
    assert sign_in(mallory, next=wanted)["Location"] == "/account/?a=b"


def test_the_form_has_no_action_so_that_a_fragment_survives_it(mallory):
    assert page(mallory.get("/signin/")).select_one("form")
    assert not page(mallory.get("/signin/")).select_one("form[action]")


@each_case("name", ["Alice", "ALICE", "alice"])
def test_a_phone_may_begin_the_name_with_a_capital(alice, mallory, name):
    assert sign_in(mallory, name).status_code == 302


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(alice, mallory):
    wrong = sign_in(mallory, password="wrong")
    unknown = sign_in(mallory, name="nobody")
    assert wrong.status_code == unknown.status_code == 422
    assert words(wrong, "[role=alert]") == words(unknown, "[role=alert]")
    assert "don't match" in words(wrong, "[role=alert]")


def test_what_was_typed_as_name_is_kept_but_never_the_password(alice, mallory):
    answer = sign_in(mallory, password="wrong word")
    assert page(answer).select_one("[name=username]")["value"] == "alice"
    assert b"wrong word" not in answer.content


def test_being_remembered_lasts_thirty_days(alice, mallory):
    sign_in(mallory)
    session = mallory.cookies["ferry_session_8000"]
    assert session["max-age"] == 30 * 24 * 3600
    assert session["httponly"]
    assert session["samesite"] == "Lax"


def test_signing_in_makes_a_new_session(alice, mallory):
    mallory.get("/signin/")
    planted = mallory.session
    planted["planted"] = True
    planted.save()
    before = mallory.cookies["ferry_session_8000"].value
    sign_in(mallory)
    assert mallory.cookies["ferry_session_8000"].value != before


def test_somebody_signed_in_is_not_asked_again(alice):
    answer = alice.client.get("/signin/?next=/account/")
    assert answer["Location"] == "/account/"


def test_signing_out_is_a_post_and_ends_the_session(alice):
    assert alice.client.get("/signout/").status_code == 405
    assert alice.client.get("/").status_code == 200
    assert alice.client.post("/signout/")["Location"] == "/signin/"
    assert alice.client.get("/").status_code == 302


def test_an_ended_session_under_htmx_leads_to_a_whole_page(mallory):
    answer = mallory.get(
        "/", headers={"hx-request": "true", "hx-current-url": "http://localhost/account/?a=b"}
    )
    assert answer["HX-Redirect"] == "/signin/?next=/account/%3Fa%3Db"
    assert answer.content == b""


def test_an_htmx_request_from_another_site_chooses_no_page(mallory):
    answer = mallory.get(
        "/", headers={"hx-request": "true", "hx-current-url": "https://evil.example//x/"}
    )
    assert "evil.example" not in answer["HX-Redirect"]


def test_too_many_wrong_tries_from_one_address_must_wait(alice, mallory):
    for _try in range(attempts.MOST_BY_ADDRESS):
        assert sign_in(mallory, password="wrong").status_code == 422
    answer = sign_in(mallory)
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 15 * 60
    assert "Wait 15 minutes" in words(answer, "[role=alert]")


def test_who_waits_for_another_is_counted_after_it(alice, monkeypatch):
    limit = attempts.Limit("key", most=20)

    # What another process does while this one waits for the database. Only one of them can hold
    # the database of a test.
    def awaited():
        Attempts.objects.create(key="key", count=19, since=timezone.now())
        return transaction.atomic()

    monkeypatch.setattr(attempts, "transaction", SimpleNamespace(atomic=awaited))
    assert attempts.take([limit]) is None
    monkeypatch.setattr(attempts, "transaction", transaction)
    assert attempts.take([limit]) is not None


def test_the_wait_ends(alice, mallory):
    for _try in range(attempts.MOST_BY_ADDRESS):
        sign_in(mallory, password="wrong")
    assert sign_in(mallory).status_code == 429
    Attempts.objects.update(since=timezone.now() - attempts.WINDOW - timedelta(seconds=1))
    assert sign_in(mallory).status_code == 302


@pytest.mark.slow
def test_nobody_can_lock_the_owner_out_of_a_known_device(alice, mallory):
    sign_in(mallory)
    known_device = mallory
    known_device.post("/signout/")
    stranger = Client(headers={"host": "localhost"})
    for n in range(attempts.MOST_BY_NAME):
        stranger.post(
            "/signin/",
            {"username": "alice", "password": "guess"},
            REMOTE_ADDR=f"198.51.100.{n}",
        )
    refused = stranger.post(
        "/signin/", {"username": "alice", "password": PASSWORD}, REMOTE_ADDR="198.51.100.250"
    )
    assert refused.status_code == 429
    assert sign_in(known_device).status_code == 302


def test_a_device_of_one_person_has_no_licence_to_guess_at_another(alice, bob, mallory):
    sign_in(mallory, "bob")
    mallory.post("/signout/")
    for _try in range(attempts.MOST_BY_ADDRESS):
        sign_in(mallory, "alice", "guess")
    assert sign_in(mallory, "alice", "guess").status_code == 429


def test_a_known_device_is_limited_too(alice, mallory):
    sign_in(mallory)
    mallory.post("/signout/")
    for _try in range(attempts.MOST_BY_DEVICE):
        assert sign_in(mallory, password="guess").status_code == 422
    assert sign_in(mallory, password="guess").status_code == 429


@pytest.mark.slow
def test_ones_own_account_does_not_clear_the_count_of_guesses(alice, bob, mallory):
    for _try in range(attempts.MOST_BY_ADDRESS):
        sign_in(mallory, "alice", "guess")
        bob_again = Client(headers={"host": "localhost"})
        sign_in(bob_again, "bob")
    assert sign_in(mallory, "alice", "guess").status_code == 429


def test_a_password_change_ends_all_other_sessions(alice):
    elsewhere = signed_in(alice.user)
    assert elsewhere.get("/").status_code == 200
    new = "a louder harbour at night"
    answer = alice.client.post(
        "/account/password/",
        {"old_password": PASSWORD, "password": new, "password_again": new},
    )
    assert answer["Location"] == "/account/"
    assert elsewhere.get("/").status_code == 302
    assert alice.client.get("/").status_code == 200


def test_the_device_cookie_names_nobody_to_a_script(alice, mallory):
    sign_in(mallory)
    assert mallory.cookies[signin_view.DEVICE_COOKIE]["httponly"]


def test_somebody_else_may_sign_in_on_the_same_device(alice, bob):
    assert alice.client.get("/signin/?switch").status_code == 200
    sign_in(alice.client, "bob")
    assert "bob" in words(alice.client.get("/account/"), ".page-head")


def test_a_new_password_makes_a_known_device_a_stranger(alice, mallory):
    sign_in(mallory)
    cookie = mallory.cookies[signin_view.DEVICE_COOKIE].value
    assert attempts.is_device_of(cookie, "alice")
    alice.user.set_password("a louder harbour")
    alice.user.save()
    assert not attempts.is_device_of(cookie, "alice")


def test_on_https_signing_out_ends_the_session_too(alice):
    browser = Client(headers={"host": "localhost"})
    browser.post("/signin/", {"username": "alice", "password": PASSWORD}, secure=True)
    assert browser.get("/", secure=True).status_code == 200
    browser.post("/signout/", secure=True)
    assert browser.get("/", secure=True).status_code == 302
