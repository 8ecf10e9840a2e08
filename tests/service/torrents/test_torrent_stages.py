"""A disk that fails between two stages of a torrent, which libtorrent doesn't report."""

import errno
from types import SimpleNamespace

import pytest

from service.details import Details
from service.torrents.engine.dialing import Dialing
from service.torrents.engine.torrent import EngineStage, EngineTorrent, Surroundings
from service.torrents.events import TorrentBroken
from service.torrents.orders import Order

FAILS = OSError(errno.EIO, "Input/output error")


@pytest.fixture
def events():
    return []


@pytest.fixture
def removed():
    return []


@pytest.fixture
def torrent(events, removed, tmp_path):
    session = SimpleNamespace(remove_torrent=removed.append)
    dialing = Dialing(session, utp=False)
    around = Surroundings(session, dialing, None, {}, {}, events.append, lambda _key, _hashes: None)
    return EngineTorrent(Order("7", str(tmp_path), magnet="magnet:?"), around)


def fail(*_args):
    raise FAILS


class Finished:
    """A stand-in for libtorrent's handle of a finished torrent."""

    def __init__(self):
        self.flushes = 0

    def status(self):
        return SimpleNamespace(is_finished=True, errc=SimpleNamespace(value=lambda: 0))

    def flush_cache(self):
        self.flushes += 1

    def info_hashes(self):
        return SimpleNamespace(get_best=lambda: "a" * 40)

    def pause(self, *_flags):
        pass

    resume = clear_error = set_flags = unset_flags = save_resume_data = pause

    def torrent_file(self):
        return SimpleNamespace(layout=lambda: SimpleNamespace(num_files=lambda: 0))


def test_unreadable_saved_metadata_is_reported(torrent, events, monkeypatch):
    torrent.handle = Finished()
    # The disk must fail between two calls of libtorrent, and no real disk does so on demand.
    monkeypatch.setattr(torrent.folder, "metadata", fail)
    # libtorrent never shows a test that it is between these two stages.
    torrent.stage, torrent._then = EngineStage.LEAVING, torrent._come_back  # noqa: SLF001  See above.
    with pytest.raises(OSError, match="Input/output"):
        torrent.end_leaving()
    torrent.handle_error(errno.EIO, "Input/output error")
    details = Details("disk_message", message="Input/output error")
    assert events == [TorrentBroken("7", "disk_error", details)]


def test_a_torrent_that_fails_at_the_very_end_is_flushed_again(torrent, monkeypatch):
    torrent.handle, torrent.stage = Finished(), EngineStage.FLUSHING
    # As above: the disk must fail after the last piece and before the empty files.
    monkeypatch.setattr(torrent, "_make_empty_files", fail)
    with pytest.raises(OSError, match="Input/output"):
        torrent.end_flush()
    torrent.handle_error(errno.EIO, "Input/output error")
    torrent.resume()
    assert torrent.handle.flushes == 1


@pytest.mark.parametrize("fails_when", ["downloading", "flushing"])
def test_a_torrent_with_unwritten_data_is_never_complete(torrent, events, removed, fails_when):
    """libtorrent may report the end all the same, so it must add and check the torrent again."""
    torrent.handle, torrent.stage = Finished(), EngineStage.LOADED
    torrent.folder.keep_resume(b"all of it")
    if fails_when == "flushing":
        torrent.flush()
    torrent.handle_disk_error(SimpleNamespace(value=lambda: errno.ENOSPC, message=str))
    torrent.flush()
    torrent.end_flush()
    assert events == [TorrentBroken("7", "disk_full", Details("disk_full"))]
    torrent.resume()
    torrent.flush()
    torrent.end_flush()
    assert len(events) == 1
    assert removed == [torrent.handle]
    assert torrent.folder.resume() is None
