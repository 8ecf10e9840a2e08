"""A page of transfers that is left open: what each tick costs, beside Transmission's and
qBittorrent's, with 100 to 10,000 transfers that wait, and with 50 of them that move."""

import base64
import gzip
import hashlib
import http.client
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
from django.db.models import F
from django.utils import timezone

from config import preparation, upstream
from service import library
from service.models import Account, Transfer
from tests.bench.browser import Browser, Got, make_owner, signed_in
from tests.bench.harness import Row, in_turns, peer, peer_port, running_peer, seconds
from tests.serving import serving

COUNTS = (100, 1_000, 2_000, 10_000)
TARGETED = 2_000
MOVING = 50
ROUNDS = 40
ACTIVE_ROUNDS = 6
DUE_SECONDS = 2.2
ADD_SECONDS = 240
GZIP = {"Accept_Encoding": "gzip", "HX_Request": "true"}
FIELDS = [
    *("id", "name", "status", "error", "errorString", "eta", "isFinished", "isStalled"),
    *("leftUntilDone", "metadataPercentComplete", "peersConnected", "peersGettingFromUs"),
    *("peersSendingToUs", "percentDone", "queuePosition", "rateDownload", "rateUpload"),
    *("recheckProgress", "seedRatioMode", "seedRatioLimit", "sizeWhenDone", "trackers"),
    *("downloadDir", "uploadedEver", "uploadRatio", "webseedsSendingToUs", "totalSize"),
]

Ask = Callable[[], object]


def rows(home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    owner = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    with ExitStack() as stack:
        server = stack.enter_context(serving(WEB_PROCESSES="2", WEB_THREADS="32"))
        transmission = stack.enter_context(running_transmission(home / "transmission"))
        qbittorrent = stack.enter_context(running_qbittorrent(home / "qbittorrent"))
        ferry = signed_in(server.url)
        for count in COUNTS:
            fill(owner, count)
            yield from idle(ferry, transmission, qbittorrent, count)
            yield from active(ferry, owner, count)


def fill(owner: Account, count: int) -> None:
    """Of yesterday, so that nothing of them is about to change."""
    root, at = library.root_of(owner), timezone.now() - timedelta(days=1)
    have = Transfer.objects.count()
    Transfer.objects.bulk_create(
        Transfer(
            account=owner,
            kind=Transfer.Kind.MAGNET,
            source="magnet:",
            folder=root,
            created_at=at,
            updated_at=at,
            title=title(number),
            title_key=title(number).lower(),
            info_hash_v1=secrets.token_hex(20),
            size_bytes=1_000_000_000,
            state=Transfer.State.STOPPED,
        )
        for number in range(have, count)
    )
    tell(owner)


def title(number: int) -> str:
    return f"A.Film.of.{1900 + number % 120}.No.{number}.1080p.BluRay.x264"


def tell(owner: Account) -> None:
    Account.objects.filter(pk=owner.pk).update(transfers_revision=F("transfers_revision") + 1)


# Where nothing moves


def idle(
    ferry: Browser,
    transmission: "Transmission | None",
    qbittorrent: "Bittorrent | None",
    count: int,
) -> Iterator[Row]:
    path = settled(ferry, count)
    got = ferry.get(path, **GZIP)
    assert got.status == 204, got.status
    size = on_wire(got)
    row = f"idle tick at {count:,} transfers"
    yield Row(row, size, " bytes", at_most=300)
    contestants: dict[str, Ask] = {"ferry": lambda: ferry.get(path, **GZIP)}
    for name, other in (("transmission", transmission), ("qbittorrent", qbittorrent)):
        if other is not None:
            other.fill(count)
            contestants |= {f"{name} {what}": ask for what, ask in other.asks().items()}
    taken = {
        name: [spent * 1000 for spent in each]
        for name, each in in_turns(ROUNDS, **contestants).items()
    }
    assert ferry.get(path, **GZIP).status == 204
    yield Row(row, median(taken["ferry"]), " ms", under=20, raw=taken)
    sizes = {name: [float(size_of(ask))] for name, ask in contestants.items()}
    for name in ("transmission whole", "qbittorrent delta"):
        if name not in taken:
            yield Row(f"{row}, of {name}", None, missing=name.split()[0])
            continue
        ratio = median(taken["ferry"]) / median(taken[name])
        yield Row(f"{row}, time of {name}", ratio, under=1 if count == TARGETED else None)
        ratio = sizes["ferry"][0] / sizes[name][0]
        yield Row(f"{row}, bytes of {name}", ratio, raw={f"bytes of {name}": sizes[name]})


def settled(ferry: Browser, count: int) -> str:
    """The tick of a page that shows what is so."""
    for _try in range(20):
        shown = ferry.page("/transfers/").decode()
        if f'under-way-count">{count:,}<' in shown:
            return tick_of(shown)
        threading.Event().wait(0.5)
    raise RuntimeError(f"The page never showed {count} transfers")


def tick_of(shown: str) -> str:
    revision = re.search(r'data-revision="([^"]+)', shown)[1]
    return f"/transfers/list/?seen={revision}"


def on_wire(got: Got) -> int:
    status = f"HTTP/1.1 {got.status} {http.client.responses[got.status]}\r\n"
    head = sum(len(f"{name}: {value}\r\n") for name, value in got.headers.items())
    return len(status) + head + 2 + len(got.body)


def size_of(ask: Ask) -> int:
    got = ask()
    assert isinstance(got, Got)
    return on_wire(got)


# Where 50 move


def active(ferry: Browser, owner: Account, count: int) -> Iterator[Row]:
    """Each round waits until the service is asked again: the slowest tick there is."""
    movers = list(Transfer.objects.filter(account=owner)[:MOVING])
    for each in movers:
        each.state = Transfer.State.DOWNLOADING
    sizes, taken = [], []
    move(owner, movers, 0)
    threading.Event().wait(DUE_SECONDS)
    path = settled(ferry, count)
    for number in range(1, ACTIVE_ROUNDS + 2):
        move(owner, movers, number)
        threading.Event().wait(DUE_SECONDS)
        got, spent = timed(lambda path=path: ferry.get(path, **GZIP))
        assert got.status == 200, got.status
        news = ungzipped(got)
        assert len(re.findall(r'class="transfer"', news)) == MOVING
        path = tick_of(news)
        sizes.append(on_wire(got) / 1000)
        taken.append(spent * 1000)
    name = f"tick at {count:,} transfers, {MOVING} of them move"
    yield Row(name, max(sizes[1:]), " KB", under=8, raw={"KB": sizes[1:]})
    yield Row(
        f"{name}, with a new look at the service", median(taken[1:]), " ms", raw={"ms": taken[1:]}
    )
    for each in movers:
        each.state = Transfer.State.STOPPED
    move(owner, movers, 0)


def move(owner: Account, movers: list[Transfer], number: int) -> None:
    for index, each in enumerate(movers):
        each.progress_percent = 10 + number + index / 7
        each.download_bytes_per_second = 1_000_000 + secrets.randbelow(9_000_000)
        each.peers_connected = 3 + secrets.randbelow(60)
    names = ["state", "progress_percent", "download_bytes_per_second", "peers_connected"]
    Transfer.objects.bulk_update(movers, names)
    tell(owner)


def timed(ask: Callable[[], Got]) -> tuple[Got, float]:
    found: list[Got] = []
    spent = seconds(lambda: found.append(ask()))
    return found[0], spent


def ungzipped(got: Got) -> str:
    is_packed = got.headers.get("Content-Encoding") == "gzip"
    return (gzip.decompress(got.body) if is_packed else got.body).decode()


# The peers


def torrent(number: int) -> bytes:
    """The smallest there is; each with a hash of its own."""
    name = title(number).encode()
    pieces = hashlib.sha1(name).digest()
    info = b"d6:lengthi16384e4:name%d:%s12:piece lengthi16384e6:pieces20:%see" % (
        len(name),
        name,
        pieces,
    )
    return b"d4:info%se" % info


class Peer:
    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._count = 0

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Got:
        self._connection.request(method, path, body, {"Accept-Encoding": "gzip", **headers})
        answer = self._connection.getresponse()
        return Got(answer.status, answer.headers, answer.read())


class Transmission(Peer):
    _session = ""

    def fill(self, count: int) -> None:
        for number in range(self._count, count):
            facts = {"metainfo": base64.b64encode(torrent(number)).decode(), "paused": True}
            self._call("torrent-add", facts)
        self._count = count

    def asks(self) -> dict[str, Ask]:
        """As its own page asks: for all at first, then for what was active of late."""
        return {
            "whole": lambda: self._call("torrent-get", {"fields": FIELDS}),
            "delta": lambda: self._call(
                "torrent-get", {"fields": FIELDS, "ids": "recently-active"}
            ),
        }

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


class Bittorrent(Peer):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._url = url

    def fill(self, count: int) -> None:
        with httpx.Client(base_url=self._url, trust_env=False, timeout=120) as web:
            for start in range(self._count, count, 100):
                some = range(start, min(start + 100, count))
                files = [("torrents", (f"{number}.torrent", torrent(number))) for number in some]
                web.post("/api/v2/torrents/add", files=files, data={"paused": "true"})
            for _second in range(ADD_SECONDS):
                if len(web.get("/api/v2/torrents/info").json()) >= count:
                    break
                threading.Event().wait(1)
        self._count = count

    def asks(self) -> dict[str, Ask]:
        """As its own page asks: what changed since the answer before. It has hung up meanwhile."""
        self._connection.close()
        got = self._ask("GET", "/api/v2/sync/maindata?rid=0", None, {})
        self._rid = json.loads(ungzipped(got))["rid"]
        return {"delta": self._delta}

    def _delta(self) -> Got:
        got = self._ask("GET", f"/api/v2/sync/maindata?rid={self._rid}", None, {})
        self._rid = json.loads(ungzipped(got))["rid"]
        return got


@contextmanager
def running_transmission(home: Path) -> Iterator[Transmission | None]:
    program = peer("transmission-daemon")
    if program is None:
        yield None
        return
    home.mkdir()
    port = peer_port()
    command = [program, "--foreground", "--config-dir", str(home), "--download-dir", str(home)]
    command += ["--port", str(port), "--rpc-bind-address", "127.0.0.1", "--allowed", "127.0.0.1"]
    command += ["--bind-address-ipv4", "127.0.0.1", "--peerport", str(peer_port()), "--paused"]
    command += ["--no-dht", "--no-lpd", "--no-utp", "--no-portmap", "--no-auth"]
    with running_peer(command, port) as url:
        yield Transmission(url)


@contextmanager
def running_qbittorrent(home: Path) -> Iterator[Bittorrent | None]:
    program = peer("qbittorrent-nox")
    if program is None:
        yield None
        return
    port = peer_port()
    settings = home / "qBittorrent" / "config"
    settings.mkdir(parents=True)
    (settings / "qBittorrent.conf").write_text(
        "[LegalNotice]\nAccepted=true\n"
        "[BitTorrent]\nSession\\DHTEnabled=false\nSession\\LSDEnabled=false\n"
        "Session\\PeXEnabled=false\nSession\\InterfaceAddress=127.0.0.1\n"
        f"Session\\Port={peer_port()}\n"
        "[Network]\nPortForwardingEnabled=false\n"
        "[Preferences]\nWebUI\\LocalHostAuth=false\nWebUI\\Address=127.0.0.1\n"
        "WebUI\\UseUPnP=false\n"
    )
    command = [program, f"--profile={home}", f"--webui-port={port}"]
    with running_peer(command, port) as url:
        yield Bittorrent(url)
