"""How fast bytes arrive under limits from real peers and a real server on loopback."""

import time
from contextlib import contextmanager
from functools import partial

import pytest

from service.transfers import limits, transfers
from service.transfers.download_folders import download_folder
from tests.misbehaving import head, serving
from tests.service.builders import NOW, alice
from tests.service.fetching.servers import url_of
from tests.service.shifts import real_shift
from tests.swarm import seeder, torrent

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

FILM = torrent("film.mkv", b"film" * 12_000_000, piece_bytes=2**16)
LIMIT = 1_000_000
WARM_UP_SECONDS = 3


@pytest.fixture(autouse=True)
def _own_folder(library_folder):
    """Give every test its own data folder."""


@pytest.fixture
def account():
    return alice(space_max_bytes=10**10)


@pytest.fixture
def shift(_own_folder):
    with real_shift() as shift:
        yield shift


def pour(wire):
    """Send a large file as fast as the client reads."""
    wire.connection.settimeout(600)
    wire.send(head(Content_Length=str(10**9)))
    wire.pour(b"x" * 2**16)


def arrived_bytes(*added):
    """Return how much of some transfers is on the disk.

    Their senders can't tell: they fill buffers, which take seconds to drain.
    """
    files = [download_folder(transfer.pk).file(0) for transfer in added]
    return sum(file.stat().st_blocks * 512 for file in files if file.exists())


@contextmanager
def urls(account):
    """Fetch two URLs, and yield a function that returns how much has arrived."""
    with serving(pour) as server:
        addresses = [url_of(server, f"/{number}.mkv") for number in range(2)]
        added = [transfers.add_url(account, address, 0, NOW) for address in addresses]
        yield partial(arrived_bytes, *added)
        for transfer in added:
            transfers.delete(account, transfer.pk, NOW)


@contextmanager
def torrents(account, folder):
    with seeder() as seeds:
        seeds.give(FILM, folder / "given")
        yield partial(
            arrived_bytes,
            transfers.add_magnet(account, FILM.magnet(peer=seeds.address), 0, NOW),
        )


def rates(shift, seconds, *counts):
    """Run the worker for so long, and return the bytes per second of each count."""
    before, began_at = [count() for count in counts], time.monotonic()
    wait(shift, seconds)
    passed_seconds = time.monotonic() - began_at
    after = [count() for count in counts]
    return [(late - early) / passed_seconds for early, late in zip(before, after, strict=True)]


def wait(shift, seconds):
    until = time.monotonic() + seconds
    shift.until(lambda: time.monotonic() >= until)


def limit(account, **values):
    limits.change(account, values)


def about(rate, part=0.1):
    return pytest.approx(rate, rel=part)


def test_torrents_alone(account, shift, tmp_path):
    limit(account, download_bytes_per_second=LIMIT)
    with torrents(account, tmp_path) as count:
        shift.until(count)
        wait(shift, WARM_UP_SECONDS)
        assert sum(rates(shift, 20, count)) == about(LIMIT)


def test_urls_alone(account, shift):
    limit(account, download_bytes_per_second=LIMIT)
    with urls(account) as count:
        shift.until(count)
        wait(shift, WARM_UP_SECONDS)
        assert sum(rates(shift, 20, count)) == about(LIMIT)


def test_torrents_and_urls_together_and_after_a_change(account, shift, tmp_path):
    limit(account, download_bytes_per_second=LIMIT)
    with torrents(account, tmp_path) as from_peers, urls(account) as from_server:
        shift.until(from_peers)
        shift.until(from_server)
        wait(shift, WARM_UP_SECONDS)
        measured = rates(shift, 20, from_peers, from_server)
        assert measured == [about(LIMIT / 2, 0.25), about(LIMIT / 2, 0.25)]
        assert sum(measured) == about(LIMIT)
        for changed in (LIMIT // 4, LIMIT):
            limit(account, download_bytes_per_second=changed)
            wait(shift, 2)
            assert sum(rates(shift, 20, from_peers, from_server)) == about(changed)


@pytest.mark.promise("limits hold for torrents and URLs together, two seconds after a change")
def test_a_limit_holds_two_seconds_after_it_was_set(account, shift, tmp_path):
    limit(account, download_bytes_per_second=LIMIT)
    with torrents(account, tmp_path) as from_peers, urls(account) as from_server:
        shift.until(from_peers)
        shift.until(from_server)
        for changed in (LIMIT, LIMIT // 4):
            limit(account, download_bytes_per_second=changed)
            wait(shift, 2)
            assert sum(rates(shift, 5, from_peers, from_server)) == about(changed, 0.2)
