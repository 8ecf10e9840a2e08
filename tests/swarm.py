"""A swarm on loopback for tests: torrents of all kinds, a seeder, a tracker, and a web seed.

    made = torrent("Films", {("a.mkv",): b"…", ("b", "c.srt"): b"…"}, kind="hybrid")
    with seeder() as seeds:
        seeds.give(made, tmp_path / "given")
        made.magnet(peer=seeds.address)     # or made.content, the .torrent file

Each server listens on a port of 127.0.0.1 that the system chooses.
"""

import hashlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote_to_bytes, urlsplit

import libtorrent as lt

Kind = Literal["v1", "v2", "hybrid"]
KINDS: tuple[Kind, ...] = ("v1", "v2", "hybrid")
BLOCK_BYTES = 16 * 1024
NOTHING = bytes(32)
# What a TLS server records instead of a request.
HANDSHAKE_FAILED = "(the handshake failed)"

LOOPBACK = {
    "listen_interfaces": "127.0.0.1:0",
    "enable_dht": False,
    "enable_lsd": False,
    "enable_upnp": False,
    "enable_natpmp": False,
    "enable_incoming_utp": False,
    "enable_outgoing_utp": False,
    "allow_multiple_connections_per_ip": True,
    "ssrf_mitigation": False,
    "ignore_limits_on_local_network": False,
    "connections_limit": 2000,
    "listen_queue_size": 200,
    "unchoke_slots_limit": -1,
    "send_buffer_watermark": 4 * 2**20,
    "send_socket_buffer_size": 2**20,
    "recv_socket_buffer_size": 2**20,
    "alert_mask": lt.alert_category.status | lt.alert_category.error,
}


def bencode(value: Any) -> bytes:
    """Encode without sorting dictionaries, so that a test can write them in the wrong order."""
    match value:
        case bytes():
            return b"%d:%s" % (len(value), value)
        case str():
            return bencode(value.encode())
        case int():
            return b"i%de" % value
        case list() | tuple():
            return b"l" + b"".join(bencode(each) for each in value) + b"e"
        case dict():
            pairs = (bencode(key) + bencode(each) for key, each in value.items())
            return b"d" + b"".join(pairs) + b"e"
    raise TypeError(value)


def in_order(value: Any) -> Any:
    """Return the value with sorted keys at every depth, as bencode demands."""
    if isinstance(value, dict):
        named = {as_bytes(key): in_order(each) for key, each in value.items()}
        return dict(sorted(named.items()))
    return [in_order(each) for each in value] if isinstance(value, list) else value


def as_bytes(text: str | bytes) -> bytes:
    return text.encode(errors="surrogateescape") if isinstance(text, str) else text


@dataclass(frozen=True)
class Made:
    """A torrent, and the files that it describes."""

    name: str
    files: Mapping[tuple[str, ...], bytes]  # below the torrent's name if it is a folder
    info: bytes
    content: bytes
    is_folder: bool
    hash_v1: str
    hash_v2: str

    def magnet(
        self,
        *,
        peer: str = "",
        trackers: Iterable[str] = (),
        web_seeds: Iterable[str] = (),
        only: str = "",
    ) -> str:
        """Return a magnet link. `only` keeps one of a hybrid's hashes: v1 or v2."""
        topics = [f"urn:btih:{self.hash_v1}"] if self.hash_v1 and only != "v2" else []
        topics += [f"urn:btmh:1220{self.hash_v2}"] if self.hash_v2 and only != "v1" else []
        fields = [f"xt={topic}" for topic in topics]
        fields += [f"x.pe={peer}"] if peer else []
        fields += [f"tr={quote(each, safe='')}" for each in trackers]
        fields += [f"ws={quote(each, safe='')}" for each in web_seeds]
        return "magnet:?" + "&".join(fields)

    def write(self, folder: Path) -> None:
        """Write the files below the torrent's name, where a seeder expects them."""
        for path, content in self.files.items():
            place = folder.joinpath(self.name, *path) if self.is_folder else folder / self.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def torrent(
    name: str,
    files: Mapping[tuple[str, ...], bytes] | bytes,
    *,
    kind: Kind = "v1",
    piece_bytes: int = 2 * BLOCK_BYTES,
    **more: Any,
) -> Made:
    """Make a torrent: of one file if `files` is bytes.

    `more` adds keys to the document; its `info` adds keys to the info dictionary.
    """
    is_folder = not isinstance(files, bytes)
    parts = dict(files) if not isinstance(files, bytes) else {(name,): files}
    parts = dict(sorted(parts.items(), key=lambda part: [as_bytes(each) for each in part[0]]))
    info: dict[str | bytes, Any] = {"name": name, "piece length": piece_bytes}
    layers: dict[bytes, bytes] = {}
    if kind != "v1":
        tree, layers = tree_of(parts, piece_bytes)
        info |= {"meta version": 2, "file tree": tree}
    if kind != "v2":
        info |= of_v1(parts, piece_bytes, is_folder=is_folder, is_aligned=kind == "hybrid")
    info |= more.pop("info", {})
    document = {"info": info, **more} | ({"piece layers": layers} if kind != "v1" else {})
    return made(name, parts, in_order(document), kind, is_folder=is_folder)


def made(
    name: str,
    files: Mapping[tuple[str, ...], bytes],
    document: dict[bytes, Any],
    kind: Kind,
    *,
    is_folder: bool,
) -> Made:
    info = bencode(document[b"info"])
    v1 = hashlib.sha1(info).hexdigest() if kind != "v2" else ""
    v2 = hashlib.sha256(info).hexdigest() if kind != "v1" else ""
    return Made(name, files, info, bencode(document), is_folder, v1, v2)


def of_v1(
    files: Mapping[tuple[str, ...], bytes], piece_bytes: int, *, is_folder: bool, is_aligned: bool
) -> dict[str, Any]:
    """Return the v1 keys. In a hybrid, each file but the last is padded to whole pieces."""
    listed: list[dict[str, Any]] = []
    payload: list[bytes] = []
    for number, (path, content) in enumerate(files.items(), 1):
        listed.append({"length": len(content), "path": list(path)})
        payload.append(content)
        gap = -len(content) % piece_bytes
        if is_aligned and gap and number < len(files):
            listed.append({"length": gap, "path": [".pad", str(gap)], "attr": "p"})
            payload.append(bytes(gap))
    pieces = {"pieces": piece_hashes(payload, piece_bytes)}
    return pieces | ({"files": listed} if is_folder else {"length": listed[0]["length"]})


def piece_hashes(payload: list[bytes], piece_bytes: int) -> bytes:
    whole = memoryview(payload[0] if len(payload) == 1 else b"".join(payload))
    return b"".join(
        hashlib.sha1(whole[at : at + piece_bytes]).digest()
        for at in range(0, len(whole), piece_bytes)
    )


def tree_of(
    files: Mapping[tuple[str, ...], bytes], piece_bytes: int
) -> tuple[dict[str, Any], dict[bytes, bytes]]:
    tree: dict[str, Any] = {}
    layers: dict[bytes, bytes] = {}
    for path, content in files.items():
        folder = tree
        for part in path:
            folder = folder.setdefault(part, {})
        folder[""] = {"length": len(content)}
        if content:
            root, layer = merkle(content, piece_bytes)
            folder[""]["pieces root"] = root
            if len(content) > piece_bytes:
                layers[root] = layer
    return tree, layers


def merkle(content: bytes, piece_bytes: int) -> tuple[bytes, bytes]:
    """Return the root over blocks of 16 KiB, and the layer whose hashes cover one piece each."""
    view = memoryview(content)
    row = [
        hashlib.sha256(view[at : at + BLOCK_BYTES]).digest()
        for at in range(0, len(view), BLOCK_BYTES)
    ]
    layer, covered, empty = b"", BLOCK_BYTES, NOTHING
    while len(row) > 1 or covered < min(piece_bytes, len(content)):
        row += [empty] * (len(row) % 2)
        row = [
            hashlib.sha256(left + right).digest()
            for left, right in zip(row[::2], row[1::2], strict=True)
        ]
        empty = hashlib.sha256(empty + empty).digest()
        covered *= 2
        if covered == piece_bytes:
            layer = b"".join(row)
    return row[0], layer or (b"".join(row) if covered == piece_bytes else b"")


class Seeder:
    """A BitTorrent client that seeds torrents, and can also download them."""

    def __init__(self, **settings: Any) -> None:
        self._session = lt.session(LOOPBACK | settings)
        # Otherwise, limits don't apply to peers of the local network, and all peers here are local.
        everybody = lt.ip_filter()
        everybody.add_rule("0.0.0.0", "255.255.255.255", 1 << lt.session.global_peer_class_id)
        self._session.set_peer_class_filter(everybody)
        self._handles: dict[str, Any] = {}

    @property
    def address(self) -> str:
        host = self._session.get_settings()["listen_interfaces"].partition(":")[0]
        deadline = time.monotonic() + 60
        while not (port := self._session.listen_port()):
            assert time.monotonic() < deadline, "the seeder does not listen"
            self._session.wait_for_alert(100)
        return f"{host}:{port}"

    def give(self, made: Made, folder: Path, content: Made | None = None) -> None:
        """Write the files of a torrent below the folder, and seed them.

        With `content`, write that torrent's files instead, and seed them unchecked.
        """
        (content or made).write(folder)
        flags = lt.torrent_flags.seed_mode if content else 0
        self._add(made, folder, flags)
        self._wait(made, lambda status: status.is_seeding)

    def want(self, made: Made, folder: Path, peer: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._add(made, folder)
        if peer:
            self.meet(made, peer)

    def meet(self, made: Made, peer: str) -> None:
        host, _, port = peer.rpartition(":")
        self._handles[made.info].connect_peer((host, int(port)))

    def has(self, made: Made, seconds: float = 120) -> None:
        """Wait until the seeder has the whole torrent."""
        self._wait(made, lambda status: status.is_seeding, seconds)

    def drop(self, made: Made) -> None:
        self._session.remove_torrent(self._handles.pop(made.info))

    def limit_upload(self, bytes_per_second: int) -> None:
        self._session.apply_settings({"upload_rate_limit": bytes_per_second})

    def peers(self, made: Made) -> list[Any]:
        return self._handles[made.info].get_peer_info()

    def uploaded_bytes(self, made: Made) -> int:
        return self._handles[made.info].status().total_payload_upload

    def downloaded_bytes(self, made: Made) -> int:
        return self._handles[made.info].status().total_payload_download

    def close(self) -> None:
        self._session.pause()
        del self._session

    def _add(self, made: Made, folder: Path, flags: int = 0) -> None:
        params = lt.load_torrent_buffer(made.content)
        params.save_path = str(folder)
        params.flags &= ~(lt.torrent_flags.auto_managed | lt.torrent_flags.paused)
        params.flags |= flags
        self._handles[made.info] = self._session.add_torrent(params)

    def _wait(self, made: Made, is_so: Any, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not is_so(status := self._handles[made.info].status()):
            assert not status.errc.value(), status.errc.message()
            assert time.monotonic() < deadline, f"the seeder is {status.state} for too long"
            self._session.wait_for_alert(50)
            self._session.pop_alerts()


@contextmanager
def seeder(**settings: Any) -> Iterator[Seeder]:
    """Run a seeder. The settings are libtorrent's, such as `upload_rate_limit`."""
    seeds = Seeder(**settings)
    try:
        yield seeds
    finally:
        seeds.close()


@dataclass
class HttpServer:
    """A server that records the path of each request; `news` is notified of each."""

    port: int = 0
    host: str = "127.0.0.1"
    scheme: str = "http"
    requests: list[str] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def was_asked(self, words: str, seconds: float = 60) -> bool:
        with self.news:
            return self.news.wait_for(lambda: any(words in each for each in self.requests), seconds)

    def note(self, path: str) -> None:
        with self.news:
            self.requests.append(path)
            self.news.notify_all()


@dataclass
class Tracker(HttpServer):
    """A tracker that gives all its peers to every client, whatever the torrent."""

    peers: list[str] = field(default_factory=list)

    @property
    def announce(self) -> str:
        return f"{self.url}/announce"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        query = parse_qs(urlsplit(request.path).query, encoding="latin-1")
        hashes = [each.encode("latin-1").hex() for each in query.get("info_hash", [])]
        self.note(f"{urlsplit(request.path).path}?{','.join(hashes)}")
        send(request, 200, bencode({"interval": 1800, "peers": self._compact()}))

    def _compact(self) -> bytes:
        ends = [peer.rpartition(":") for peer in self.peers]
        return b"".join(
            bytes(int(part) for part in host.split(".")) + int(port).to_bytes(2, "big")
            for host, _, port in ends
        )


@dataclass
class Answering(Tracker):
    """A tracker with the same answer for everyone, such as a refusal."""

    status: int = 200
    body: bytes = b""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.note(request.path)
        send(request, self.status, self.body)


@dataclass
class WebSeed(HttpServer):
    """A server of the files in a folder, with ranges (BEP 19)."""

    folder: Path = Path()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.note(request.path)
        name = unquote_to_bytes(urlsplit(request.path).path.lstrip("/")).decode()
        place = self.folder / name
        if not place.is_file():
            send(request, 404, b"")
            return
        content = place.read_bytes()
        if (range_header := request.headers.get("Range")) is None:
            send(request, 200, content)
            return
        first, _, last = range_header.removeprefix("bytes=").partition("-")
        end = int(last) + 1 if last else len(content)
        span = f"bytes {first}-{end - 1}/{len(content)}"
        send(request, 206, content[int(first) : end], {"Content-Range": span})


@dataclass
class Redirecting(HttpServer):
    """A server that redirects every request."""

    to: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.note(request.path)
        send(request, 302, b"", {"Location": self.to})


def send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: Mapping[str, str] | None = None,
) -> None:
    request.send_response(status)
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def serving_http(server: Any, context: Any = None, host: str = "127.0.0.1") -> Iterator[Any]:
    """Run a Tracker, WebSeed, or Redirecting on its own port; over TLS if there is a context."""

    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing: tests read `requests`."""

    listening = (Quiet6 if ":" in host else Quiet)((host, 0), Request)
    server.host = host
    if context is not None:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        listening.handshake_failed = lambda: server.note(HANDSHAKE_FAILED)
        server.scheme = "https"
    server.port = listening.server_address[1]
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join(5)


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    handshake_failed: Callable[[], None] = staticmethod(lambda: None)

    def get_request(self) -> tuple[Any, Any]:
        try:
            return super().get_request()
        except ssl.SSLError:
            self.handshake_failed()
            raise

    def handle_error(self, *_arguments: Any) -> None:
        """Print nothing: clients may hang up."""


class Quiet6(Quiet):
    address_family = socket.AF_INET6
