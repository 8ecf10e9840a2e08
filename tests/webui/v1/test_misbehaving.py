"""A misbehaving service costs a second and a few megabytes, and results in a reason of ours."""

import socket
import ssl
import threading
import time
import tracemalloc
from dataclasses import replace

import httpx
import pytest

from tests import misbehaving
from tests.cases import each_case
from tests.certificates import self_signed
from tests.misbehaving import MEGABYTE, answers, head, serving, whole
from tests.webui.v1.fakes import ALICE, PASSWORD
from webui.v1 import errors
from webui.v1.client import Client
from webui.v1.connection import Patience

DEADLINE_SECONDS = 0.25
# The longest that a call may take that ends by its deadline. Any other limit takes longer: a client
# that ignores the deadline waits 15 s for a silent server, and for ever for one that drips.
LONGEST_SECONDS = 12.0
LARGEST_BYTES = 8 * MEGABYTE
HURRIED = Patience(
    call_seconds=DEADLINE_SECONDS,
    add_seconds=DEADLINE_SECONDS,
    connect_seconds=DEADLINE_SECONDS,
    stream_idle_seconds=DEADLINE_SECONDS,
    pauses_seconds=(0.0, 0.0),
    most_answer_bytes=2 * MEGABYTE,
)
# For calls that end on their own: with short limits, a busy machine would turn every reason
# into "too_slow".
PATIENT = replace(
    HURRIED, call_seconds=20, add_seconds=20, connect_seconds=20, stream_idle_seconds=20
)


def client_of(server, scheme="http", reason="", **options) -> Client:
    patience = HURRIED if reason == "too_slow" else PATIENT
    options = {"patience": patience} | options
    return Client(f"{scheme}://127.0.0.1:{server.port}", ALICE, **options)


def outcome(ask) -> tuple[str | None, str]:
    start = time.monotonic()
    try:
        ask()
    except errors.Failure as failure:
        assert_tells_no_secret(failure)
        if failure.reason == "too_slow":
            assert time.monotonic() - start < LONGEST_SECONDS
        return type(failure).__name__, failure.reason
    return None, ""


def assert_tells_no_secret(failure: errors.Failure) -> None:
    shown = f"{failure!r} {failure} {failure.said} {vars(failure)} {failure.__cause__!r}"
    assert PASSWORD not in shown
    assert ALICE.token not in shown


def test_the_list_is_long():
    assert len(misbehaving.OF_CALLS) + len(misbehaving.OF_STREAMS) > 50


@pytest.mark.promise("a call survives any service")
@pytest.mark.slow
@each_case("name", misbehaving.OF_CALLS)
def test_a_call_survives_a_service_that(name):
    misbehave, failure, reason = misbehaving.OF_CALLS[name]
    with serving(misbehave) as server, client_of(server, reason=reason) as client:
        assert outcome(client.listing) == (failure, reason)
        assert server.got_request.wait(LONGEST_SECONDS)
        assert (client.health.last_error or "") == ("" if failure == "NotFound" else reason)


@pytest.mark.promise("a download survives any service")
@pytest.mark.slow
@each_case("name", misbehaving.OF_STREAMS)
def test_a_download_survives_a_service_that(name):
    misbehave, failure, reason = misbehaving.OF_STREAMS[name]
    with serving(misbehave) as server, client_of(server, reason=reason) as client:

        def download() -> None:
            link = client.file_link("7")
            with client.open(link) if hasattr(link, "url") else link as opened:
                for _piece in opened:
                    pass

        assert outcome(download) == (failure, reason)
        assert server.got_request.wait(LONGEST_SECONDS)


@each_case(
    "name",
    ["packs a bomb", "sends 10 GB of JSON", "sends spaces without end",
     "misses with a body without end", "sends headers without end", "announces 10 GB"],
)  # fmt: skip
def test_memory_stays_small_with_a_service_that(name):
    misbehave, failure, _reason = misbehaving.OF_CALLS[name]
    with serving(misbehave) as server, client_of(server) as client:
        tracemalloc.start()
        try:
            assert outcome(client.listing)[0] == failure
            _now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < LARGEST_BYTES


def test_a_refused_connection_is_reported():
    with serving(answers()) as server:
        client = client_of(server)
    with client:
        assert outcome(client.listing) == ("Unavailable", "no_connection")


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory) -> ssl.SSLContext:
    return self_signed(tmp_path_factory.mktemp("tls"))


def test_a_wrong_certificate_ends_the_talk_before_the_credentials(own_certificate):
    listing = answers(whole(misbehaving.LISTING))
    with serving(listing, own_certificate) as server, client_of(server, "https") as client:
        assert outcome(client.listing) == ("Unavailable", "bad_certificate")
        assert server.heads == []


def test_a_plain_http_server_behind_https_is_reported():
    with serving(answers(b"HTTP/1.1 400 No\r\n\r\n")) as server:
        with client_of(server, "https") as client:
            assert outcome(client.listing) == ("Unavailable", "no_connection")
        assert not any(b"Authorization" in each for each in server.heads)


def test_a_server_that_never_shakes_hands_is_too_slow():
    with (
        serving(misbehaving.then_silent()) as server,
        client_of(server, "https", "too_slow") as client,
    ):
        assert outcome(client.listing) == ("Unavailable", "too_slow")


def test_a_short_deadline_also_limits_the_wait_for_a_silent_server():
    with serving(misbehaving.then_silent()) as server, client_of(server) as client:
        assert outcome(lambda: client.account(DEADLINE_SECONDS)) == ("Unavailable", "too_slow")


def test_a_redirect_elsewhere_carries_no_credentials():
    with serving(answers(whole(b"abc"))) as elsewhere:
        location = f"http://127.0.0.1:{elsewhere.port}/rest/file/7?st=s"
        with (
            serving(answers(head("302 Go", Location=location))) as server,
            client_of(server) as client,
        ):
            assert outcome(client.listing) == ("Unreadable", "redirected")
            assert elsewhere.heads == []
            link = client.file_link("7")
            with client.open(link) as download:
                assert b"".join(download) == b"abc"
            assert [b"Authorization: Basic" in each for each in server.heads] == [True, True]
        assert len(elsewhere.heads) == 1
        assert b"authorization" not in elsewhere.heads[0].lower()
        assert ALICE.token.encode() not in elsewhere.heads[0]


def test_ids_that_would_be_paths_are_never_handed_out():
    rows = b'[{"id": "../account"}, {"id": "7?a"}, {"id": "7#a"}, {"id": 7}, {"id": "http://a"}]'
    body = b'{"files": ' + rows + b', "folders": ' + rows + b', "torrents": ' + rows + b"}"
    with serving(answers(whole(body))) as server, client_of(server) as client:
        listing = client.listing()
    for found in (listing.files, listing.folders, listing.transfers):
        assert [one.id for one in found] == ["7"]


def test_an_address_is_checked_on_connecting():
    judged = []

    def may_connect(host: str, address: str) -> bool:
        judged.append((host, address))
        return False

    with serving(answers(whole(b"abc"))) as server, serving(answers(whole(b"x"))) as elsewhere:
        client = client_of(server, may_connect=may_connect)
        with client, client.file_link("7") as download:
            assert b"".join(download) == b"abc"
            assert judged == []
            url = f"http://localhost:{elsewhere.port}/"
            assert outcome(lambda: client.open(url)) == ("Unreadable", "refused_link")
        assert judged
        assert elsewhere.heads == []


def test_closing_a_download_closes_the_connection_at_once():
    ended = []

    def pour(wire) -> None:
        wire.send(head())
        try:
            wire.pour(b"x" * 65_536)
        except OSError as error:
            ended.append(error)
            raise

    with serving(pour) as server, client_of(server) as client:
        with client.file_link("7") as download:
            assert next(iter(download))
        server.threads[1].join(60)
        # A connection that stays open ends by the server's own timeout.
        assert isinstance(ended[0], ConnectionError)


class Endless:
    def read(self, size: int) -> bytes:
        return b"x" * size


def add_a_gigabyte(client):
    return client.add_file("a", Endless(), 1024 * MEGABYTE)


def test_an_upload_refused_at_once_says_so():
    def refuse(wire) -> None:
        wire.send(whole(b"{}", "413 No"))
        wire.connection.shutdown(socket.SHUT_WR)
        while wire.connection.recv(65_536):
            pass

    with serving(refuse) as server, client_of(server, naming="transfer") as client:
        result = outcome(lambda: client.add_file("a", Endless(), 100_000))
        assert result == ("Rejected", "too_large")
        assert len(server.heads) == 1


def test_an_unread_upload_counts_as_too_slow():
    idle = replace(HURRIED, idle_seconds=DEADLINE_SECONDS)
    with (
        serving(misbehaving.then_silent()) as server,
        client_of(server, patience=idle, naming="transfer") as client,
    ):
        assert outcome(lambda: add_a_gigabyte(client)) == ("Unavailable", "too_slow")
        assert len(server.heads) == 1


def test_an_upload_takes_little_memory():
    def swallow(wire) -> None:
        while not wire.connection.recv(262_144).endswith(b"--\r\n"):
            pass
        wire.send(whole(b'{"result": true, "user_torrent_id": 5}'))

    with serving(swallow) as server, client_of(server, naming="transfer") as client:
        tracemalloc.start()
        try:
            assert client.add_file("a", Endless(), 32 * MEGABYTE).id == "5"
            _now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 2 * MEGABYTE


def test_a_download_may_take_longer_than_a_call():
    seconds, is_late = [0.0], threading.Event()

    def slow(wire) -> None:
        wire.send(head(Content_Length="4"), b"ab")
        is_late.wait(60)
        wire.send(b"cd")

    with (
        serving(slow) as server,
        client_of(server, clock=lambda: seconds[0]) as client,
        client.file_link("7") as download,
    ):
        pieces = iter(download)
        beginning = next(pieces)
        seconds[0] += 10 * PATIENT.call_seconds
        is_late.set()
        assert beginning + b"".join(pieces) == b"abcd"


def test_a_connection_is_used_again():
    def twice(wire) -> None:
        answer = head(Content_Length=str(len(misbehaving.LISTING))) + misbehaving.LISTING
        wire.send(answer)
        wire.connection.recv(65_536)
        wire.send(answer)

    with serving(twice) as server, client_of(server) as client:
        client.listing()
        client.listing()
        assert len(server.heads) == 1


def test_the_transport_still_is_the_one_of_httpx_that_we_know():
    """webui.v1.network.sockets relies on a private name of httpx, which may change."""
    client = Client("http://127.0.0.1:1", None)
    with client:
        transport = client._api._transport  # noqa: SLF001  See the docstring.
        assert isinstance(transport, httpx.HTTPTransport)
        backend = transport._pool._network_backend  # noqa: SLF001  See the docstring.
        assert type(backend).__module__ == "webui.v1.network.sockets"
