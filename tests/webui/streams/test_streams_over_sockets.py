"""The whole program with a foreign service that sends content itself."""

import os
import re
import socketserver
import statistics
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from queue import SimpleQueue

import httpx
import pytest

from tests.running import PASSWORD, running

pytestmark = pytest.mark.slow

SIZE = 2**30
PIECE = b"x" * 65536
FILM = os.urandom(20_000_000)


class Service(BaseHTTPRequestHandler):
    """A service with an empty root folder, an endless file, and a file that falls silent."""

    protocol_version = "HTTP/1.1"
    left = threading.Event()
    left_in_silence: "SimpleQueue[float]" = SimpleQueue()
    requests: "list[dict[str, str]]" = []  # noqa: RUF012

    def do_GET(self):
        Service.requests.append(dict(self.headers))
        if self.path.endswith("/file/8"):
            self.fall_silent()
        elif self.path.endswith("/file/9"):
            self.send_film(FILM, len(FILM))
        elif self.path.endswith("/file/10"):
            self.send_film(FILM, len(FILM) + 1)
        elif "/file/" in self.path:
            self.stream()
        else:
            self.say(b'{"id": 1, "parent_id": -1, "files": [], "folders": [], "result": true}')

    def say(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.end_headers()
        try:
            for _piece in range(SIZE // len(PIECE)):
                self.wfile.write(PIECE)
        except OSError:
            Service.left.set()
            self.close_connection = True

    def send_film(self, content, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def fall_silent(self):
        """Send one piece, and then nothing until the client disconnects."""
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.end_headers()
        self.wfile.write(PIECE)
        self.rfile.read(1)
        Service.left_in_silence.put(time.monotonic())
        self.close_connection = True

    def log_message(self, *_args):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True

    def handle_error(self, *_args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Server(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://me%40example.org:herring@127.0.0.1:{server.server_address[1]}"
        settings = {"SERVICE_URL": url, "WEB_PROCESSES": "1", "STREAMS_PER_PROCESS": "2"}
        try:
            with running(tmp_path_factory.mktemp("ferry"), **settings) as ferry:
                ferry.make_owner()
                yield ferry
        finally:
            server.shutdown()
            thread.join()


def sign_in(site) -> httpx.Client:
    client = httpx.Client(base_url=site.url, timeout=60, trust_env=False)
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', client.get("/signin/").text)[1]
    form = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    assert client.post("/signin/", data=form).status_code == 302
    return client


def test_clients_that_disconnect_end_their_streams_while_pages_respond(site):
    address = "/files/file/7/download/"
    with closing(sign_in(site)) as client:
        with client.stream("GET", address) as one, client.stream("GET", address) as two:
            assert (one.status_code, two.status_code) == (200, 200)
            pieces = one.iter_raw()
            assert next(pieces)
            refused = client.get(address)
            assert refused.status_code == 503
            assert refused.headers["Retry-After"]
            assert client.get("/").status_code == 200
        # Long before Ferry cuts off a stalled stream.
        assert Service.left.wait(40)
        assert "Traceback" not in site.log
        assert "herring" not in site.log
        with client.stream("GET", address) as again:
            assert again.status_code == 200


def test_a_client_that_leaves_a_silent_stream_ends_it_within_a_second(site):
    """This takes the median of five, since a busy machine may delay one of them."""
    took = []
    with closing(sign_in(site)) as client:
        for _reader in range(5):
            with client.stream("GET", "/files/file/8/download/") as silent:
                pieces = silent.iter_raw()  # If collected, it closes the connection.
                assert next(pieces)
                assert Service.left_in_silence.empty()
                left = time.monotonic()
            took.append(Service.left_in_silence.get(timeout=60) - left)
        assert client.get("/").status_code == 200
        assert "stream broken" not in site.log
    assert statistics.median(took) < 1, took


@pytest.mark.promise("a film is relayed byte by byte")
def test_a_film_arrives_byte_by_byte_even_if_its_reader_pauses(site):
    """The kernel moves most of it, and the response waits without a thread."""
    pause, content = threading.Event(), b""
    with closing(sign_in(site)) as client, client.stream("GET", "/files/file/9/download/") as film:
        for piece in film.iter_raw(4_000_000):
            content += piece
            pause.wait(0.2)
        assert content == FILM
        assert client.get("/files/file/9/download/").content == FILM


def test_a_service_that_breaks_off_breaks_the_download_off(site):
    with closing(sign_in(site)) as client:
        for _ in range(3):
            with pytest.raises(httpx.RemoteProtocolError):
                client.get("/files/file/10/download/")
        assert client.get("/").status_code == 200
    assert "stream broken reason=" in site.log
    assert "Traceback" not in site.log
