"""The engine's main loop: orders come in, libtorrent works, events go out."""

import os
import selectors
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import libtorrent as lt

from service.details import Details
from service.torrents.engine.dialing import Dialing
from service.torrents.engine.metadata import MetadataRefused
from service.torrents.engine.session import EVENLY, rate_limits, session_of, uses_utp
from service.torrents.engine.session_watch import SessionWatch
from service.torrents.engine.status import status_of
from service.torrents.engine.torrent import EngineStage, EngineTorrent, Surroundings, hash_of
from service.torrents.events import Event, Status, TorrentBroken, TorrentGone
from service.torrents.messages import Document, Garbled, Lines, line_of, lines_of_event, order_of
from service.torrents.orders import EngineSettings, Order, TransferLimits

STATUS_SECONDS = 1.0
LOOK_SECONDS = 0.05
RESUME_SECONDS = 30.0
READ_BYTES = 2**16
DUPLICATE = 19  # libtorrent's error code


class EngineProcess:
    """The engine: one thread that waits for orders, for libtorrent, and for the clock.

    Before it handles a torrent in a way that has ever crashed a client, it writes the torrent's key
    (`begun`), and afterward that it's done (`ended`): a torrent between the two is a suspect.
    """

    torrent = EngineTorrent

    def __init__(self, settings: EngineSettings, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._torrents: dict[str, EngineTorrent] = {}
        self._hashes: dict[str, str] = {}
        self._in_hand: set[str] = set()
        self._next_status = self._next_look = self._next_resume = 0.0
        self._is_stopping = False
        self._session = session_of(settings)
        self._watch = SessionWatch(settings, self._write_event)
        dialing = Dialing(self._session, utp=uses_utp(settings))
        self._around = Surroundings(
            self._session, dialing, settings, {}, {}, self._write_event, self._claim
        )
        self._alerts = {
            "metadata_received_alert": self._take_metadata,
            "torrent_conflict_alert": self._same,
            "torrent_checked_alert": lambda _alert, torrent: torrent.mark_checked(),
            "torrent_finished_alert": lambda _alert, torrent: torrent.flush(),
            "file_prio_alert": lambda _alert, torrent: torrent.settle_choice(),
            "cache_flushed_alert": lambda _alert, torrent: torrent.end_flush(),
            "save_resume_data_alert": lambda alert, torrent: torrent.take_resume(alert.params),
            "save_resume_data_failed_alert": lambda _alert, torrent: torrent.resume_missing(),
            "piece_availability_alert": lambda alert, torrent: torrent.report_swarm(alert),
            "tracker_error_alert": lambda alert, torrent: torrent.note_tracker(alert),
            "file_error_alert": lambda alert, torrent: torrent.handle_disk_error(alert.error),
            "torrent_error_alert": self._handle_error,
        }

    def run(self, orders: int) -> None:
        """Run until `stop`, or until the worker closes the pipe."""
        wake_up, alert_pipe = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._session.set_alert_fd(alert_pipe)
        lines = Lines()
        with selectors.DefaultSelector() as selector:
            selector.register(orders, selectors.EVENT_READ)
            selector.register(wake_up, selectors.EVENT_READ)
            while not self._is_stopping:
                ready = {key.fd for key, _ in selector.select(self._seconds_left())}
                if orders in ready:
                    self._take(os.read(orders, READ_BYTES), lines)
                if wake_up in ready:
                    os.read(wake_up, READ_BYTES)
                self.round()
        self._stop()

    def _take(self, piece: bytes, lines: Lines) -> None:
        self._is_stopping = not piece
        for document in lines.feed(piece):
            self.obey(document)

    def round(self) -> None:
        for alert in self._session.pop_alerts():
            self._handle(alert)
        now = time.monotonic()
        if now >= self._next_status:
            self._next_status = now + STATUS_SECONDS
            self._session.post_session_stats()
            self._session.post_torrent_updates(lt.torrent_handle.query_distributed_copies)
            is_anyone_alone = any(each.is_alone(now) for each in self._around.loaded.values())
            self._around.dialing.round(is_anyone_alone=is_anyone_alone)
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            for torrent in self._arriving():
                torrent.report_arrival()
        if now >= self._next_resume:
            self._next_resume = now + RESUME_SECONDS
            for torrent in list(self._around.loaded.values()):
                torrent.check_seeding_time()
                if torrent.is_dirty:
                    torrent.save_resume()

    def _seconds_left(self) -> float:
        """Return how long to wait. Without torrents, no status is due, so wait longer."""
        if not self._around.loaded and not self._watch.status.received_rate:
            return RESUME_SECONDS
        due = [self._next_status, self._next_resume]
        if self._arriving():
            due.append(self._next_look)
        return max(0.0, min(due) - time.monotonic())

    def _arriving(self) -> list[EngineTorrent]:
        now = time.monotonic()
        return [each for each in self._around.loaded.values() if each.is_arriving(now)]

    def obey(self, document: Document) -> None:
        match document:
            case {"ping": int(number)}:
                self._write(line_of({"pong": number}))
            case {"stop": True}:
                self._is_stopping = True
            case {"order": "Order"}:
                self._add(order_of(document, Order))
            case {"order": "TransferLimits"}:
                self._limit(order_of(document, TransferLimits))
            case {"do": "look", "key": str(key)}:
                if torrent := self._torrents.get(key):
                    torrent.look()
            case {
                "do": "proceed" | "pause" | "resume" | "seed" | "remove" as what,
                "key": str(key),
            }:
                self._do(what, key)
            case _:
                raise Garbled

    def _add(self, order: Order) -> None:
        """Add a torrent, or change the files or limits of one that was added before."""
        if earlier := self._torrents.get(order.key):
            earlier.limit(order.limits)
            # A magnet link's own choice of files has no number of its own.
            has_other_files = order.unwanted != earlier.order.unwanted
            if has_other_files or order.choice != earlier.order.choice:
                with self._refuse_and_settle(earlier):
                    earlier.choose(order)
            return
        torrent = self.torrent(order, self._around)
        self._torrents[order.key] = torrent
        self._begin(order.key)
        with self._refuse_and_settle(torrent):
            torrent.start()

    def _limit(self, limits: TransferLimits) -> None:
        self._around.limits = limits
        self._session.apply_settings(rate_limits(limits) | (EVENLY if limits.has_speed else {}))
        for torrent in list(self._around.loaded.values()):
            torrent.check_seeding_time()

    def _do(self, what: str, key: str) -> None:
        torrent = self._torrents.get(key)
        if torrent is None:
            if what == "remove":
                self._write_event(TorrentGone(key))
            return
        self._begin(key)
        with self._refuse_and_settle(torrent):
            getattr(torrent, what)()
        if torrent.handle is None and torrent.stage is not EngineStage.GONE:
            self._write_event(Status(key, "paused" if torrent.is_paused else "metadata"))

    def _handle(self, alert: Any) -> None:
        name = type(alert).__name__
        if name == "state_update_alert":
            self._see(alert.status)
        elif name == "torrent_removed_alert":
            self._handle_removal(hash_of(alert.info_hashes))
        elif name == "alerts_dropped_alert":
            sys.exit("libtorrent had more to say than could be kept")
        elif name == "listen_failed_alert":
            sys.stderr.write(f"{alert.message()}\n")
        elif name == "listen_succeeded_alert":
            self._listens(alert)
        elif name == "session_stats_alert":
            self._watch.count(alert.values)
        elif name in ("portmap_alert", "portmap_error_alert"):
            self._watch.note_mapping(is_mapped=name == "portmap_alert")
        elif what := self._alerts.get(name):
            torrent = self._around.loaded.get(alert.handle)
            if torrent is not None:
                with self._refuse_and_settle(torrent):
                    what(alert, torrent)

    def _listens(self, alert: Any) -> None:
        """Log the port: if another program uses ours, libtorrent lets the system choose one."""
        port = self._around.settings.port
        sys.stderr.write(f"{alert.message()}\n")
        if alert.socket_type != lt.socket_type_t.tcp:
            return
        self._watch.change(port=alert.port)
        if port not in (0, alert.port):
            sys.stderr.write(f"port {port} is taken: {alert.port} is used instead\n")

    def _see(self, statuses: list[Any]) -> None:
        for status in statuses:
            torrent = self._around.loaded.get(status.handle)
            if torrent is None:
                continue
            self._write_event(status_of(torrent.key, torrent.phase(status), status))
            with self._refuse_and_settle(torrent):
                torrent.take_status(status)

    def _take_metadata(self, _alert: Any, torrent: EngineTorrent) -> None:
        self._begin(torrent.key)
        torrent.take_metadata()

    def _same(self, alert: Any, torrent: EngineTorrent) -> None:
        """Keep the older of two orders whose magnet links turned out to be the same torrent."""
        other = self._around.loaded.get(alert.conflicting_torrent)
        if other is None:
            return
        order = list(self._torrents)
        first, second = sorted((torrent, other), key=lambda each: order.index(each.key))
        first.keep_metadata(alert.metadata)
        self._release(second.key)
        second.leave(lambda: self._is_same(first, second))

    def _is_same(self, first: EngineTorrent, second: EngineTorrent) -> None:
        self._refuse(second, MetadataRefused("same_torrent", other=first.key))
        first.come_back()

    def _handle_error(self, alert: Any, torrent: EngineTorrent) -> None:
        """Refuse metadata from peers that can't be read. Disk errors have a separate alert."""
        if torrent.stage is EngineStage.SEEKING and alert.error.value() != DUPLICATE:
            raise MetadataRefused("invalid_torrent", Details("invalid_torrent"))

    def _handle_removal(self, of_hash: str) -> None:
        waiting = self._around.leaving.get(of_hash, [])
        if not waiting:
            return
        torrent = waiting.pop(0)
        if not waiting:
            del self._around.leaving[of_hash]
        with self._refuse_and_settle(torrent):
            torrent.end_leaving()

    @contextmanager
    def _refuse_and_settle(self, torrent: EngineTorrent) -> Iterator[None]:
        """Report what goes wrong, and whether the torrent is gone, or in hand."""
        try:
            yield
        except MetadataRefused as refused:
            self._refuse(torrent, refused)
        except OSError as error:
            torrent.handle_error(error.errno or 0, os.strerror(error.errno or 0))
        if torrent.stage is EngineStage.GONE:
            self._torrents.pop(torrent.key, None)
            self._release(torrent.key)
        if torrent.is_in_hand:
            self._begin(torrent.key)
        else:
            self._end(torrent.key)

    def _refuse(self, torrent: EngineTorrent, refusal: MetadataRefused) -> None:
        self._write_event(TorrentBroken(torrent.key, refusal.word, refusal.details, refusal.other))
        torrent.leave()

    def _release(self, key: str) -> None:
        for each in [each for each, holder in self._hashes.items() if holder == key]:
            del self._hashes[each]

    def _claim(self, key: str, hashes: Any) -> None:
        """Claim a torrent's hashes. Raises MetadataRefused if another order has one of them."""
        claimed = [str(hashes.v1)] if hashes.has_v1() else []
        claimed += [str(hashes.v2)] if hashes.has_v2() else []
        for each in claimed:
            if self._hashes.get(each, key) != key:
                raise MetadataRefused("same_torrent", other=self._hashes[each])
        self._hashes.update(dict.fromkeys(claimed, key))

    def _begin(self, key: str) -> None:
        if key not in self._in_hand:
            self._in_hand.add(key)
            self._write(line_of({"begun": key}))

    def _end(self, key: str) -> None:
        if key in self._in_hand:
            self._in_hand.discard(key)
            self._write(line_of({"ended": key}))

    def _write_event(self, event: Event) -> None:
        for line in lines_of_event(event):
            self._write(line)

    def _stop(self) -> None:
        self._session.pause()
        for torrent in self._around.loaded.values():
            torrent.save_resume()
        deadline = time.monotonic() + RESUME_SECONDS
        while self._is_saving() and time.monotonic() < deadline:
            self._session.wait_for_alert(100)
            for alert in self._session.pop_alerts():
                self._handle(alert)

    def _is_saving(self) -> bool:
        return any(torrent.is_saving for torrent in self._around.loaded.values())
