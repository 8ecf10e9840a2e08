"""Translate libtorrent's status of a torrent into ours."""

from typing import Any

import libtorrent as lt

from service.torrents.events import Phase, Status

CHECKING = (
    lt.torrent_status.states.checking_files,
    lt.torrent_status.states.checking_resume_data,
)
DONE = (lt.torrent_status.states.finished, lt.torrent_status.states.seeding)


def status_of(key: str, phase: Phase, told: Any) -> Status:
    sending, receiving = busy_peers(told)
    return Status(
        key=key,
        phase=phase,
        done_bytes=told.total_wanted_done,
        wanted_bytes=told.total_wanted,
        download_rate=told.download_payload_rate,
        upload_rate=told.upload_payload_rate,
        peers_connected=told.num_peers,
        peers_sending=sending,
        peers_receiving=receiving,
        seeders=max(told.num_complete, told.list_seeds, told.num_seeds),
        leechers=max(told.num_incomplete, told.list_peers - told.list_seeds, 0),
        availability=round(max(told.distributed_copies, -1.0), 3),
        uploaded_bytes=told.all_time_upload,
    )


def busy_peers(told: Any) -> tuple[int, int]:
    """Return how many peers send, and how many receive. Query libtorrent only if bytes move."""
    if not told.download_payload_rate and not told.upload_payload_rate:
        return 0, 0
    peers = told.handle.get_peer_info()
    sending = sum(peer.payload_down_speed > 0 for peer in peers)
    return sending, sum(peer.payload_up_speed > 0 for peer in peers)


def empty_status(key: str, phase: Phase) -> Status:
    """Return the status of a torrent that libtorrent doesn't have."""
    return Status(key, phase, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.0, 0)
