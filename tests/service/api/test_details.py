"""/rest/transfer/{id}/details."""

from datetime import UTC, datetime, timedelta

import msgspec

from service.models import Transfer, TransferDetails
from service.torrents.events import SwarmPeer, SwarmPieces, SwarmTracker
from service.transfers import transfers
from tests.service.builders import NOW, magnet, mallory

SWARM = {
    "key": "7",
    "peer_count": 1,
    "peers": [SwarmPeer("192.0.2.7", "Client 1.0", "tcp", 12.5, 1_000, 0)],
    "trackers": [SwarmTracker("tracker.example", "working", None, "2026-09-01 12:30:00")],
    "pieces": SwarmPieces(3, (100, 40, 0), (1, 2, 0)),
    "availability": 1.5,
}


def details(api, transfer, noun="transfer"):
    answer = api.get(f"/rest/{noun}/{transfer.pk}/details")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_is_known_at_once(api, account):
    added = transfers.add_magnet(account, magnet(), 0, NOW)
    assert details(api, added) == {
        "result": True,
        "code": 200,
        "added": "2026-09-01 12:00:00",
        "downloaded": 0,
        "uploaded": 0,
        "has_swarm": False,
        "swarm": None,
        "log": [],
    }
    assert not TransferDetails.objects.exists()


def test_a_swarm_and_a_log(api, account):
    added = transfers.add_magnet(account, magnet(), 0, NOW)
    running = {"state": "downloading", "size_bytes": 1_000, "progress_percent": 40}
    Transfer.objects.update(uploaded_bytes=70, **running)
    assert details(api, added)["has_swarm"] is True
    assert TransferDetails.objects.get().looked_at
    now = datetime.now(UTC)
    log = [{"kind": "stalled", "at": 1_788_264_000, "reason": "no_peers"}]
    TransferDetails.objects.update(swarm=msgspec.to_builtins(SWARM), swarm_at=now, log=log)
    shown = details(api, added, "torrent")
    assert (shown["downloaded"], shown["uploaded"]) == (400, 70)
    assert shown["log"] == log
    swarm = shown["swarm"]
    assert swarm["peers"][0]["client"] == "Client 1.0"
    assert swarm["trackers"][0]["next_at"] == "2026-09-01 12:30:00"
    assert swarm["pieces"] == {"count": 3, "arrived": [100, 40, 0], "copies": [1, 2, 0]}
    TransferDetails.objects.update(swarm_at=now - timedelta(minutes=1))
    assert details(api, added)["swarm"] is None


def test_only_its_account_sees_a_transfer(api):
    other = transfers.add_magnet(mallory(), magnet(), 0, NOW)
    assert api.get(f"/rest/transfer/{other.pk}/details").status_code == 404
    assert not TransferDetails.objects.exists()
