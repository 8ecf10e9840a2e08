"""Row 16, from v1 to the engine: torrents made to exhaust the worker that `manage.py work` runs.

Ferry either refuses each with a reason and a sentence, or copes with it. A good torrent still
arrives, and neither the worker nor its engine grows.
"""

import hashlib
from pathlib import Path

import httpx
import pytest

from config.embedded import upstream
from service.models import Account, TorrentFile, Transfer, Wish
from service.transfers.torrents.torrent_files import MOST_FILES
from service.transfers.transfers import MOST_WISHES
from tests.peer import Peer, listening
from tests.service.builders import alice, bencoded, torrent_info
from tests.service.working import PATIENCE_SECONDS, Working, ask, until, until_state, working
from tests.swarm import seeder, torrent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PASSWORD = "a quiet harbour at noon"
MOST_MEGABYTES = {"worker": 200, "engine": 500}
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
    """Check that a good torrent arrives, the engine never died, and no process used much memory."""
    until_state(api, add_magnet(api, GOOD.magnet(peer=seeds.address)), "done")
    assert "began anew" not in work.output.text
    assert peak_megabytes(work.process.pid) < MOST_MEGABYTES["worker"]
    assert peak_megabytes(until(work.engine)) < MOST_MEGABYTES["engine"]


def peak_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def a_million_files() -> bytes:
    files = b"".join(b"d6:lengthi1e4:pathl7:%07dee" % number for number in range(10**6))
    return (
        b"d5:filesl" + files + b"e4:name1:x12:piece lengthi1048576e6:pieces20:" + bytes(20) + b"e"
    )


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
        record = until(lambda: (record := ask(api, transfer_id))["state"] == "failed" and record)
        assert record["reason"] in ("invalid_torrent", "not_a_torrent", "too_large")
        assert record["warnings"].endswith('."]')
        is_well(work, api, seeds)


@pytest.mark.promise("a peer can't fill the memory")
def test_metadata_that_claims_two_gigabytes_is_not_gathered(api, seeds):
    peer = Peer(bytes(2**20), claimed_bytes=2_000_000_000)
    with listening(peer), working() as work:
        transfer_id = add_magnet(api, f"magnet:?xt=urn:btih:{'a' * 40}&x.pe={peer.address}")
        assert peer.was_told("a" * 40, "ut_metadata")
        is_well(work, api, seeds)
        assert {message[b"piece"] for message in peer.messages("a" * 40, "ut_metadata")} == {0}
        assert ask(api, transfer_id)["state"] == "metadata"


@pytest.mark.parametrize(
    ("noun", "outcome"), [("torrent", (400, "not_a_torrent")), ("transfer", (200, None))]
)
def test_a_torrent_of_a_million_files_is_refused(api, noun, outcome):
    """As a torrent it is refused; as an ordinary file it is stored."""
    content = b"d4:info" + a_million_files() + b"e"
    answer = api.post(f"/rest/{noun}/file", files={"file": ("a.torrent", content)})
    assert (answer.status_code, answer.json().get("reason_phrase")) == outcome
    assert not TorrentFile.objects.exists()


def test_a_torrent_with_the_maximum_of_files_works(api, seeds):
    files = {f"{number}": 1 for number in range(MOST_FILES)}
    content = bencoded({"info": torrent_info("many", files=files)})
    with working() as work:
        transfer_id = add_torrent(api, content)
        record = until(
            lambda: (record := ask(api, transfer_id))["state"] == "downloading" and record
        )
        assert record["size"] == MOST_FILES
        assert work.output.saw(
            f"got metadata transfer={transfer_id} files={MOST_FILES}", PATIENCE_SECONDS
        )
        is_well(work, api, seeds)


TRACKERS = {
    "inside": lambda: [[f"http://10.{number % 250}.0.1/"] for number in range(380_000)],
    "outside": lambda: [[f"http://127.0.0.1:1/{number}"] for number in range(280_000)],
}


@pytest.mark.parametrize("where", TRACKERS)
def test_a_torrent_of_hundreds_of_thousands_of_trackers_does_no_harm(api, seeds, where):
    content = bencoded({"announce-list": TRACKERS[where](), "info": torrent_info("x")})
    with working() as work:
        transfer_id = add_torrent(api, content)
        until_state(api, transfer_id, "downloading")
        assert work.output.saw(f"got metadata transfer={transfer_id}", PATIENCE_SECONDS)
        is_well(work, api, seeds)


def test_a_magnet_with_the_maximum_of_trackers_works(api, seeds):
    trackers = "".join(f"&tr=http://127.0.0.1:1/{number}" for number in range(900))
    with working() as work:
        transfer_id = add_magnet(api, f"magnet:?xt=urn:btih:{'a' * 40}{trackers}")
        until_state(api, transfer_id, "metadata")
        is_well(work, api, seeds)


def test_endless_adds_are_limited(api, seeds, settings):
    """10,000 in a row would take minutes, and those beyond the limit are all alike."""
    settings.QUEUE_LIMIT = 200
    with working(QUEUE_LIMIT="200", ACTIVE_TRANSFERS="300") as work:
        for number in range(1, 501):
            link = f"magnet:?xt=urn:btih:{number:040x}"
            answer = api.post("/rest/transfer/magnet", data={"magnet": link})
        assert answer.json()["reason_phrase"] == "queue_full_wishlist_full"
        assert (Transfer.objects.count(), Wish.objects.count()) == (200, MOST_WISHES)
        for each in api.get("/rest/transfer").json()["transfers"]:
            assert api.delete(f"/rest/transfer/{each['id']}").status_code == 200
        is_well(work, api, seeds)
