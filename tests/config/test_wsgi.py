"""What only the real server shows: sendfile, kept connections, and cut connections."""

import http.client
import json
import os
import re
import resource
import signal
import socket
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from threading import Event

import httpx
import pytest
from django.utils import timezone

from service.content import archive_plans, signed_links
from service.store.blobs import library_store
from tests.cases import each_case
from tests.running import PASSWORD, raw
from tests.service.builders import a_file, alice, put
from tests.serving import serving

pytestmark = pytest.mark.django_db(transaction=True)
# A client that a busy machine holds up for less than this isn't cut.
STALLED_SECONDS = 3
CONTENT = os.urandom(12_000_000)
# More than the kernel queues for a slow reader.
STEADY_BYTES = 5_000_000


@pytest.fixture(scope="module")
def server(django_db_setup):
    with serving(STALLED_SECONDS=str(STALLED_SECONDS)) as running:
        yield running


@pytest.fixture(scope="module")
def quiet_server(django_db_setup):
    """A server for tests that check every log line; no other test uses it."""
    with serving() as running:
        yield running


@pytest.fixture
def file(library_folder):
    return a_file(alice(), blob=put(library_folder, CONTENT))


@pytest.fixture
def file_link(file):
    return signed_links.file_link(file.account, file, now=timezone.now())


@pytest.fixture
def zip_link(file):
    return archive_plans.create_link(file.account, [], [file.pk], "Films", now=timezone.now())


@pytest.fixture
def library_folder(settings):
    return library_store()


def ask(server, link, *, headers=""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    connection.sendall(f"GET {link} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
    return connection


def received(connection):
    """Return how many bytes come until the server ends the connection."""
    total = 0
    with closing(connection):
        try:
            while part := connection.recv(65536):
                total += len(part)
        except ConnectionResetError:
            pass
    return total


@pytest.mark.promise("a connection serves many requests")
@pytest.mark.slow
def test_one_connection_serves_full_partial_and_head_requests_in_turn(server, file_link):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        for _ in range(2):
            assert client.get(file_link).content == CONTENT
            part = client.get(file_link, headers={"Range": "bytes=1000-1999999"})
            assert (part.status_code, part.content) == (206, CONTENT[1000:2_000_000])
            last = client.get(file_link, headers={"Range": "bytes=-7"})
            assert last.content == CONTENT[-7:]
            head = client.head(file_link)
            assert (head.headers["Content-Length"], head.content) == (str(len(CONTENT)), b"")
            several = client.get(file_link, headers={"Range": "bytes=0-9,5000-5009"})
            assert int(several.headers["Content-Length"]) == len(several.content)
            assert client.get(file_link, headers={"Range": "bytes=99999999-"}).status_code == 416
            assert client.get("/healthz").text == "alive\n"


@pytest.mark.parametrize("body", [b"x" * 200_000, iter([b"x" * 200_000])], ids=["long", "chunked"])
def test_a_body_that_is_refused_unread_ends_its_connection_and_says_so(server, body):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        refused = client.post("/rest/transfer/file", content=body)
        assert (refused.status_code, refused.headers["Connection"]) == (401, "close")
        assert client.get("/rest/folder").status_code == 401


def test_a_short_body_that_is_refused_unread_leaves_its_connection(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        refused = client.post("/rest/folder", data={"path": "Films"})
        assert (refused.status_code, refused.headers["Connection"]) == (401, "keep-alive")


def test_idle_keep_alive_connections_block_no_one(server):
    """If each took two seconds, all of them would take longer than the client's timeout."""
    staying = [ask(server, "/healthz", headers="Connection: close\r\n") for _ in range(15)]
    for connection in staying:
        assert connection.recv(12) == b"HTTP/1.1 200"
    assert httpx.get(f"{server.url}/healthz", timeout=20, trust_env=False).text == "alive\n"
    for connection in staying:
        connection.close()


@pytest.mark.slow
def test_a_process_that_runs_out_of_open_files_continues_and_logs_it_once():
    with serving() as server, ExitStack() as stack:
        httpx.get(f"{server.url}/healthz", timeout=60, trust_env=False)
        (worker,) = server.workers
        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.prlimit(worker, resource.RLIMIT_NOFILE, (server.descriptors() + 40, hard))
        for _ in range(100):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            stack.enter_context(closing(connection)).sendall(b"GET / HTTP/1.1\r\nX: ")
        said = server.says("can't be accepted")
        for _ in range(3):
            assert httpx.get(f"{server.url}/healthz", timeout=60, trust_env=False).text == "alive\n"
        assert server.workers == [worker]
        assert re.match(r"\S+Z ERROR ferry\.connections .*Too many open files", said)
        assert not [line for line in server.lines.queue if "can't be accepted" in line]


@pytest.mark.promise("a client that reads nothing is disconnected", cases=["file"])
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_a_client_that_reads_nothing_is_disconnected(server, request, kind):
    link = request.getfixturevalue(f"{kind}_link")
    with closing(ask(server, link)) as connection:
        connection.recv(1)
        assert re.fullmatch(
            r"\S+Z INFO gunicorn\.error connection cut: \w+\n", server.says("connection cut")
        )
        assert received(connection) < len(CONTENT)


@pytest.mark.slow
def test_readers_that_are_slow_but_steady_are_not_cut(server, file_link, zip_link):
    """With the real limit of 60 s, this pace would be 10 KB/s. Without TCP_NOTSENT_LOWAT, even
    readers of 20 KB/s are cut."""
    with ThreadPoolExecutor() as readers:
        totals = readers.map(partial(slowly_received, server), (file_link, zip_link))
        assert [total >= STEADY_BYTES for total in totals] == [True, True]


@pytest.mark.promise("a reader that pauses gets every byte", cases=["file"])
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_a_reader_that_pauses_gets_every_byte_and_then_the_next_answer(server, request, kind):
    """While it pauses, its response waits without a thread."""
    link, pause = request.getfixturevalue(f"{kind}_link"), Event()
    whole = httpx.get(server.url + link, timeout=60, trust_env=False).content
    with closing(ask(server, link)) as connection:
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        pieces = [answer.read(1)]
        for _ in range(3):
            pause.wait(STALLED_SECONDS / 4)
            pieces.append(answer.read(1_000_000))
        assert b"".join([*pieces, answer.read()]) == whole
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.slow
def test_a_stop_lets_a_waiting_response_continue(file_link):
    with serving() as server, closing(ask(server, file_link)) as connection:
        connection.recv(1)
        server.process.send_signal(signal.SIGTERM)
        assert received(connection) >= len(CONTENT)


def test_requests_in_one_piece_are_answered_in_turn(server):
    form = b"Content-Length: 5\r\n\r\nx=123"
    ask_v1 = b"POST /rest/folder HTTP/1.1\r\nHost: localhost\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n5\r\nx=123\r\n0\r\n\r\n"
    last = b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    said = raw(server.port, (ask_v1 + form) * 2 + last)
    assert re.findall(rb"HTTP/1\.[01] (\d+)", said) == [b"401", b"401", b"200"]
    assert raw(server.port, ask_v1 + chunks).startswith(b"HTTP/1.1 401")


def test_a_client_that_expects_100_continue_gets_it_and_then_the_response(server):
    head = "POST /rest/folder HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: 5\r\n\r\n".encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"x=123")
        assert connection.recv(12) == b"HTTP/1.1 401"


def slowly_received(server, link):
    # Slowness is the subject here, and curl pauses for more than a second at a time.
    pace, total, part = Event(), 0, b"."
    with closing(ask(server, link)) as connection:
        while part and total < STEADY_BYTES:
            part = connection.recv(60_000)
            total += len(part)
            pace.wait(STALLED_SECONDS / 10)
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "beginning",
    [
        b"GET /rest/folder HTTP/1.1\r\nHost: loc",
        b"POST /rest/folder HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\npath=",
    ],
)
def test_a_sender_that_sends_nothing_more_is_cut(server, beginning):
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
        connection.sendall(beginning)
        while connection.recv(1024):
            pass


def test_a_file_that_shrinks_while_it_is_sent_ends_the_connection(server, library_folder):
    account = alice()
    file = a_file(account, blob=put(library_folder, CONTENT))
    connection = ask(server, signed_links.file_link(account, file, now=timezone.now()))
    connection.recv(1)
    os.truncate(library_folder.path(file.blob), 8_000_000)
    assert received(connection) < len(CONTENT)


@pytest.mark.promise("a broken archive is visibly incomplete")
@pytest.mark.slow
def test_an_archive_that_breaks_midway_is_visibly_incomplete(server, library_folder):
    account = alice()
    first = a_file(account, "a.mkv", blob=put(library_folder, CONTENT))
    second = a_file(account, "b.mkv", blob=put(library_folder, CONTENT))
    link = archive_plans.create_link(
        account, [], [first.pk, second.pk], "Films", now=timezone.now()
    )
    library_folder.delete(second.blob)
    with (
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client,
        pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"),
    ):
        client.get(link)


def test_content_and_rest_know_no_cookie_and_no_page(server, file_link):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        for path in (file_link, "/content/nothing", "/rest/nothing"):
            answer = client.get(path, headers={"Cookie": "ferry_session_8000=x"})
            assert "Set-Cookie" not in answer.headers
            assert "html" not in answer.headers["Content-Type"]


def test_doubled_slashes_are_one(server):
    with httpx.Client(timeout=60, trust_env=False) as client:
        for path in ("/rest/folder", "//rest//folder", "/rest///folder"):
            assert client.get(server.url + path).status_code == 401


def test_a_foreign_name_is_refused_in_json(server, file_link):
    answer = httpx.get(
        server.url + file_link, headers={"Host": "evil.example"}, timeout=60, trust_env=False
    )
    assert answer.status_code == 400
    assert answer.json()["reason_phrase"] == "unknown_host"


@pytest.mark.slow
def test_the_server_has_no_words_for_heads_and_one_line_for_nonsense(quiet_server):
    signin = f"{quiet_server.url}/signin/"
    assert httpx.head(signin, timeout=60, trust_env=False).status_code == 200
    assert b"400" in raw(quiet_server.port, b"nonsense\r\n\r\n")
    line = quiet_server.lines.get(timeout=60)
    assert re.match(r"\S+Z WARNING gunicorn\.error Invalid request", line)


def test_malformed_chunks_are_refused_in_json(quiet_server):
    key = b64encode(f"{alice(password=PASSWORD).email}:{PASSWORD}".encode()).decode()
    head = (
        f"POST /rest/folder HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {key}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    for body in (b"zz\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"3;\r=\r\nabc\r\n"):
        answer = raw(quiet_server.port, head.encode() + body)
        assert answer.startswith(b"HTTP/1.1 400 "), body
        assert b'"reason_phrase":"body_unreadable"' in answer, body
    assert "Traceback" not in "".join(quiet_server.lines.queue)


@each_case(
    ("request_", "status"),
    [
        (b"GET /rest/folder?" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET /rest/folder HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431),
        (b"GET /rest/folder HTTP/1.1\r\nno header\r\n\r\n", 400),
    ],
)
def test_malformed_requests_are_refused_in_json(request_, status, server):
    head, _, content = raw(server.port, request_).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nContent-Type: application/json\r\n" in head
    assert json.loads(content)["code"] == status


@pytest.mark.slow
def test_no_foreign_page_may_read_a_static_file(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        (link, *_more) = re.findall(r'"(/static/[^"]+\.css)"', client.get("/signin/").text)
        answer = client.get(link, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
