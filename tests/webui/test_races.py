"""Races in the site's tables: SQLite's single lock prevents them, elsewhere row locks must."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from webui.http import guess_limits
from webui.models import Attempts, Sent

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
def test_concurrent_attempts_share_the_limit(counted_before):
    limits = [
        guess_limits.AttemptLimit("name", most=3),
        guess_limits.AttemptLimit("address", most=5),
    ]
    for _try in range(counted_before):
        guess_limits.take(limits)
    outcomes = at_once(lambda n: guess_limits.take(limits[:: 1 if n % 2 else -1]))
    assert Counter(outcome is None for outcome in outcomes)[True] == 3 - counted_before
    assert set(Attempts.objects.values_list("key", "count")) == {("name", 3), ("address", 3)}


def test_attempts_given_back_at_once_are_all_forgotten():
    limits = [
        guess_limits.AttemptLimit("name", most=50),
        guess_limits.AttemptLimit("address", most=50),
    ]
    at_once(lambda n: guess_limits.take(limits))
    at_once(lambda n: guess_limits.give_back(limits[:: 1 if n % 2 else -1]))
    assert set(Attempts.objects.values_list("key", "count")) == {("name", 0), ("address", 0)}


def test_an_attempt_that_is_refused_is_counted_nowhere():
    limits = [
        guess_limits.AttemptLimit("a new one", most=3),
        guess_limits.AttemptLimit("full", most=1),
    ]
    guess_limits.take(limits[1:])
    assert timedelta(0) < guess_limits.take(limits) <= guess_limits.WINDOW
    assert list(Attempts.objects.values_list("key", "count")) == [("full", 1)]


@pytest.mark.parametrize(
    "known", [{"transfer_id": "7"}, {"info_hash": "a" * 40}], ids=["id", "hash"]
)
def test_concurrent_duplicates_become_one_row(known):
    facts = {"source_kind": Sent.URL, "added_at": timezone.now(), **known}
    rows = at_once(lambda _n: Sent.record("service", **facts))
    assert {row.pk for row in rows} == set(Sent.objects.values_list("pk", flat=True))
    assert Sent.objects.count() == 1
