from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import PASSWORD, page, signed_in, words
from webui.http import known_devices
from webui.models import Reservation, Throttle
from webui.signin import throttle

pytestmark = pytest.mark.django_db


def sign_in(client: Client, name: str = "alice", password: str = PASSWORD, **extra):
    return client.post("/signin/", {"username": name, "password": password, **extra})


def test_a_right_password_leads_to_the_files(alice, mallory):
    answer = sign_in(mallory)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert mallory.get("/").status_code == 200


def test_without_people_the_page_leads_to_setup_in_place_of_a_form(mallory):
    answer = mallory.get("/", follow=True)
    assert words(answer, "h1") == "Set up Ferry"
    assert "This Ferry doesn't have an owner yet" in words(answer, "main")
    assert "restart Ferry: it prints a new one" in words(answer, "main ol")
    assert not page(answer).select("main form, main input")


def test_the_sign_in_page_says_nothing_more_once_there_is_an_owner(alice, mallory):
    assert "doesn't have an owner" not in words(mallory.get("/signin/"), "main")


def test_signing_in_leads_to_the_requested_page(alice, mallory):
    answer = mallory.get("/account/?a=b", follow=True)
    wanted = page(answer).select_one("form [name=next]")["value"]
    assert wanted == "/account/?a=b"
    assert sign_in(mallory, next=wanted)["Location"] == "/account/?a=b"


def test_the_form_has_no_action_so_that_a_fragment_survives_it(alice, mallory):
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
    assert "password is wrong" in words(wrong, "[role=alert]")


def test_the_form_keeps_the_name_but_never_the_password(alice, mallory):
    answer = sign_in(mallory, password="wrong word")
    assert page(answer).select_one("[name=username]")["value"] == "alice"
    assert b"wrong word" not in answer.content
    assert sign_in(mallory)["Location"] == "/"


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


def test_signed_in_people_are_not_asked_again(alice):
    answer = alice.client.get("/signin/?next=/account/")
    assert answer["Location"] == "/account/"


def test_signing_out_is_a_post_and_ends_the_session(alice):
    assert alice.client.get("/signout/").status_code == 405
    assert alice.client.get("/").status_code == 200
    assert alice.client.post("/signout/")["Location"] == "/signin/"
    assert alice.client.get("/").status_code == 302


@each_case(("method", "path"), [("get", "/"), ("post", "/account/password/")])
def test_an_ended_session_under_htmx_leads_to_a_whole_page(mallory, method, path):
    headers = {"hx-request": "true", "hx-current-url": "http://localhost/account/?a=b"}
    answer = getattr(mallory, method)(path, headers=headers)
    assert answer["HX-Redirect"] == "/signin/?next=/account/%3Fa%3Db"
    assert answer.content == b""


def test_an_htmx_request_from_another_site_chooses_no_page(mallory):
    answer = mallory.get(
        "/", headers={"hx-request": "true", "hx-current-url": "https://evil.example//x/"}
    )
    assert "evil.example" not in answer["HX-Redirect"]


def test_an_attempt_that_waits_for_the_lock_counts_after_the_other(alice, clock, monkeypatch):
    key = throttle.ThrottleKey("key", free=20)

    # What another process does while this one waits for the lock. A real one couldn't, since only
    # one process can use the database of a test.
    def awaited():
        now = timezone.now()
        Throttle.objects.create(key="key", count=19, since=now, next_at=now)
        return transaction.atomic()

    monkeypatch.setattr(throttle, "transaction", SimpleNamespace(atomic=awaited))
    assert throttle.take(key) is None
    monkeypatch.setattr(throttle, "transaction", transaction)
    assert throttle.take(key) is not None


# Guesses are slowed down


def from_address(address, name="alice", password="guess"):
    """Try once to sign in with a new browser at this address."""
    browser = Client(headers={"host": "localhost"})
    form = {"username": name, "password": password}
    return browser.post("/signin/", form, REMOTE_ADDR=address)


def address_of(number):
    return f"10.{number // 60_000}.{number // 250 % 240}.{number % 250}"


@pytest.mark.slow
def test_wrong_tries_make_the_next_wait_longer_and_longer(alice, mallory, clock):
    for _try in range(throttle.FREE_BY_NAME):
        assert sign_in(mallory, password="wrong").status_code == 422
    waits = []
    for _try in range(9):
        answer = sign_in(mallory, password="wrong")
        assert answer.status_code == 429
        waits.append(int(answer["Retry-After"]))
        clock.advance(timedelta(seconds=waits[-1]))
        assert sign_in(mallory, password="wrong").status_code == 422
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    answer = sign_in(mallory)
    assert answer.status_code == 429
    assert "Wait 1 minute," in words(answer, "[role=alert]")
    clock.advance(timedelta(minutes=1))
    assert sign_in(mallory).status_code == 302


def test_people_who_must_wait_see_other_ways_to_sign_in(alice, mallory, clock):
    for _try in range(throttle.FREE_BY_NAME):
        assert "signin_link" not in words(sign_in(mallory, password="wrong"), "main")
    answer = sign_in(mallory)
    assert "Wait 1 second," in words(answer, "[role=alert]")
    assert "manage.py signin_link" in words(answer, "main .hint")
    assert page(answer).select_one("[name=username]")["value"] == "alice"


def test_the_count_restarts_after_an_hour_without_wrong_tries(alice, mallory, clock):
    for _try in range(throttle.FREE_BY_NAME):
        sign_in(mallory, password="wrong")
    clock.advance(throttle.QUIET + timedelta(minutes=1))
    for _try in range(throttle.FREE_BY_NAME):
        assert sign_in(mallory, password="wrong").status_code == 422


def test_many_names_at_one_address_are_slowed_down_together(clock, db):
    answers = [from_address("198.51.100.7", f"name{n}") for n in range(throttle.FREE_BY_NETWORK)]
    assert {answer.status_code for answer in answers} == {422}
    assert from_address("198.51.100.7", "another").status_code == 429
    assert from_address("198.51.100.8", "another").status_code == 422


@pytest.mark.slow
def test_strangers_everywhere_get_one_guess_a_minute_together(alice, clock):
    guesses = 0
    for number in range(600):
        guesses += from_address(address_of(number)).status_code == 422
        clock.advance(timedelta(seconds=12))
    # In two hours: some guesses at once, then each after a longer wait.
    assert guesses <= throttle.FREE_BY_NAME + 6 + 120


@pytest.mark.promise("guesses keep no one out")
@pytest.mark.slow
def test_a_new_device_can_sign_in_however_many_strangers_guess(alice, clock):
    """Each stranger guesses whenever it may, and all of them guess before the owner does."""
    strangers = [address_of(number) for number in range(5)]

    def everybody_tries():
        return [from_address(address).status_code for address in strangers]

    while 422 in everybody_tries():
        pass
    home = "192.0.2.7"
    waits = []
    while True:
        everybody_tries()
        answer = from_address(home, password=PASSWORD)
        if answer.status_code == 302:
            break
        waits.append(int(answer["Retry-After"]))
        clock.advance(timedelta(seconds=30))
    # The first promised wait is kept.
    assert waits[0] <= 60 * (len(strangers) + 1)
    assert waits == [waits[0] - 30 * number for number in range(len(waits))]


@pytest.mark.promise("a reserved time is good for one guess")
@pytest.mark.slow
def test_a_reserved_time_is_good_for_one_guess(alice, clock):
    while from_address("198.51.100.7").status_code == 422:
        pass
    clock.advance(timedelta(seconds=1))
    answers = [from_address("198.51.100.7").status_code for _try in range(5)]
    assert answers == [422, 429, 429, 429, 429]


@pytest.mark.slow
def test_persistent_retries_delay_no_one_else(alice, clock):
    while from_address("198.51.100.7").status_code == 422:
        pass
    for _try in range(50):
        assert from_address("198.51.100.7").status_code == 429
    assert int(from_address("192.0.2.7")["Retry-After"]) <= 3


@pytest.mark.slow
def test_strangers_cannot_slow_down_the_owner_on_a_known_device(alice, mallory, clock):
    sign_in(mallory)
    mallory.post("/signout/")
    while from_address("198.51.100.7").status_code == 422:
        pass
    assert from_address("192.0.2.7", password=PASSWORD).status_code == 429
    # A known device signs in even while strangers at its address guess.
    for number in range(throttle.FREE_BY_NETWORK):
        from_address("127.0.0.1", f"name{number}")
    assert from_address("127.0.0.1", "bob").status_code == 429
    assert sign_in(mallory).status_code == 302


def test_a_known_device_gives_no_right_to_guess_other_passwords(alice, bob, mallory, clock):
    sign_in(mallory, "bob")
    mallory.post("/signout/")
    for _try in range(throttle.FREE_BY_NAME):
        assert sign_in(mallory, "alice", "guess").status_code == 422
    assert sign_in(mallory, "alice", "guess").status_code == 429


def test_a_known_device_is_slowed_down_too(alice, mallory, clock):
    sign_in(mallory)
    mallory.post("/signout/")
    for _try in range(throttle.FREE_BY_DEVICE):
        assert sign_in(mallory, password="guess").status_code == 422
    assert sign_in(mallory, password="guess").status_code == 429
    clock.advance(timedelta(seconds=1))
    assert sign_in(mallory).status_code == 302


def test_an_own_account_does_not_clear_the_count_of_guesses(alice, bob, mallory, clock):
    for _try in range(throttle.FREE_BY_NAME):
        assert sign_in(mallory, "alice", "guess").status_code == 422
        assert from_address("127.0.0.1", "bob", PASSWORD).status_code == 302
    assert sign_in(mallory, "alice", "guess").status_code == 429


@pytest.mark.slow
def test_right_passwords_count_nowhere(alice, clock):
    for _try in range(3 * throttle.FREE_BY_NETWORK):
        assert from_address("192.0.2.7", password=PASSWORD).status_code == 302
    assert not Throttle.objects.exists()


@pytest.mark.slow
@each_case("spelled", ["ALICE", "aLiCe"])
def test_spellings_of_a_name_share_one_count(alice, clock, spelled):
    while from_address("198.51.100.7").status_code == 422:
        pass
    assert from_address("198.51.100.9", spelled).status_code == 429


def test_a_client_that_finds_the_queue_full_may_retry(alice, mallory, monkeypatch):
    @contextmanager
    def turn(_key, _password, *, is_known):
        if not is_known:
            raise TimeoutError
        yield

    sign_in(mallory)
    # A real queue is full only for milliseconds, while all cores hash.
    monkeypatch.setattr("common.passwords.turn", turn)
    answer = from_address("192.0.2.7", password=PASSWORD)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Too many people are signing in" in words(answer, "[role=alert]")
    assert sign_in(mallory).status_code == 302


def test_expired_waits_are_pruned(alice, clock):
    while from_address("198.51.100.7").status_code == 422:
        pass
    assert Reservation.objects.exists()
    throttle.prune(clock.now + throttle.RESERVED)
    assert Throttle.objects.exists()
    throttle.prune(clock.now + throttle.QUIET + timedelta(minutes=2))
    assert not Throttle.objects.exists()
    assert not Reservation.objects.exists()


def test_each_failure_is_logged_once_with_its_address_and_no_password(alice, clock, caplog):
    while from_address("2001:db8::7", password="my secret word").status_code == 422:
        pass
    from_address("198.51.100.7", "typed password", "word")
    lines = [record.getMessage() for record in caplog.records if record.name == "ferry.signin"]
    own = "name='alice' address=2001:db8::7"
    unknown = "failed name='unknown' address=198.51.100.7"
    assert lines == [*[f"failed {own}"] * throttle.FREE_BY_NAME, f"limited {own}", unknown]


# On the account page


def change_password(client, old, new="a louder harbour at night"):
    form = {"old_password": old, "password": new, "password_again": new}
    return client.post("/account/password/", form, REMOTE_ADDR="192.0.2.7")


def test_guesses_on_the_account_page_count_as_guesses_at_the_name(alice, clock, caplog):
    for _try in range(throttle.FREE_BY_NAME):
        assert change_password(alice.client, "wrong").status_code == 422
    lines = [record.getMessage() for record in caplog.records if record.name == "ferry.signin"]
    assert lines == ["failed name='alice' address=192.0.2.7"] * throttle.FREE_BY_NAME
    assert from_address("198.51.100.7", password=PASSWORD).status_code == 429
    # The owner of the session can still change it.
    assert change_password(alice.client, PASSWORD).status_code == 302


@pytest.mark.slow
def test_on_the_account_page_only_a_wrong_password_counts(alice, clock):
    for _try in range(2 * throttle.FREE_BY_SESSION):
        assert change_password(alice.client, PASSWORD, new="short").status_code == 422
    assert not Throttle.objects.filter(count__gt=0).exists()
    for _try in range(throttle.FREE_BY_SESSION):
        assert change_password(alice.client, "wrong").status_code == 422
    assert change_password(alice.client, PASSWORD).status_code == 429


def test_the_device_on_which_a_password_was_changed_stays_known(alice, clock):
    assert change_password(alice.client, PASSWORD).status_code == 302
    while from_address("198.51.100.7").status_code == 422:
        pass
    alice.client.post("/signout/")
    assert sign_in(alice.client, password="a louder harbour at night").status_code == 302


def test_a_password_change_ends_all_other_sessions(alice):
    elsewhere = signed_in(alice.user)
    assert elsewhere.get("/").status_code == 200
    new = "a louder harbour at night"
    answer = alice.client.post(
        "/account/password/",
        {"old_password": PASSWORD, "password": new, "password_again": new},
    )
    assert answer["Location"] == "/account/#password"
    assert elsewhere.get("/").status_code == 302
    assert alice.client.get("/").status_code == 200


def test_the_device_cookie_reveals_no_name_to_scripts(alice, mallory):
    sign_in(mallory)
    assert mallory.cookies[known_devices.COOKIE]["httponly"]


def test_another_person_may_sign_in_on_the_same_device(alice, bob):
    assert alice.client.get("/signin/?switch").status_code == 200
    sign_in(alice.client, "bob")
    assert "bob" in words(alice.client.get("/account/"), ".page-head")


def test_a_new_password_makes_a_known_device_a_stranger(alice, mallory):
    sign_in(mallory)
    cookie = mallory.cookies[known_devices.COOKIE].value
    assert known_devices.is_device_of(cookie, "alice")
    alice.user.set_password("a louder harbour")
    alice.user.save()
    assert not known_devices.is_device_of(cookie, "alice")


def test_on_https_signing_out_ends_the_session_too(alice):
    browser = Client(headers={"host": "localhost"})
    browser.post("/signin/", {"username": "alice", "password": PASSWORD}, secure=True)
    assert browser.get("/", secure=True).status_code == 200
    browser.post("/signout/", secure=True)
    assert browser.get("/", secure=True).status_code == 302


def test_a_session_cookie_that_no_database_can_look_up_is_nobodys(client, settings):
    client.cookies[settings.SESSION_COOKIE_NAME] = "\0" * 32
    assert client.get("/signin/").status_code == 200
    assert client.get("/").status_code == 302
