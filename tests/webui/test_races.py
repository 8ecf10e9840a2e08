"""Races in the site's tables: SQLite's single lock prevents them, elsewhere row locks must."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace

import pytest
from django.db import connection
from django.utils import timezone

from webui.drive import locks, properties
from webui.drive.refusals import Refused
from webui.models import DriveLock, DriveProperties, Sent, Throttle, User
from webui.signin import throttle
from webui.signin.throttle import ThrottleKey

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 8


def at_once(act):
    start = Barrier(MANY)

    def one(number):
        try:
            connection.ensure_connection()
            start.wait(60)
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


@pytest.mark.parametrize("counted_before", [0, 1])
def test_concurrent_attempts_share_the_limit(counted_before, clock):
    key = ThrottleKey("links", free=3)
    for _try in range(counted_before):
        throttle.take(key)
    outcomes = at_once(lambda _n: throttle.take(key))
    assert Counter(outcome is None for outcome in outcomes)[True] == 3 - counted_before
    assert list(Throttle.objects.values_list("key", "count")) == [("links", 3)]


def test_attempts_given_back_at_once_are_all_forgotten(clock):
    key = ThrottleKey("session", free=50)
    at_once(lambda _n: throttle.take(key))
    at_once(lambda _n: throttle.give_back(key))
    assert list(Throttle.objects.values_list("key", "count")) == [("session", 0)]


def test_concurrent_guesses_at_a_name_and_from_a_network_are_all_counted(clock):
    keys = [ThrottleKey("name", free=50), ThrottleKey("network", free=50)]
    at_once(lambda n: throttle.count(keys[:: 1 if n % 2 else -1]))
    counts = set(Throttle.objects.values_list("key", "count"))
    assert counts == {("name", MANY), ("network", MANY)}


@pytest.mark.parametrize(
    "known", [{"transfer_id": "7"}, {"info_hash": "a" * 40}], ids=["id", "hash"]
)
def test_concurrent_duplicates_become_one_row(known):
    facts = {"source_kind": Sent.URL, "added_at": timezone.now(), **known}
    rows = at_once(lambda _n: Sent.record("service", **facts))
    assert {row.pk for row in rows} == set(Sent.objects.values_list("pk", flat=True))
    assert Sent.objects.count() == 1


def test_properties_stored_at_once_are_one_row():
    drive = SimpleNamespace(service=SimpleNamespace(key="own"))
    at_once(lambda number: properties.save_values(drive, "file-1", {"x": f"{number}"}))
    assert DriveProperties.objects.count() == 1


def test_of_locks_on_one_path_at_once_one_is_granted():
    people = [User.objects.create(username=f"person {number}") for number in range(MANY)]

    def lock(number):
        facts = {"service": "own", "path": "/a.txt", "user": people[number], "token": f"{number}"}
        try:
            locks.add(DriveLock(**facts, is_shared=False, is_deep=False, seconds=60))
        except Refused as refused:
            return refused.status
        return 200

    assert sorted(at_once(lock)) == [200] + [423] * (MANY - 1)
