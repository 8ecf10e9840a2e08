"""https as clients see it: the limits, the slow clients, and the long bodies of http."""

import http.client
import os
import select
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.utils import timezone

from common.storage import durable
from host.tls import authority, certificate, context, listening
from host.web.connection_limits import ARRIVAL_SECONDS
from service.content import signed_links
from service.store.blobs import library_store
from tests import certificates
from tests.host.tls.forgeries import dns, ip
from tests.running import free_port
from tests.service.builders import a_file, alice, put
from tests.service.media.waiting import wait_until
from tests.serving import Server, serving

pytestmark = pytest.mark.django_db(transaction=True)
CONTENT = os.urandom(12_000_000)
STALLED_SECONDS = 3


class SecureServer:
    def __init__(self, server: Server, port: int) -> None:
        self.plain, self.port = server, port
        root = certificate.load_authority().root.public_bytes(Encoding.PEM).decode()
        self.trust = ssl.create_default_context(cadata=root)

    def client(self) -> httpx.Client:
        url = f"https://127.0.0.1:{self.port}"
        return httpx.Client(base_url=url, verify=self.trust, timeout=60, trust_env=False)

    def connect(self) -> ssl.SSLSocket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        return self.trust.wrap_socket(connection, server_hostname="127.0.0.1")

    def shown(self) -> x509.Certificate:
        with closing(self.connect()) as connection:
            return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True))


def make_certificate() -> None:
    home = certificate.load_authority()
    path, _key = context.files()
    durable.write(path, home.sign([dns("localhost.local"), ip("127.0.0.1")], timezone.now()))


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[SecureServer]:
    make_certificate()
    port = free_port()
    variables = {"HTTPS_PORT": str(port), "STALLED_SECONDS": str(STALLED_SECONDS)}
    with serving(**variables, HSTS_SECONDS="3600") as running:
        yield SecureServer(running, port)


@pytest.fixture
def file_link() -> str:
    file = a_file(alice(), blob=put(library_store(), CONTENT))
    return signed_links.file_link(file.account, file, now=timezone.now())


@pytest.mark.slow
def test_one_connection_serves_whole_files_and_ranges(server, file_link):
    with server.client() as client:
        for _ in range(2):
            assert client.get(file_link).content == CONTENT
            part = client.get(file_link, headers={"Range": "bytes=1000-1999999"})
            assert (part.status_code, part.content) == (206, CONTENT[1000:2_000_000])
            assert client.get("/healthz").text == "alive\n"


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"x" * 200_000, iter([b"x" * 200_000])], ids=["long", "chunked"])
def test_a_body_that_is_refused_unread_ends_its_connection_and_says_so(server, body):
    with server.client() as client:
        refused = client.post("/rest/transfer/file", content=body)
        assert (refused.status_code, refused.headers["Connection"]) == (401, "close")
        assert client.get("/rest/folder").status_code == 401


def test_cookies_are_secure_and_hsts_is_never_sent(server):
    with server.client() as client:
        page = client.get("/signin/")
    assert "Strict-Transport-Security" not in page.headers
    for cookie in page.headers.get_list("Set-Cookie"):
        assert cookie.partition("=")[0].endswith("_s")
        assert "; Secure" in cookie
    plain = httpx.get(f"{server.plain.url}/signin/", trust_env=False)
    assert not any("Secure" in cookie for cookie in plain.headers.get_list("Set-Cookie"))


def test_links_of_the_service_lead_to_https(server, file_link):
    with server.client() as client:
        redirect = client.get("/account/")
    assert redirect.status_code == 302
    assert "http://" not in redirect.headers["Location"]


def test_idle_connections_block_no_one(server):
    with ExitStack() as stack:
        for _ in range(40):
            silent = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            stack.enter_context(closing(silent))
        with server.client() as client:
            assert client.get("/healthz").text == "alive\n"


def test_http_on_the_port_of_https_is_told_so(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 400
        assert b"https://" in answer.read()


@pytest.mark.slow
def test_a_client_that_stops_reading_is_cut(server, file_link):
    with server.client() as client:
        client.get("/healthz")
    before = server.plain.descriptors()
    stalled = server.connect()
    stalled.sendall(f"GET {file_link} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert stalled.recv(12) == b"HTTP/1.1 200"
    server.plain.says("connection cut: TimeoutError", seconds=60)
    wait_until(lambda: server.plain.descriptors() <= before, seconds=30)
    stalled.close()


@pytest.mark.slow
def test_a_client_that_only_connects_is_cut(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as silent:
        assert silent.recv(1) == b""


@pytest.mark.slow
def test_a_handshake_that_trickles_is_cut(server):
    """A message of a handshake may have 128 KB, so one byte a second would hold it for a day."""
    ends_at = time.monotonic() + 2 * ARRIVAL_SECONDS
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as trickling:
        trickling.sendall(b"\x16\x03\x01\x40\x00\x01\x01\xff\xfc\x03\x03")
        while not select.select([trickling], [], [], 0.5)[0]:
            trickling.sendall(b"\0")
            assert time.monotonic() < ends_at


@pytest.mark.slow
def test_slow_bodies_hold_no_thread(server):
    with ExitStack() as stack:
        for _each in range(40):
            slow = stack.enter_context(closing(server.connect()))
            slow.sendall(
                b"POST /signin/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nx"
            )
        before = server.plain.threads()
        with server.client() as client:
            assert client.get("/signin/").status_code == 200
        assert server.plain.threads() <= before + 1


def test_a_response_without_a_length_ends_with_a_notice(server):
    """Without the notice of TLS, a client can't tell its end from a cut."""
    with closing(server.connect()) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        # An end without a notice would raise SSLEOFError.
        content = b"".join(iter(lambda: connection.recv(65536), b""))
    assert content.endswith(b"alive\n\r\n0\r\n\r\n")


def test_a_new_certificate_is_shown_without_a_restart(server):
    with closing(server.connect()) as older:
        before = server.shown()
        make_certificate()
        after = server.shown()
        assert before.serial_number != after.serial_number
        context.files()[0].write_bytes(b"torn")
        assert server.shown() == after
        make_certificate()
        older.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert older.recv(12) == b"HTTP/1.1 200"


@pytest.mark.slow
def test_without_a_usable_certificate_or_port_http_continues(server):
    with serving(HTTPS_PORT=str(server.port)) as second:
        assert httpx.get(f"{second.url}/healthz", trust_env=False).text == "alive\n"
    with serving(HTTPS_PORT=str(free_port()), TLS_CERT="/nowhere/cert.pem") as third:
        assert httpx.get(f"{third.url}/healthz", trust_env=False).text == "alive\n"


def test_it_says_why_there_is_no_https(settings, capsys):
    make_certificate()
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings.HOST, settings.HTTPS_PORT = "127.0.0.1", other.getsockname()[1]
        assert listening.https_port.__wrapped__() is None
    assert capsys.readouterr().err.endswith(": Address already in use.\n")


@pytest.mark.slow
def test_an_owners_certificate_replaces_ours(settings, tmp_path):
    certificates.trusted(tmp_path, "ferry.example.org")
    port = free_port()
    files = {"TLS_CERT": str(tmp_path / "front.crt"), "TLS_KEY": str(tmp_path / "front.key")}
    with serving(HTTPS_PORT=str(port), **files):
        pem = ssl.get_server_certificate(("127.0.0.1", port), timeout=60)
    assert pem.strip() == (tmp_path / "front.crt").read_text().strip()


@pytest.mark.slow
def test_renewal_makes_a_certificate_once(settings):
    settings.HTTPS_PORT = 8443
    path = Path(settings.DATA_DIR) / "tls" / "server.pem"
    path.unlink(missing_ok=True)
    certificate.renew(timezone.now())
    first = path.read_bytes()
    certificate.renew(timezone.now())
    assert path.read_bytes() == first
    later = timezone.now() + timedelta(days=350)
    certificate.renew(later)
    assert path.read_bytes() != first
    assert authority.is_good(path.read_bytes(), certificate.load_authority(), [], later)
    assert "127.0.0.1" in certificate.named_in(path)
    path.unlink()
