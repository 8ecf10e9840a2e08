"""Translate libtorrent's status of a torrent into ours."""

import errno
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import libtorrent as lt

from service.details import Details, Kind
from service.torrents.events import Phase, Status, Swarm, SwarmPeer, SwarmPieces, SwarmTracker

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
        received_bytes=status.total_payload_download,
        sent_bytes=status.total_payload_upload,
    )


def busy_peers(status: Any) -> tuple[int, int]:
    """Return how many peers send, and how many receive. Query libtorrent only if bytes move."""
    if not status.download_payload_rate and not status.upload_payload_rate:
        return 0, 0
    peers = status.handle.get_peer_info()
    sending = sum(peer.payload_down_speed > 0 for peer in peers)
    return sending, sum(peer.payload_up_speed > 0 for peer in peers)


# What people see of a torrent while they look at it

MOST_PEERS = 50
MOST_BUCKETS = 200
LONGEST_CLIENT, LONGEST_MESSAGE = 40, 200
SHORTEST_SECRET = 8
IS_UTP = 1 << 17  # libtorrent's peer_info.utp_socket, which its Python module doesn't name
WEB_SEEDS = (lt.peer_info.web_seed, lt.peer_info.http_seed)
FAILURES: dict[tuple[str, int], Kind] = {
    **dict.fromkeys([("libtorrent", code) for code in (36, 49, 50, 51, 52)], "timeout"),
    **dict.fromkeys([("libtorrent", code) for code in (33, 89, 114, 201, 202)], "address_refused"),
    **dict.fromkeys([("libtorrent", code) for code in (107, 171, 177, 178, 179)], "bad_response"),
    ("libtorrent", 173): "tracker_says",
    ("system", errno.ETIMEDOUT): "timeout",
}
FAILURES_OF_CATEGORIES: dict[str, Kind] = {
    "http": "http_status",
    "bdecode": "bad_response",
    "asio.netdb": "no_such_host",
}
# Of OpenSSL: the upper bits of an error name the library.
REASON_BITS, CERTIFICATE_VERIFY_FAILED = 0x7FFFFF, 134


def swarm_of(
    key: str, handle: Any, copies: Sequence[int], failures: Mapping[str, Details]
) -> Swarm:
    """Return what libtorrent knows of a torrent's swarm; `copies` is of each piece.

    Its Python module can't read the alerts with peers and trackers, so these calls wait for its
    threads, as those for `busy_peers` do.
    """
    kinds = lt.torrent_handle
    status = handle.status(kinds.query_pieces | kinds.query_distributed_copies)
    unknown = lt.peer_info.connecting | lt.peer_info.handshake
    peers = [peer for peer in handle.get_peer_info() if not peer.flags & unknown]
    peers.sort(key=lambda peer: peer.payload_down_speed + peer.payload_up_speed, reverse=True)
    return Swarm(
        key,
        len(peers),
        tuple(map(peer_of, peers[:MOST_PEERS])),
        tuple(trackers_of(handle, failures)),
        pieces_of(status.pieces, copies),
        round(max(status.distributed_copies, -1.0), 3),
    )


def peer_of(peer: Any) -> SwarmPeer:
    is_web = peer.connection_type in WEB_SEEDS
    client = peer.client.decode(errors="replace")
    return SwarmPeer(
        address=peer.ip[0],
        # The client of a web seed is its URL.
        client=host_of(client) if is_web else printable(client, LONGEST_CLIENT),
        connection="web" if is_web else "utp" if peer.flags & IS_UTP else "tcp",
        progress=round(peer.progress_ppm / 10_000, 1),
        download_rate=peer.payload_down_speed,
        upload_rate=peer.payload_up_speed,
    )


def pieces_of(arrived: Sequence[bool], copies: Sequence[int]) -> SwarmPieces:
    count = len(arrived)
    buckets = min(count, MOST_BUCKETS)
    edges = [count * number // buckets for number in range(buckets + 1)] if buckets else []
    spans = [slice(*ends) for ends in pairwise(edges)]
    return SwarmPieces(
        count,
        tuple(100 * sum(arrived[span]) // len(arrived[span]) for span in spans),
        # libtorrent counts no copies for a torrent that is complete.
        tuple(min(copies[span], default=0) for span in spans) if copies else (),
    )


def trackers_of(handle: Any, failures: Mapping[str, Details]) -> list[SwarmTracker]:
    """Return the trackers; only those that failed if one of them sent words in no encoding."""
    try:
        return [tracker_of(row) for row in handle.trackers()]
    except UnicodeDecodeError:
        return [SwarmTracker(host_of(url), "failed", each) for url, each in failures.items()]


def tracker_of(row: Mapping[str, Any]) -> SwarmTracker:
    """Return what a tracker answered for one of the torrent's hashes at one of our addresses."""
    answers = [each for place in row["endpoints"] for each in place["info_hashes"]]
    # libtorrent lists both kinds of hashes. It never announces the one that the torrent lacks.
    answers = [each for each in answers if (each["next_announce"] or -1) > 0]
    host = host_of(row["url"])
    if not answers:
        return SwarmTracker(host, "waiting")
    answer = min(answers, key=lambda each: bool(each["last_error"]["value"]))
    error, message = answer["last_error"], answer["message"]
    next_at = f"{datetime.fromtimestamp(answer['next_announce'], UTC):%Y-%m-%d %H:%M:%S}"
    if error["value"]:
        details = failure_of(error["category"], error["value"], message, row["url"])
        return SwarmTracker(host, "failed", details, next_at)
    said = says(message, row["url"]) if message else None
    if row["verified"]:
        return SwarmTracker(host, "working", said, next_at)
    return SwarmTracker(host, "asking" if answer["updating"] else "waiting", None, next_at)


def tracker_failure(alert: Any) -> tuple[str, Details]:
    """Return a tracker's URL, and why it failed; its words may be in any encoding."""
    try:
        message = alert.failure_reason()
    except UnicodeDecodeError as error:
        message = bytes(error.object).decode(errors="replace")
    url = alert.tracker_url()
    return url, failure_of(alert.error.category().name(), alert.error.value(), message, url)


def failure_of(category: str, code: int, message: str, url: str) -> Details:
    if category == "asio.ssl" and code & REASON_BITS == CERTIFICATE_VERIFY_FAILED:
        return Details("bad_certificate")
    kind = FAILURES.get((category, code)) or FAILURES_OF_CATEGORIES.get(category, "unreachable")
    if kind == "tracker_says":
        return says(message, url)
    return Details(kind, status=code if kind == "http_status" else 0)


def says(message: str, url: str) -> Details:
    """Return a tracker's words without its URL, which may contain a secret of the account."""
    parts = urlsplit(url)
    for part in (*parts.path.split("/"), *(value for _name, value in parse_qsl(parts.query))):
        if len(part) >= SHORTEST_SECRET and not part.startswith("announce"):
            message = message.replace(part, "…")
    return Details("tracker_says", message=printable(message, LONGEST_MESSAGE))


def host_of(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def printable(text: str, most: int) -> str:
    """Return hostile text without what could control a terminal, or the direction of a page."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())[:most]
