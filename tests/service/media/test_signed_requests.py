"""Questions from one machine to the worker of another."""

import json
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from http.client import HTTPConnection

import pytest
from django.db.models.functions import Now

from service.errors import Busy, CannotConvert, NoWorker
from service.media.serving import media_server, signed_server, workers
from service.media.serving.media_server import MediaServer
from service.media.serving.requests import (
    MOST_BYTES,
    NONCE,
    PATH,
    SIGNATURE,
    ask,
    encode_refusal,
    listening_at,
    sign,
    tell,
)
from service.media.serving.signed_server import MOST_ARRIVING, SignedServer
from service.models import File, MediaWorker
from tests.misbehaving import serving, whole
from tests.running import free_port
from tests.service.media.waiting import wait_until

MOST_AT_ONCE = 2


@contextmanager
def answering(answer, address=""):
    """Run a server; yield its address."""
    address = address or f"127.0.0.1:{free_port()}"
    stopped = threading.Event()

    def serve():
        while not stopped.is_set():
            server.receive()

    with listening_at(address) as listener, SignedServer(listener, answer, MOST_AT_ONCE) as server:
        listener.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield address
        finally:
            stopped.set()
            thread.join()


def sums(question, _connection):
    return {"answer": {"sum": question["a"] + question["b"]}}


def refusing(refusal):
    return lambda _question, _connection: encode_refusal(refusal)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_a_question_is_answered(host):
    with answering(sums, f"{host}:{free_port()}") as address:
        assert ask("sum", 5, addresses=[address], a=1, b=2) == {"sum": 3}


def test_a_dead_or_busy_worker_is_skipped():
    gone = f"127.0.0.1:{free_port()}"
    with answering(refusing(Busy())) as busy, answering(sums) as free:
        assert ask("sum", 5, addresses=[gone, busy, free], a=1, b=2) == {"sum": 3}
        with pytest.raises(Busy) as refusal:
            ask("sum", 5, addresses=[busy, gone])
    assert type(refusal.value) is Busy
    with pytest.raises(NoWorker):
        ask("sum", 5, addresses=[gone])


def test_a_film_that_one_worker_cannot_convert_is_not_sent_to_others():
    calls = Counter()

    def count(_question, _connection):
        calls["next"] += 1
        return {"answer": {}}

    with answering(refusing(CannotConvert("it is damaged"))) as first, answering(count) as second:
        with pytest.raises(CannotConvert):
            ask("plan", 5, addresses=[first, second])
        assert not calls


def test_a_handler_notices_that_its_client_has_left():
    browser, ours = socket.socketpair()
    has_begun, asker = threading.Event(), []

    def answer(_question, connection):
        asker.append(connection.dup())
        has_begun.set()
        wait_until(lambda: not connection.recv(1, socket.MSG_PEEK))
        return {"answer": {}}

    with browser, ours, answering(answer) as address:
        failures = []

        def act():
            try:
                ask("segment", 30, ours, [address])
            except Busy as busy:
                failures.append(busy)

        thread = threading.Thread(target=act)
        thread.start()
        assert has_begun.wait(60)
        browser.close()
        thread.join(10)
        assert [type(each) for each in failures] == [Busy]
        asker[0].close()


def test_notifications_are_handled_without_a_response():
    received = threading.Event()

    def answer(question, _connection):
        assert question == {"kind": "begin", "file": 7}
        received.set()
        return {"answer": {}}

    with answering(answer) as address:
        tell("begin", [address], file=7)
        assert received.wait(60)
    tell("begin", [address], file=7)


def test_more_than_can_wait_are_sent_to_others(monkeypatch):
    # The server's threads close database connections, but this test has no database.
    monkeypatch.setattr(media_server, "close_old_connections", lambda: None)
    leave, entered = threading.Event(), threading.Semaphore(0)

    def slow(_question, _has_left):
        entered.release()
        leave.wait(60)
        return {}

    server = MediaServer()
    server.register(MOST_AT_ONCE, slow=slow, sum=slow)
    with answering(server.answer) as crowded, answering(sums) as free:
        threads = [
            threading.Thread(target=ask, args=("slow", 10, None, [crowded]))
            for _ in range(MOST_AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        assert all(entered.acquire(timeout=10) for _ in threads)
        assert ask("sum", 5, addresses=[crowded, free], a=1, b=2) == {"sum": 3}
        leave.set()
        for thread in threads:
            thread.join()


# Strangers


def post(address, body, headers, path=PATH, method="POST"):
    """Return the status. Read until the server hangs up: by then it can take the next request."""
    connection = HTTPConnection(address, timeout=10)
    connection.request(method, path, body, headers)
    answer = b"".join(iter(lambda: connection.sock.recv(1000), b""))
    connection.close()
    return int(answer.split()[1])


def test_requests_without_the_key_get_no_response(settings):
    body = json.dumps({"kind": "sum", "a": 1, "b": 2}).encode()
    good = {NONCE: "once", SIGNATURE: sign("question", "once", body)}
    with answering(sums) as address:
        assert post(address, body, good) == 200
        assert post(address, body, good | {NONCE: "twice"}) == 403
        assert post(address, body.replace(b"1", b"3"), good) == 403
        assert post(address, body, good | {SIGNATURE: sign("answer", "once", body)}) == 403
        assert post(address, body, {}) == 403
        ours, settings.SECRET_KEY = settings.SECRET_KEY, "another Ferry's"
        theirs = good | {SIGNATURE: sign("question", "once", body)}
        settings.SECRET_KEY = ours
        assert post(address, body, theirs) == 403


def test_random_input_does_no_harm():
    with answering(sums) as address:
        assert post(address, b"", {}, path="/") == 400
        assert post(address, b"", {"Content-Length": str(MOST_BYTES + 1)}) == 400
        assert post(address, b"", {"Content-Length": "-1"}) == 400
        assert post(address, None, {}, method="GET") == 501
        host, _, port = address.rpartition(":")
        for nonsense in (b"\r\n\r\n", b"\xff" * 100 + b"\r\n\r\n", b"POST"):
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(nonsense)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1000):
                    pass
        assert ask("sum", 5, addresses=[address], a=1, b=2) == {"sum": 3}


@contextmanager
def strangers(address, count):
    """Open connections that send the start of a request, and yield them."""
    host, _, port = address.rpartition(":")
    with ExitStack() as opened:
        connections = []
        for _each in range(count):
            connection = opened.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(b"POST ")
            connections.append(connection)
        yield connections


@pytest.mark.parametrize("count", [2 * MOST_AT_ONCE, MOST_ARRIVING + 5])
def test_connections_that_send_no_whole_request_keep_no_machine_out(count):
    with answering(sums) as address, strangers(address, count):
        assert ask("sum", 5, addresses=[address], a=1, b=2) == {"sum": 3}


def test_a_request_that_drips_is_cut_off(monkeypatch):
    # The real time is five seconds.
    monkeypatch.setattr(signed_server, "ARRIVAL_SECONDS", 0.3)
    with answering(sums) as address, strangers(address, 1) as [connection]:
        connection.settimeout(0.01)

        def is_cut_off():
            try:
                connection.sendall(b"x")
                return not connection.recv(1)
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(is_cut_off)


@pytest.mark.parametrize("answer", [b'{"answer": {"sum": 4}}', b"", b"[" * 2000])
def test_an_unsigned_response_is_rejected(answer):
    with serving(lambda wire: wire.send(whole(answer))) as server, pytest.raises(NoWorker):
        ask("sum", 5, addresses=[f"127.0.0.1:{server.port}"], a=1, b=2)


# Choosing a worker


@pytest.fixture
def shared(settings):
    settings.STORE_URL = "s3://bucket"


def announce(*addresses):
    for address in addresses:
        workers.announce(address)


def files(count):
    return [File(sha1=f"{number:040x}", size_bytes=number) for number in range(count)]


@pytest.mark.django_db
def test_a_machine_alone_asks_its_own_worker():
    announce("one:1")
    assert workers.rank_for(*files(1)) == []


@pytest.mark.django_db
def test_films_stay_with_their_worker_unless_it_dies(shared):
    addresses = [f"{name}:1" for name in ("one", "two", "three")]
    announce(*addresses)
    before = [workers.rank_for(file) for file in files(300)]
    assert all(sorted(ranks) == sorted(addresses) for ranks in before)
    assert all(80 < count < 120 for count in Counter(ranks[0] for ranks in before).values())
    workers.withdraw("two:1")
    for file, ranks in zip(files(300), before, strict=True):
        assert workers.rank_for(file) == [each for each in ranks if each != "two:1"]


@pytest.mark.django_db
def test_a_dead_worker_gets_requests_only_until_its_lease_expires(shared):
    announce("one:1", "two:1")
    MediaWorker.objects.filter(address="one:1").update(alive_until=Now() - timedelta(seconds=1))
    assert workers.rank_for(*files(1)) == ["two:1"]
    announce("one:1")
    assert len(workers.rank_for(*files(1))) == 2


def test_a_worker_behind_a_cut_link_is_given_up_soon():
    """Nothing there responds, neither yes nor no."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        port = silent.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), answering(sums) as alive:
            addresses = [f"127.0.0.1:{port}", alive]
            began_at = time.monotonic()
            assert ask("sum", 60, addresses=addresses, a=1, b=2) == {"sum": 3}
            # Long before the question itself times out.
            assert time.monotonic() - began_at < 40
