"""Row 16, from v1 to the engine: torrents made to exhaust the worker that `manage.py work` runs.

Each ends with a word and a sentence or is borne, a good torrent comes all the same, and neither
the worker nor its engine grows.
"""

import hashlib
from pathlib import Path

import httpx
import pytest

from config import upstream
from service.models import Account
from tests.peer import Peer, listening
from tests.service.builders import alice, bencoded, torrent_info
from tests.service.working import Working, ask, until, until_state, working
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a quiet harbour at noon"
MOST_MEGABYTES = {"worker": 200, "engine": 600}
GOOD = torrent("good.mkv", bytes(range(256)) * 500)


@pytest.fixture
def account(tmp_path, settings) -> Account:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    return alice(password=PASSWORD)


@pytest.fixture
def api(account):
    auth = (account.email, PASSWORD)
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth) as client:
        yield client


@pytest.fixture
def seeds(tmp_path):
    with seeder() as seeds:
        seeds.give(GOOD, tmp_path / "given")
        yield seeds


def add_magnet(api: httpx.Client, magnet: str) -> int:
    answer = api.post("/rest/transfer/magnet", data={"magnet": magnet})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def add_torrent(api: httpx.Client, content: bytes) -> int:
    answer = api.post("/rest/torrent/file", files={"file": ("a.torrent", content)})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def is_well(work: Working, api: httpx.Client, seeds) -> None:
    """The others go on, the engine never died, and nobody ever needed much."""
    until_state(api, add_magnet(api, GOOD.magnet(peer=seeds.address)), "done")
    assert "began anew" not in work.output.text
    (engine,) = work.children()
    assert peak_megabytes(work.process.pid) < MOST_MEGABYTES["worker"]
    assert peak_megabytes(engine) < MOST_MEGABYTES["engine"]


def peak_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def a_million_files() -> bytes:
    size = len(b"d6:lengthi1e4:pathl7:0000000ee")
    files = b"".join(b"d6:lengthi1e4:pathl7:%07dee" % number for number in range(10**6))
    assert len(files) == 10**6 * size
    pieces = bytes(20 * -(-(10**6) // 2**20))
    head = b"d5:filesl" + files + b"e4:name1:x12:piece lengthi1048576e6:pieces"
    return head + b"%d:" % len(pieces) + pieces + b"e"


METADATA = {
    "a million files": a_million_files,
    "lists 100,000 deep": lambda: b"d5:files" + b"l" * 100_000 + b"e" * 100_001,
    "dictionaries 100,000 deep": lambda: b"d1:a" * 100_000 + b"0:" + b"e" * 100_000,
    "a number of a million digits": lambda: b"d6:lengthi" + b"9" * 1_000_000 + b"e4:name1:xe",
    "a file of 2^62 bytes": lambda: bencoded(torrent_info() | {"length": 2**62}),
    "60 MB of one name": lambda: bencoded(torrent_info() | {"name": b"x" * 60_000_000}),
}


@pytest.mark.parametrize("what", METADATA)
def test_metadata_that_a_peer_sends_to_exhaust_fails_with_a_sentence(api, seeds, what):
    metadata = METADATA[what]()
    info_hash = hashlib.sha1(metadata).hexdigest()
    with listening(Peer(metadata)) as peer, working() as work:
        transfer_id = add_magnet(api, f"magnet:?xt=urn:btih:{info_hash}&x.pe={peer.address}")
        told = until(lambda: (told := ask(api, transfer_id))["state"] == "failed" and told)
        assert told["reason"] in ("invalid_torrent", "not_a_torrent", "too_large")
        assert told["warnings"].endswith('."]')
        is_well(work, api, seeds)
