"""Translate libtorrent's status of a torrent into ours."""

from typing import Any

import libtorrent as lt

from service.torrents.events import Phase, Status

CHECKING = (
    lt.torrent_status.states.checking_files,
    lt.torrent_status.states.checking_resume_data,
)
DONE = (lt.torrent_status.states.finished, lt.torrent_status.states.seeding)


def status_of(key: str, phase: Phase, status: Any) -> Status:
    sending, receiving = busy_peers(status)
    return Status(
        key=key,
        phase=phase,
        done_bytes=status.total_wanted_done,
        wanted_bytes=status.total_wanted,
        download_rate=status.download_payload_rate,
        upload_rate=status.upload_payload_rate,
        peers_connected=status.num_peers,
        peers_sending=sending,
        peers_receiving=receiving,
        seeders=max(status.num_complete, status.list_seeds, status.num_seeds),
        leechers=max(status.num_incomplete, status.list_peers - status.list_seeds, 0),
        availability=round(max(status.distributed_copies, -1.0), 3),
        uploaded_bytes=status.all_time_upload,
    )


def busy_peers(status: Any) -> tuple[int, int]:
    """Return how many peers send, and how many receive. Query libtorrent only if bytes move."""
    if not status.download_payload_rate and not status.upload_payload_rate:
        return 0, 0
    peers = status.handle.get_peer_info()
    sending = sum(peer.payload_down_speed > 0 for peer in peers)
    return sending, sum(peer.payload_up_speed > 0 for peer in peers)
