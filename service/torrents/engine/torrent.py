"""One torrent in the engine, and its stage."""

import errno
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import libtorrent as lt

from service.details import Details
from service.torrents import events
from service.torrents.engine import params
from service.torrents.engine.arrival import ArrivalOrder
from service.torrents.engine.dialing import Dialing
from service.torrents.engine.files import TorrentFolder
from service.torrents.engine.metadata import MetadataRefused, metadata_of, params_of, torrent_of
from service.torrents.engine.session import EVENLY
from service.torrents.engine.status import (
    CHECKING,
    DONE,
    IS_UTP,
    host_of,
    status_of,
    swarm_of,
    tracker_failure,
)
from service.torrents.orders import EngineSettings, Order, TransferLimits

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# A torrent without peers for so long is dead: it no longer makes libtorrent retry faster for all.
ALONE_SECONDS = 120.0
FILES_SECONDS = 2.0
# So many percentages take the worker a write of some kilobytes.
FILES_PER_SECOND = 2_000


class EngineStage(Enum):
    """A torrent's stage in the engine.

    seeking ──metadata──> leaving ──> known ──proceed──> loaded ──finished──> flushing ──> complete
    (a magnet link)                   (a .torrent file                                        │
                                       begins here)                                         seed
                                                         (imported torrents begin here)   seeding
    From any stage: remove, a final error, or the end of seeding ──> leaving ──> gone.
    """

    SEEKING = "metadata"
    LEAVING = "leaving"
    KNOWN = "known"
    LOADED = "downloading"
    FLUSHING = "flushing"
    COMPLETE = "complete"
    SEEDING = "seeding"
    GONE = "gone"


@dataclass
class Surroundings:
    """What a torrent needs from the engine."""

    session: Any
    dialing: Dialing
    settings: EngineSettings
    loaded: dict[Any, "EngineTorrent"]  # by libtorrent's handle
    leaving: dict[str, list["EngineTorrent"]]  # by hash: a removed torrent's handle is unusable
    tell: Callable[[events.Event], None]
    claim: Callable[[str, Any], None]  # raises MetadataRefused if another order has a hash
    limits: TransferLimits = field(default_factory=TransferLimits)  # of all torrents


class EngineTorrent:
    """A torrent in the engine. libtorrent has it only while it seeks metadata or is loaded.

    Once a magnet link's metadata arrives, libtorrent removes the torrent and gets it again with all
    files renamed, since renaming them on arrival would be too late.
    """

    def __init__(self, order: Order, around: Surroundings) -> None:
        self.order = order
        self.key = order.key
        self.stage = EngineStage.KNOWN
        self.is_paused = False
        self.is_dirty = False
        self.handle: Any = None
        self.folder = TorrentFolder(order.folder)
        self._limits = order.limits
        self._around = around
        self._may_download = order.may_download or order.seeding
        self._size_bytes = 0
        self._peers: list[tuple[str, int]] = []
        self._arrival: ArrivalOrder | None = None
        self._alone_since: float | None = None
        self._needs_utp = False
        self.is_saving = False
        self._is_removed = False
        self._is_checked = False
        self._is_broken = False
        self._is_in_doubt = False
        self._resume = b""  # resume data that waits until what it names is written
        self._choices_under_way = 0
        self._file_bytes: tuple[int, ...] = ()
        self._next_percents = 0.0
        self._tracker_failures: dict[str, Details] = {}  # the last of each, by URL
        self._then: Callable[[], None] = self._end

    @property
    def is_in_hand(self) -> bool:
        """Return whether libtorrent is handling the files for the first time: they may crash it."""
        is_new = self.handle is not None and not self._is_checked and not self.is_paused
        return is_new and self.stage is EngineStage.LOADED

    def start(self) -> None:
        """Read the metadata in the folder, or else seek it from peers. Raises MetadataRefused."""
        content = self.folder.metadata()
        if content is None and not self.order.magnet:
            raise MetadataRefused("not_a_torrent", Details("not_a_torrent"))
        try:
            if content is not None:
                self._know(params_of(content).ti)
                return
        except MetadataRefused as refused:
            if refused.word != "not_a_torrent" or not self.order.magnet:
                raise
        self._seek()

    def _seek(self) -> None:
        self.stage = EngineStage.SEEKING
        add_params = params.seeking(self.order, self._around.settings)
        self._around.claim(self.key, add_params.info_hashes)
        self._add(add_params)

    def _know(self, torrent: Any) -> None:
        """Report the metadata, and load the torrent if it may download. Raises MetadataRefused."""
        self.stage = EngineStage.KNOWN
        metadata = metadata_of(self.key, torrent)
        self._around.claim(self.key, torrent.info_hashes())
        self._size_bytes = metadata.size_bytes
        self._file_bytes = tuple(each.size_bytes for each in metadata.files)
        self._around.tell(metadata)
        if self._may_download:
            self._load()

    def take_metadata(self) -> None:
        """Save the metadata that arrived, and ask libtorrent for the peers that had it."""
        if self.stage is EngineStage.SEEKING:
            self.keep_metadata(self.handle.torrent_file())
            peers = self.handle.get_peer_info()
            # If the peer left after it sent the metadata, nothing is known about TCP.
            self._needs_utp = bool(peers) and all(peer.flags & IS_UTP for peer in peers)
            self.handle.save_resume_data(0)

    def keep_metadata(self, torrent: Any) -> None:
        self.folder.keep_metadata(torrent_of(torrent.info_section()))

    def take_resume(self, saved: Any) -> None:
        """Take resume data, or only the peers while seeking, when there are no bytes to resume.

        It may name pieces that aren't written yet, so it is saved once they are.
        """
        if self.stage is EngineStage.SEEKING:
            self._peers = list(saved.peers)
            self.come_back()
        elif self.stage is not EngineStage.LEAVING:
            self._resume = lt.write_resume_data_buf(saved)
            self.handle.flush_cache()

    def resume_missing(self) -> None:
        self.is_saving = False
        if self.stage is EngineStage.SEEKING:
            self.come_back()
        self._end_removal()

    def come_back(self) -> None:
        """Begin again with the metadata in the folder."""
        self.leave(self._come_back)

    def _come_back(self) -> None:
        content = self.folder.metadata() or b""
        self._know(params_of(content).ti)

    def proceed(self) -> None:
        """Allow the download, now or once the files are known. Raises MetadataRefused."""
        is_waiting = self.stage is EngineStage.KNOWN and not self._may_download
        self._may_download = True
        if is_waiting:
            self._load()

    def _load(self) -> None:
        add_params = params.loading(self.order, self._around.settings, self._peers)
        self.stage = EngineStage.SEEDING if self.order.seeding else EngineStage.LOADED
        self._around.tell(events.Arrived(self.key, 0, 0))
        self._add(add_params)
        # After a restart, most of it may have left the memory: leave it to the import.
        is_new = not (self.order.seeding or self.order.unwanted or add_params.have_pieces)
        self._arrival = ArrivalOrder(self.handle, add_params.ti) if is_new else None
        if list(add_params.file_priorities) != self._wanted_priorities():
            self._prioritize()

    def _add(self, add_params: Any) -> None:
        if self.is_paused:
            add_params.flags |= lt.torrent_flags.paused
        if self.stage is not EngineStage.SEEDING and not self._needs_utp:
            self._around.dialing.begin()
        try:
            self.handle = self._around.session.add_torrent(add_params)
        except RuntimeError as error:
            raise MetadataRefused("invalid_torrent", Details("invalid_torrent")) from error
        self._is_checked = self.is_saving = False
        self._resume, self._choices_under_way = b"", 0
        self._alone_since = time.monotonic()
        self._around.loaded[self.handle] = self
        self._limit_speeds()

    def limit(self, limits: TransferLimits) -> None:
        self._limits = limits
        if self._around.loaded.get(self.handle) is self:
            self._limit_speeds()
            self.check_seeding_time()

    def _limit_speeds(self) -> None:
        self.handle.set_download_limit(self._limits.download_bytes_per_second or 0)
        self.handle.set_upload_limit(self._limits.upload_bytes_per_second or 0)
        if self._limits.has_speed:
            self._around.session.apply_settings(EVENLY)

    def mark_checked(self) -> None:
        self._is_checked = True

    def choose(self, order: Order) -> None:
        """Fetch the files of this order: at once if the torrent is loaded, even if complete."""
        self.order = order
        if self.stage in (EngineStage.LOADED, EngineStage.FLUSHING, EngineStage.COMPLETE):
            self.stage, self._arrival = EngineStage.LOADED, None
            self._alone_since = time.monotonic()
            self.handle.unset_flags(
                lt.torrent_flags.upload_mode | lt.torrent_flags.sequential_download
            )
            self._prioritize()

    def _wanted_priorities(self) -> list[int]:
        return params.priorities_of(self.handle.torrent_file().layout(), self.order.unwanted)

    def _prioritize(self) -> None:
        """Have libtorrent fetch the files of the order; `settle_choice` follows.

        It now moves ends of pieces between files. If a kill interrupts that, only a check of every
        piece finds what is where, so forget the resume data meanwhile.
        """
        self.folder.forget_resume()
        parts, layout = hash_of(self.handle.info_hashes()), self.handle.torrent_file().layout()
        self.folder.lengthen_parts(parts, layout)
        self._choices_under_way += 1
        self.handle.prioritize_files(self._wanted_priorities())

    def settle_choice(self) -> None:
        self._choices_under_way -= 1
        if self.handle.status(0).is_finished:
            self.flush()
        else:
            self.save_resume()

    def flush(self) -> None:
        """Flush the files, and write nothing more: the worker links these very files.

        A flush for resume data comes first, or the end of one would be taken for the other's.
        """
        is_busy = self._is_in_doubt or self._choices_under_way or self._resume
        if self.stage is EngineStage.LOADED and not is_busy:
            self.stage = EngineStage.FLUSHING
            self.handle.set_flags(lt.torrent_flags.upload_mode)
            self.handle.flush_cache()

    def end_flush(self) -> None:
        if self._resume:
            self._keep_resume()
            return
        if self.stage is not EngineStage.FLUSHING or self._is_in_doubt:
            return
        status = self.handle.status()
        if not status.is_finished or status.errc.value():
            self.stage = EngineStage.LOADED
            self.handle.unset_flags(lt.torrent_flags.upload_mode)
            return
        self._make_empty_files()
        self.stage = EngineStage.COMPLETE
        # It counts what arrived since the last second.
        self._around.tell(status_of(self.key, self.phase(status), status))
        self.save_resume()
        self._around.tell(events.Complete(self.key, self.order.choice))

    def _keep_resume(self) -> None:
        try:
            if not self._is_in_doubt and not self._choices_under_way:
                self.folder.keep_resume(self._resume)
        finally:
            self._resume, self.is_saving = b"", False
            self._end_removal()
        if not self._is_removed and self.handle.status(0).is_finished:
            self.flush()

    def _make_empty_files(self) -> None:
        """Create the empty files, which libtorrent skips after resuming."""
        layout = self.handle.torrent_file().layout()
        for index in range(layout.num_files()):
            if not layout.file_size(index) and not layout.file_flags(index):
                Path(self.order.folder, str(index)).touch(mode=0o600)

    def seed(self) -> None:
        if self.stage is EngineStage.COMPLETE:
            self.stage = EngineStage.SEEDING

    def pause(self) -> None:
        self.is_paused = True
        if self.handle is not None:
            self.handle.pause()

    def resume(self) -> None:
        """Continue after a pause or a disk error. Raises MetadataRefused."""
        self.is_paused = False
        was_broken, self._is_broken = self._is_broken, False
        if self.handle is None:
            if was_broken:
                self.start()
            return
        if self._is_in_doubt:
            self._load_again()
            return
        self._alone_since = time.monotonic()
        self.handle.clear_error()
        if self.stage in (EngineStage.SEEKING, EngineStage.LOADED):
            self.handle.unset_flags(lt.torrent_flags.upload_mode)
        self.handle.resume()
        if was_broken and self.stage is EngineStage.SEEKING and self.handle.has_metadata():
            self.take_metadata()
        elif was_broken and self.stage is EngineStage.FLUSHING:
            self.handle.flush_cache()

    def _load_again(self) -> None:
        """Add the torrent again, which checks every piece.

        Added again, it also connects to its peers at once; otherwise it would wait a minute.
        """
        self._is_in_doubt = False
        self.folder.forget_resume()
        self.leave(self._load)

    def handle_disk_error(self, error: Any) -> None:
        """Handle a failed read or write.

        libtorrent verifies a piece before writing it, so it may count one that was never written.
        If it couldn't move the end of a piece, a check finds what is where.
        """
        if self._choices_under_way and self.stage is EngineStage.LOADED:
            self._load_again()
            return
        if self.stage in (EngineStage.LOADED, EngineStage.FLUSHING):
            self._is_in_doubt = True
        self.handle_error(error.value(), error.message())

    def handle_error(self, number: int, message: str) -> None:
        """Handle a disk error: end seeding, or else report the error and wait for `resume`.

        Report it once: a full disk fails many times before libtorrent stops.
        """
        if self.stage is EngineStage.SEEDING:
            self.end_seeding()
            return
        if self._is_broken or self.stage in (EngineStage.LEAVING, EngineStage.GONE):
            return
        self.pause()
        self._is_broken = True
        is_full = number in NO_SPACE
        word = "disk_full" if is_full else "disk_error"
        details = Details("disk_full") if is_full else Details("disk_message", message=message)
        self._around.tell(events.TorrentBroken(self.key, word, details))

    def is_arriving(self, now: float) -> bool:
        is_loading = self.stage is EngineStage.LOADED and not self.is_paused
        return self._arrival is not None and is_loading and self._arrival.is_moving(now)

    def report_arrival(self) -> None:
        if self._arrival is not None:
            for index, size_bytes in self._arrival.look():
                self._around.tell(events.Arrived(self.key, index, size_bytes))

    def is_alone(self, now: float) -> bool:
        """Return whether it has had no peers for less than ALONE_SECONDS, and seeks them."""
        if self._alone_since is None or self.is_paused:
            return False
        is_looking = self.stage in (EngineStage.SEEKING, EngineStage.LOADED)
        return is_looking and now - self._alone_since < ALONE_SECONDS

    def take_status(self, status: Any) -> None:
        self.is_dirty = True
        now = time.monotonic()
        if self._arrival is not None:
            self._arrival.take_status(status, now)
        if self.stage is EngineStage.LOADED and now >= self._next_percents:
            self._report_files(now)
        if status.num_peers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        if self.stage is EngineStage.SEEDING and (
            self.is_given_up(status) or self.has_seeded(status)
        ):
            self.end_seeding()

    def _report_files(self, now: float) -> None:
        """Report how much of each file has arrived, less often the more files there are."""
        self._next_percents = now + max(FILES_SECONDS, len(self._file_bytes) / FILES_PER_SECOND)
        arrived = self.handle.file_progress(lt.torrent_handle.piece_granularity)
        percents = (
            100 * done_bytes // size_bytes if size_bytes else 100
            for done_bytes, size_bytes in zip(arrived, self._file_bytes, strict=True)
        )
        self._around.tell(events.FileProgress(self.key, tuple(percents)))

    def look(self) -> None:
        """Ask libtorrent how many peers have each piece; `report_swarm` follows."""
        if self._around.loaded.get(self.handle) is self:
            self.handle.post_piece_availability()

    def report_swarm(self, alert: Any) -> None:
        failures = self._tracker_failures
        self._around.tell(swarm_of(self.key, self.handle, alert.piece_availability, failures))

    def note_tracker(self, alert: Any) -> None:
        """Note that a tracker failed, and report it if the tracker refuses in other words."""
        url, details = tracker_failure(alert)
        is_news = self._tracker_failures.get(url) != details
        self._tracker_failures[url] = details
        if is_news and details.kind == "tracker_says":
            self._around.tell(events.TrackerRefused(self.key, host_of(url), details))

    def is_given_up(self, status: Any) -> bool:
        """Return whether files of the library turned out damaged: seeding never repairs them."""
        return status.state not in (*DONE, *CHECKING) and not status.seed_mode

    def has_seeded(self, status: Any) -> bool:
        """Return whether it has sent its share, or has seeded for so many minutes."""
        ratio = status.all_time_upload / max(1, self._size_bytes)
        minutes = status.seeding_duration.total_seconds() / 60
        return self._limits.is_enough(self._around.limits, ratio, minutes)

    def check_seeding_time(self) -> None:
        """End seeding on time: libtorrent sends no status of a torrent that no peer requests."""
        if self.stage is EngineStage.SEEDING and self.has_seeded(self.handle.status(0)):
            self.end_seeding()

    def end_seeding(self) -> None:
        self.leave(lambda: self._end(events.Seeded(self.key)))

    def save_resume(self) -> None:
        if self._may_save():
            self.is_dirty = False
            self.is_saving = True
            self.handle.save_resume_data(0)

    def _may_save(self) -> bool:
        """Return whether resume data would say all that is on the disk."""
        is_without = self.stage in (EngineStage.SEEKING, EngineStage.LEAVING)
        is_known = self._is_checked and not self._choices_under_way
        return self.handle is not None and not is_without and is_known

    def phase(self, status: Any) -> events.Phase:
        if self.stage in (EngineStage.COMPLETE, EngineStage.SEEDING):
            return "complete" if self.stage is EngineStage.COMPLETE else "seeding"
        if self.is_paused:
            return "paused"
        if self.stage in (EngineStage.SEEKING, EngineStage.KNOWN, EngineStage.LEAVING):
            return "metadata"
        return "checking" if status.state in CHECKING else "downloading"

    def leave(self, then: Callable[[], None] | None = None) -> None:
        """Remove the torrent from libtorrent; `end_leaving` runs `then` once the folder is free."""
        self._then = then or self._end
        if self.stage is EngineStage.LEAVING and self.handle is not None:
            return
        self.stage = EngineStage.LEAVING
        if self.handle is None:
            self._then()
            return
        self._around.loaded.pop(self.handle, None)
        self._around.leaving.setdefault(hash_of(self.handle.info_hashes()), []).append(self)
        self._around.session.remove_torrent(self.handle)

    def end_leaving(self) -> None:
        """Continue after libtorrent removed the torrent. Raises MetadataRefused."""
        self.handle = None
        self.stage = EngineStage.KNOWN
        self._then()

    def _end(self, event: events.Event | None = None) -> None:
        self.stage = EngineStage.GONE
        if event is not None:
            self._around.tell(event)

    def remove(self) -> None:
        """Save what has arrived, since the transfer may continue one day, and leave."""
        self._is_removed = True
        has_bytes = self.stage in (EngineStage.LOADED, EngineStage.FLUSHING, EngineStage.COMPLETE)
        if has_bytes and not self._is_in_doubt and self._may_save():
            self.save_resume()
        else:
            self._end_removal()

    def _end_removal(self) -> None:
        if self._is_removed:
            self.leave(lambda: self._end(events.TorrentGone(self.key)))


def hash_of(hashes: Any) -> str:
    return str(hashes.get_best())
