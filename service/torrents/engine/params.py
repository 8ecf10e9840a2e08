"""Build libtorrent's parameters, without a torrent's file names or forbidden trackers."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import libtorrent as lt

from service.details import Details
from service.torrents.engine.addresses import is_usable
from service.torrents.engine.arrival import UNWRITTEN
from service.torrents.engine.files import TorrentFolder
from service.torrents.engine.metadata import LIMITS, MetadataRefused, params_of
from service.torrents.orders import EngineSettings, Order

MOST_TRACKERS = 200
MOST_WEB_SEEDS = 20
MOST_PEERS = 200
# A torrent may name half a million URLs, and checking each takes a moment: check no more than this.
MOST_JUDGED = 2000
WANTED, UNWANTED = 4, 0
FLAGS = (
    lt.torrent_flags.update_subscribe
    | lt.torrent_flags.apply_ip_filter
    | lt.torrent_flags.duplicate_is_error
)
KEPT_TO_TRACKERS = (
    lt.torrent_flags.disable_dht | lt.torrent_flags.disable_lsd | lt.torrent_flags.disable_pex
)
WEB_SCHEMES = ("http", "https")

Params = Any


def seeking(order: Order, settings: EngineSettings) -> Params:
    """Return parameters to fetch a magnet's metadata and nothing else, not even an empty folder."""
    params = read_magnet(order.magnet)
    give_sources(params, [params], settings)
    params.save_path = order.folder
    # A magnet link may choose files (BEP 53); libtorrent would fetch them under their own names.
    params.file_priorities = []
    params.flags = lt.torrent_flags.default_dont_download | FLAGS
    return params


def loading(order: Order, settings: EngineSettings, peers: list[tuple[str, int]]) -> Params:
    """Return parameters to download or seed `metadata.torrent`, with its earlier progress.

    With progress, the files wanted are those of that time: libtorrent kept the ends of their pieces
    elsewhere, and only moves them when their priorities change. Every file is renamed before
    libtorrent sees the folder. Raises MetadataRefused.
    """
    folder = TorrentFolder(order.folder)
    metadata = params_of(folder.metadata() or b"")
    magnets = [read_magnet(order.magnet)] if order.magnet else []
    layout = metadata.ti.layout()
    priorities = priorities_of(layout, order.unwanted)
    params = metadata
    if progress := read_progress(folder, metadata):
        params = progress
        before = [*progress.file_priorities, *[WANTED] * len(priorities)]
        priorities = before[: len(priorities)]
    # Peers found before a torrent was known to be private may have come from anywhere.
    earlier_peers = [] if metadata.ti.priv() else peers
    give_sources(params, [metadata, *magnets], settings, [*earlier_peers, *params.peers])
    params.ti = metadata.ti
    params.save_path = order.folder
    params.renamed_files = {index: str(index) for index in range(layout.num_files())}
    params.file_priorities = priorities
    params.piece_priorities = []
    params.total_uploaded = max(params.total_uploaded, order.uploaded_bytes)
    params.flags = FLAGS
    if metadata.ti.priv():
        params.flags |= KEPT_TO_TRACKERS
    if order.seeding:
        params.flags |= lt.torrent_flags.seed_mode | lt.torrent_flags.upload_mode
    return params


def priorities_of(layout: Any, unwanted: Iterable[int]) -> list[int]:
    """Return the priority of each file. Symlinks are never wanted: libtorrent would create them."""
    left_out = set(unwanted)
    return [
        UNWANTED if index in left_out or layout.file_flags(index) & UNWRITTEN else WANTED
        for index in range(layout.num_files())
    ]


def read_progress(folder: TorrentFolder, metadata: Params) -> Params | None:
    """Return the saved progress, if it is of this torrent."""
    content = folder.resume()
    if content is None:
        return None
    with suppress(RuntimeError, ValueError):
        params = lt.read_resume_data(content, LIMITS)
        if params.info_hashes == metadata.ti.info_hashes():
            return params
    return None


def read_magnet(uri: str) -> Params:
    """Return the parameters of a magnet link. Raises MetadataRefused."""
    try:
        return lt.parse_magnet_uri(uri)
    except (RuntimeError, ValueError) as error:
        raise MetadataRefused("invalid_torrent", Details("invalid_torrent")) from error


def give_sources(
    params: Params,
    all_params: list[Params],
    settings: EngineSettings,
    more_peers: Iterable[tuple[str, int]] = (),
) -> None:
    """Give it the trackers, web seeds, and peers of all these that the settings allow."""
    peers = [peer for each in all_params for peer in each.peers]
    params.peers = list(dict.fromkeys([*peers, *more_peers]))[:MOST_PEERS]
    seeds = dict.fromkeys(url for each in all_params for url in each.url_seeds)
    candidates = islice(seeds, MOST_JUDGED)
    usable = [url for url in candidates if is_usable(url, settings.reach, schemes=WEB_SCHEMES)]
    params.url_seeds = usable[:MOST_WEB_SEEDS]
    params.http_seeds = []
    params.dht_nodes = []
    trackers = trackers_of(all_params, settings)
    params.trackers = list(trackers)
    params.tracker_tiers = list(trackers.values())


def trackers_of(all_params: list[Params], settings: EngineSettings) -> dict[str, int]:
    """Return the tier of each tracker."""
    schemes = WEB_SCHEMES if settings.proxy.startswith("http") else (*WEB_SCHEMES, "udp")
    trackers: dict[str, int] = {}
    for params in all_params:
        tiers = [*params.tracker_tiers, *[0] * len(params.trackers)]
        for url, tier in islice(zip(params.trackers, tiers, strict=False), MOST_JUDGED):
            if len(trackers) < MOST_TRACKERS and is_usable(url, settings.reach, schemes=schemes):
                trackers.setdefault(url, tier)
    return trackers
