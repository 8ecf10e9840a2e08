"""The pool of connections, on a real server that is stopped and started."""

import signal
import threading
import time
from functools import partial

import psycopg
import pytest

from host.storage.postgresql import pool
from host.storage.postgresql.pool import ConnectionPool
from tests.postgresql import cluster


@pytest.fixture(scope="module")
def server():
    with cluster() as server:
        yield server


@pytest.fixture
def two(server):
    two = ConnectionPool(partial(psycopg.connect, server.url, autocommit=True), most=2)
    yield two
    two.close()


def number_of(connection) -> int:
    """Return a number that differs between sessions of the server."""
    return connection.execute("SELECT pg_backend_pid()").fetchone()[0]


def test_connections_are_used_again_and_never_by_two_at_once(two):
    one, other = two.getconn(), two.getconn()
    numbers = {number_of(one), number_of(other)}
    assert len(numbers) == 2
    two.putconn(one)
    two.putconn(other)
    assert {number_of(two.getconn()), number_of(two.getconn())} == numbers


def test_callers_beyond_the_limit_wait_their_turn(two, monkeypatch):
    one, other = two.getconn(), two.getconn()
    got = []
    waiting = threading.Thread(target=lambda: got.append(two.getconn()))
    waiting.start()
    two.putconn(one)
    waiting.join(30)
    assert got == [one]
    # No setting: half a minute is as long as a request waits for a thread.
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.01)
    with pytest.raises(psycopg.OperationalError, match="all 2 connections of this process are in"):
        two.getconn()
    two.putconn(other)
    assert two.getconn() is other


def test_a_connection_in_a_transaction_is_not_shared(two):
    one = two.getconn()
    number = number_of(one)
    one.execute("BEGIN")
    two.putconn(one)
    assert one.closed
    assert number_of(two.getconn()) != number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_connections_fail_at_once_during_an_outage_and_work_at_once_afterward(server, two, number):
    for each in [two.getconn(), two.getconn()]:
        two.putconn(each)
    server.stop(number)
    began = time.monotonic()
    for _more_often_than_there_are_turns in range(5):
        with pytest.raises(psycopg.OperationalError, match="connection to server"):
            two.getconn()
    assert time.monotonic() - began < pool.WAIT_SECONDS
    server.start()
    assert number_of(two.getconn())
    assert number_of(two.getconn())


def test_idle_connections_are_closed_after_a_while(two, monkeypatch):
    one, other = two.getconn(), two.getconn()
    two.putconn(one)
    # No setting: a test can't wait a minute.
    monkeypatch.setattr(pool, "MOST_IDLE_SECONDS", -1)
    two.putconn(other)
    assert one.closed
    assert other.closed
