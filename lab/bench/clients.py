"""Other BitTorrent clients, driven through the interfaces that their own web pages use."""

import base64
import gzip
import hashlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from lab.bench.browser import Got
from lab.bench.harness import peer, peer_port, running_peer

# Poll rarely: on two cores, frequent polls would measure the answers to them.
LOOK_SECONDS = 0.1
MOST_SECONDS = 240.0
LOOKING = threading.Event()
NONE: dict[str, str] = {}
QBITTORRENT = r"""
[BitTorrent]
Session\DHTEnabled=false
Session\LSDEnabled=false
Session\PeXEnabled=false
Session\Port={port}
Session\Interface=lo
Session\InterfaceName=lo

[LegalNotice]
Accepted=true

[Network]
PortForwardingEnabled=false

[Preferences]
WebUI\Address=127.0.0.1
WebUI\LocalHostAuth=false
WebUI\UseUPnP=false
"""
FIELDS = [
    *("id", "name", "status", "error", "errorString", "eta", "isFinished", "isStalled"),
    *("leftUntilDone", "metadataPercentComplete", "peersConnected", "peersGettingFromUs"),
    *("peersSendingToUs", "percentDone", "queuePosition", "rateDownload", "rateUpload"),
    *("recheckProgress", "seedRatioMode", "seedRatioLimit", "sizeWhenDone", "trackers"),
    *("downloadDir", "uploadedEver", "uploadRatio", "webseedsSendingToUs", "totalSize"),
]

Ask = Callable[[], object]


def title(number: int) -> str:
    return f"A.Film.of.{1900 + number % 120}.No.{number}.1080p.BluRay.x264"


class Peer:
    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._count = 0

    def _ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] = NONE
    ) -> Got:
        self._connection.request(method, path, body, {"Accept-Encoding": "gzip", **headers})
        answer = self._connection.getresponse()
        return Got(answer.status, answer.headers, answer.read())


class Transmission(Peer):
    _session = ""

    def fill(self, count: int) -> None:
        for number in range(self._count, count):
            self._add(torrent(number), paused=True)
        self._count = count

    def asks(self) -> dict[str, Ask]:
        """Return the requests of its own page: for all torrents, then for recently active ones."""
        return {
            "whole": lambda: self._call("torrent-get", {"fields": FIELDS}),
            "delta": lambda: self._call(
                "torrent-get", {"fields": FIELDS, "ids": "recently-active"}
            ),
        }

    def fetch(self, content: bytes, folder: Path) -> None:
        self._add(content, paused=False, **{"download-dir": str(folder)})
        wait_until(lambda: all(each["percentDone"] == 1 for each in self._torrents()))
        ids = [each["id"] for each in self._torrents()]
        self._call("torrent-remove", {"ids": ids, "delete-local-data": True})
        wait_until(lambda: not self._torrents())

    def _torrents(self) -> list[dict[str, Any]]:
        got = self._call("torrent-get", {"fields": ["id", "percentDone"]})
        found: list[dict[str, Any]] = json.loads(ungzipped(got))["arguments"]["torrents"]
        return found

    def _add(self, content: bytes, **facts: object) -> None:
        self._call("torrent-add", {"metainfo": base64.b64encode(content).decode(), **facts})

    def _call(self, method: str, facts: dict[str, object]) -> Got:
        body = json.dumps({"method": method, "arguments": facts}).encode()
        for _try in range(2):
            headers = {"X-Transmission-Session-Id": self._session}
            got = self._ask("POST", "/transmission/rpc", body, headers)
            if got.status != 409:
                break
            self._session = got.headers["X-Transmission-Session-Id"]
        assert got.status == 200, got
        return got


class QBittorrent(Peer):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._web = httpx.Client(base_url=f"{url}/api/v2", trust_env=False, timeout=120)

    def fill(self, count: int) -> None:
        for start in range(self._count, count, 100):
            some = range(start, min(start + 100, count))
            files = [("torrents", (f"{number}.torrent", torrent(number))) for number in some]
            self._web.post("/torrents/add", files=files, data={"paused": "true"})
        wait_until(lambda: len(self._torrents()) >= count)
        self._count = count

    def asks(self) -> dict[str, Ask]:
        """Return the request of its own page: for what changed since the last answer.

        Reconnect first, since the client has closed the connection meanwhile.
        """
        self._connection.close()
        got = self._ask("GET", "/api/v2/sync/maindata?rid=0")
        self._rid = json.loads(ungzipped(got))["rid"]
        return {"delta": self._delta}

    def fetch(self, content: bytes, folder: Path) -> None:
        data, files = {"savepath": str(folder)}, {"torrents": content}
        self._web.post("/torrents/add", data=data, files=files).raise_for_status()
        wait_until(lambda: any(each["progress"] == 1 for each in self._torrents()))
        self._web.post("/torrents/delete", data={"hashes": "all", "deleteFiles": "true"})
        wait_until(lambda: not self._torrents())

    def _delta(self) -> Got:
        got = self._ask("GET", f"/api/v2/sync/maindata?rid={self._rid}")
        self._rid = json.loads(ungzipped(got))["rid"]
        return got

    def _torrents(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._web.get("/torrents/info").json()
        return found


def torrent(number: int) -> bytes:
    """Return a minimal torrent, with a different hash for each number."""
    name = title(number).encode()
    pieces = hashlib.sha1(name).digest()
    info = b"d6:lengthi16384e4:name%d:%s12:piece lengthi16384e6:pieces20:%see" % (
        len(name),
        name,
        pieces,
    )
    return b"d4:info%se" % info


@contextmanager
def running_transmission(home: Path, address: str = "127.0.0.1") -> Iterator[Transmission | None]:
    program = peer("transmission-daemon")
    if program is None:
        yield None
        return
    home.mkdir()
    port = peer_port()
    command = [program, "--foreground", "--config-dir", str(home), "--download-dir", str(home)]
    command += ["--port", str(port), "--rpc-bind-address", "127.0.0.1", "--allowed", "127.0.0.1"]
    command += ["--bind-address-ipv4", address, "--peerport", str(peer_port())]
    command += ["--no-dht", "--no-lpd", "--no-utp", "--no-portmap", "--no-auth"]
    with running_peer(command, port) as url:
        yield Transmission(url)


@contextmanager
def running_qbittorrent(home: Path) -> Iterator[QBittorrent | None]:
    program = peer("qbittorrent-nox")
    if program is None:
        yield None
        return
    port = peer_port()
    settings = home / "qBittorrent" / "config"
    settings.mkdir(parents=True)
    (settings / "qBittorrent.conf").write_text(QBITTORRENT.format(port=peer_port()))
    with running_peer([program, f"--profile={home}", f"--webui-port={port}"], port) as url:
        yield QBittorrent(url)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError("A peer takes too long")
        LOOKING.wait(LOOK_SECONDS)


def ungzipped(got: Got) -> str:
    is_packed = got.headers.get("Content-Encoding") == "gzip"
    return (gzip.decompress(got.body) if is_packed else got.body).decode()
