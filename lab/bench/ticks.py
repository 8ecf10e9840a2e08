"""A page of transfers that is left open: the cost of each tick, beside Transmission's and
qBittorrent's, with 100 to 10,000 idle transfers, and with 50 of them active."""

import http.client
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from statistics import median

from django.db.models import F
from django.utils import timezone

from config.embedded import upstream
from host import preparation
from lab.bench.browser import Browser, Got, make_owner, signed_in
from lab.bench.clients import (
    Ask,
    QBittorrent,
    Transmission,
    running_qbittorrent,
    running_transmission,
    title,
    ungzipped,
)
from lab.bench.harness import Row, in_turns, seconds
from service.library import library
from service.models import Account, Transfer
from tests.serving import serving

COUNTS = (100, 1_000, 2_000, 10_000)
TARGETED = 2_000
# Milliseconds that a tick may take, by the number of transfers.
WITH_A_NEW_LOOK = {2_000: 40, 10_000: 120}
MOVING = 50
ROUNDS = 40
ACTIVE_ROUNDS = 6
DUE_SECONDS = 2.2
GZIP = {"Accept_Encoding": "gzip", "HX_Request": "true"}


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
    """Add transfers of yesterday, so that none of them is about to change."""
    root, at = library.root_of(owner), timezone.now() - timedelta(days=1)
    have = Transfer.objects.filter(account=owner).count()
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


def tell(owner: Account) -> None:
    Account.objects.filter(pk=owner.pk).update(transfers_revision=F("transfers_revision") + 1)


# Nothing moves


def idle(
    ferry: Browser,
    transmission: Transmission | None,
    qbittorrent: QBittorrent | None,
    count: int,
) -> Iterator[Row]:
    path = settled(ferry, count)
    got = ferry.get(path, **GZIP)
    assert got.status == 204, got.status
    size = on_wire(got)
    row = f"idle tick at {count:,} transfers"
    yield Row(row, size, " bytes", at_most=300)
    # Every three seconds, a tick looks at the service. The first of two may have to.
    contestants: dict[str, Ask] = {
        "ferry, perhaps with a look": lambda: ferry.get(path, **GZIP),
        "ferry": lambda: ferry.get(path, **GZIP),
    }
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
        under = 1 if count == TARGETED else None
        yield Row(f"{row}, time of {name}", ratio, under=under, relative="time")
        ratio = sizes["ferry"][0] / sizes[name][0]
        yield Row(f"{row}, bytes of {name}", ratio, raw={f"bytes of {name}": sizes[name]})


def settled(ferry: Browser, count: int) -> str:
    """Return the tick of a page that shows all transfers. While nothing moves, the site reads them
    only every fifteen seconds."""
    for _try in range(40):
        shown = ferry.page("/transfers/").decode()
        if f'under-way-count">{count:,}<' in shown:
            return tick_of(shown)
        threading.Event().wait(0.5)
    raise RuntimeError(f"The page never showed {count} transfers")


def tick_of(shown: str) -> str:
    revision = re.search(r'name="seen" value="([^"]+)', shown)[1]
    return f"/transfers/list/?seen={revision}"


def on_wire(got: Got) -> int:
    status = f"HTTP/1.1 {got.status} {http.client.responses[got.status]}\r\n"
    head = sum(len(f"{name}: {value}\r\n") for name, value in got.headers.items())
    return len(status) + head + 2 + len(got.body)


def size_of(ask: Ask) -> int:
    got = ask()
    assert isinstance(got, Got)
    return on_wire(got)


# 50 move


def active(ferry: Browser, owner: Account, count: int) -> Iterator[Row]:
    """Wait in each round until the site asks the service again, which makes the slowest tick."""
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
        assert len(re.findall(r'class="transfer[ "]', news)) == MOVING
        path = tick_of(news)
        sizes.append(on_wire(got) / 1000)
        taken.append(spent * 1000)
    name = f"tick at {count:,} transfers, {MOVING} of them move"
    yield Row(name, max(sizes[1:]), " KB", under=8, raw={"KB": sizes[1:]})
    yield Row(
        f"{name}, with a new look at the service",
        median(taken[1:]),
        " ms",
        under=WITH_A_NEW_LOOK.get(count),
        raw={"ms": taken[1:]},
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
