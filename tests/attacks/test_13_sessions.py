"""Row 13: attackers can't fix, leak, or prolong sessions."""

import time

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.people import PASSWORD, signed_in
from webui import pruning

pytestmark = pytest.mark.django_db
COOKIE = "ferry_session_8000"
MULTIPLY = """
INSERT INTO django_session (session_key, session_data, expire_date)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
SELECT 'old' || i, '', expire_date FROM n, django_session WHERE session_key = 'old0'
"""


def test_a_planted_session_is_replaced_at_sign_in(alice):
    planted = SessionStore()
    planted["mine"] = "mallory"
    planted.save()
    browser = Client(headers={"host": "localhost"})
    browser.cookies[COOKIE] = planted.session_key
    browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert browser.cookies[COOKIE].value != planted.session_key
    assert not SessionStore().exists(planted.session_key)


def test_an_invented_session_key_is_not_taken_up(alice):
    browser = Client(headers={"host": "localhost"})
    browser.cookies[COOKIE] = "mallorymallorymallorymallorymall"
    browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert browser.cookies[COOKIE].value != "mallorymallorymallorymallorymall"


def test_a_signed_out_cookie_is_worth_nothing(alice):
    stolen = alice.client.cookies[COOKIE].value
    thief = Client(headers={"host": "localhost"})
    thief.cookies[COOKIE] = stolen
    assert thief.get("/").status_code == 200
    alice.client.post("/signout/")
    assert thief.get("/").status_code == 302


def test_a_stolen_cookie_dies_with_a_password_change(alice):
    thief = signed_in(alice.user)
    assert thief.get("/").status_code == 200
    new = {"password": "a louder harbour", "password_again": "a louder harbour"}
    alice.client.post("/account/password/", {"old_password": PASSWORD, **new})
    assert thief.get("/").status_code == 302


def test_no_session_is_named_in_an_address(alice):
    answer = alice.client.get("/account/")
    assert alice.client.cookies[COOKIE].value.encode() not in answer.content


def test_the_welcome_link_sends_no_referrer_elsewhere(client):
    assert client.get("/welcome/guess/")["Referrer-Policy"] == "same-origin"


@pytest.mark.slow
def test_a_hundred_thousand_sessions_slow_nothing_down_and_old_ones_are_pruned(alice):
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert alice.client.get("/").status_code == 200
        return len(seen)

    def computed_seconds() -> float:
        started = time.thread_time()
        for _ in range(50):
            assert SessionStore(alice.client.cookies[COOKIE].value).load()
        return time.thread_time() - started

    alice.client.get("/")
    few, quick = queries(), computed_seconds()
    Session.objects.create(session_key="old0", session_data="", expire_date=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(MULTIPLY)
    assert Session.objects.count() == 100_002
    assert queries() == few
    # Without an index, each lookup of a session would read them all: hundreds of times as much.
    assert computed_seconds() < 5 * quick
    pruning.prune(timezone.now())
    assert Session.objects.count() == 1


def test_an_expired_session_under_htmx_leads_to_sign_in_and_shows_nothing(alice, storage):
    storage.file("secret.txt")
    headers = {"hx-request": "true"}
    assert b"secret.txt" in alice.client.get("/files/0/listing/", headers=headers).content
    Session.objects.update(expire_date=timezone.now())
    answer = alice.client.get("/files/0/listing/", headers=headers)
    assert answer["HX-Redirect"].startswith("/signin/")
    assert b"secret.txt" not in answer.content


def test_the_cookie_of_a_known_device_opens_nothing(alice):
    """It only keeps strangers' guesses from locking out its owner."""
    browser = Client(headers={"host": "localhost"})
    browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert browser.get("/").status_code == 200
    (device,) = [name for name in browser.cookies if "device" in name]
    thief = Client(headers={"host": "localhost"})
    thief.cookies[device] = browser.cookies[device].value
    assert thief.get("/").status_code == 302
