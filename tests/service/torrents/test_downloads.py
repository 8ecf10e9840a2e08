"""Whole downloads of all kinds from a real peer, and the files that appear meanwhile."""

import re
from contextlib import contextmanager
from dataclasses import replace

import libtorrent as lt
import pytest

from service.torrents.events import Complete, Metadata, Status, TorrentBroken, TorrentGone
from tests.cases import each_case
from tests.service.torrents.watching import watching
from tests.swarm import KINDS, Seeder, Tracker, WebSeed, seeder, serving_http, torrent

LONE = bytes(range(256)) * 700
MANY = {
    ("a.mkv",): b"film" * 20_000,
    ("b", "c.srt"): b"text" * 9_000,
    ("empty",): b"",
    ("z.jpg",): b"poster" * 5_000,
}
OURS = re.compile(r"[0-9]+|(metadata\.torrent|resume)(\.new)?|\.[0-9a-f]{40}\.parts")


ALL_SIX = {
    f"{kind} {many}": torrent("Evil name", content, kind=kind)
    for kind in KINDS
    for many, content in (("lone", LONE), ("many", MANY))
}


def test_the_watch_sees_what_libtorrent_would_do_by_itself(tmp_path, seeds):
    made = torrent("Evil name", MANY)
    seeds.give(made, tmp_path / "given")
    (tmp_path / "got").mkdir()
    other = Seeder()
    with watching(tmp_path / "got") as watch:
        other.want(made, tmp_path / "got", seeds.address)
        other.has(made)
        other.close()
        assert "Evil name" in watch.names()


@pytest.mark.promise("no name of a magnet reaches the disk")
@pytest.mark.slow
@each_case("which", list(ALL_SIX))
def test_no_name_of_a_magnets_torrent_ever_reaches_the_disk(held, seeds, tmp_path, which):
    made = ALL_SIX[which]
    seeds.give(made, tmp_path / "given" / which)
    with watching(held.folder("7")) as watch:
        held.add("7", made.magnet(peer=seeds.address), may_download=False)
        metadata = held.wait(Metadata, "7")
        held.events.append(metadata)
        held.engine.proceed("7")
        held.complete("7", made)
        names = watch.names()
    assert names >= {str(each.index) for each in metadata.files if not each.is_padding}
    assert [name for name in names if not OURS.fullmatch(name)] == []


@pytest.mark.slow
@each_case("which", list(ALL_SIX))
def test_no_name_of_a_torrent_file_ever_reaches_the_disk(held, seeds, tmp_path, which):
    made = ALL_SIX[which]
    seeds.give(made, tmp_path / "given" / which)
    with serving_http(Tracker(peers=[seeds.address])) as tracker:
        metadata = lt.bdecode(made.content) | {b"announce": tracker.announce.encode()}
        with watching(held.folder("7")) as watch:
            held.add("7", replace(made, content=lt.bencode(metadata)))
            held.wait(Status, "7", where=lambda status: status.phase == "complete")
            held.complete("7", made)
            names = watch.names()
    assert "0" in names
    assert [name for name in names if not OURS.fullmatch(name)] == []


@each_case("which", list(ALL_SIX))
def test_metadata_says_what_the_torrent_says(held, seeds, tmp_path, which):
    made = ALL_SIX[which]
    seeds.give(made, tmp_path / "given" / which)
    held.add("7", made.magnet(peer=seeds.address), may_download=False)
    metadata = held.wait(Metadata, "7")
    files = [each for each in metadata.files if not each.is_padding]
    assert {each.path: each.size_bytes for each in files} == {
        path: len(content) for path, content in made.files.items()
    }
    assert (metadata.hash_v1, metadata.hash_v2) == (made.hash_v1, made.hash_v2)
    assert (metadata.name, metadata.is_folder) == ("Evil name", made.is_folder)
    assert metadata.size_bytes == sum(map(len, made.files.values()))
    assert metadata.is_private is False


def test_nothing_is_downloaded_before_the_worker_says_so(held, seeds, tmp_path):
    made = torrent("x", LONE)
    seeds.give(made, tmp_path / "given")
    with watching(held.folder("7")) as watch:
        held.add("7", made.magnet(peer=seeds.address), may_download=False)
        held.wait(Metadata, "7")
        held.engine.remove("7")
        held.wait(TorrentGone, "7")
        assert watch.names() == {"metadata.torrent", "metadata.torrent.new"}
    assert seeds.uploaded_bytes(made) == 0


def test_a_magnet_finds_its_peers_by_trackers(held, seeds, tmp_path):
    made = torrent("x", MANY)
    seeds.give(made, tmp_path / "given")
    with serving_http(Tracker(peers=[seeds.address])) as tracker:
        held.add("7", made.magnet(trackers=[tracker.announce]))
        held.wait(Complete, "7")
        assert tracker.was_asked(made.hash_v1)


@pytest.mark.slow
def test_a_magnet_without_responding_peers_stays_at_metadata(held):
    held.add("7", torrent("x", LONE).magnet())
    assert held.wait(Status, "7").phase == "metadata"


@pytest.mark.promise("a hybrid downloads by either hash")
@pytest.mark.slow
def test_a_hybrid_downloads_by_either_hash(held, seeds, tmp_path):
    made = torrent("x", MANY, kind="hybrid")
    seeds.give(made, tmp_path / "given")
    for key, only in (("1", "v1"), ("2", "v2")):
        held.add(key, made.magnet(peer=seeds.address, only=only))
        metadata = held.wait(Metadata, key)
        assert (metadata.hash_v1, metadata.hash_v2) == (made.hash_v1, made.hash_v2)
        held.wait(Complete, key)
        held.engine.remove(key)
        held.wait(TorrentGone, key)


def test_two_magnets_of_one_hybrid_become_the_first(held, seeds, tmp_path):
    made = torrent("x", MANY, kind="hybrid")
    seeds.give(made, tmp_path / "given")
    held.add("1", made.magnet(only="v2"))
    held.add("2", made.magnet(only="v1", peer=seeds.address))
    assert held.wait(TorrentBroken, "2") == TorrentBroken("2", "same_torrent", other="1")
    metadata = held.wait(Metadata, "1")
    assert (metadata.hash_v1, metadata.hash_v2) == (made.hash_v1, made.hash_v2)
    held.engine.remove("2")
    held.wait(TorrentGone, "2")


def test_the_same_torrent_twice_is_refused_by_name_of_the_first(held):
    made = torrent("x", MANY, kind="hybrid")
    held.add("1", made, may_download=False)
    held.wait(Metadata, "1")
    held.add("2", made.magnet(only="v2"))
    assert held.wait(TorrentBroken, "2") == TorrentBroken("2", "same_torrent", other="1")
    held.add("3", made)
    assert held.wait(TorrentBroken, "3") == TorrentBroken("3", "same_torrent", other="1")


def test_a_web_seed_alone_is_enough(held, tmp_path):
    made = torrent("x", LONE)
    made.write(tmp_path / "web")
    with serving_http(WebSeed(folder=tmp_path / "web")) as web:
        metadata = lt.bdecode(made.content) | {b"url-list": f"{web.url}/".encode()}
        held.add("7", replace(made, content=lt.bencode(metadata)))
        held.wait(Complete, "7")
    assert (held.folder("7") / "0").read_bytes() == LONE


@pytest.mark.promise("corrupt pieces are fetched again")
@pytest.mark.slow
def test_corrupt_pieces_are_fetched_again(held, tmp_path):
    """The first of two peers sends wrong data; the files are right all the same."""
    # Use one piece: of several, libtorrent sometimes never requests the second wrong one again.
    made = torrent("x", {("a",): bytes(range(256)) * 9_000}, piece_bytes=2**22)
    false = replace(made, files={("a",): b"lies" * 64 * 9_000})
    with liar(made, false, tmp_path) as lying, seeder() as seeds:
        held.add("7", made.magnet(peer=lying.address, trackers=[]))
        metadata = held.wait(Metadata, "7")
        held.wait(Status, "7", where=lambda _: lying.uploaded_bytes(made) > 0)
        seeds.give(made, tmp_path / "given")
        held.engine.remove("7")
        held.wait(TorrentGone, "7")
        held.add("7", made.magnet(peer=seeds.address))
        held.events.append(metadata)
        held.complete("7", made)


@contextmanager
def liar(made, false, tmp_path):
    with seeder(disable_hash_checks=True, listen_interfaces="127.0.0.2:0") as lying:
        lying.give(made, tmp_path / "lies", content=false)
        yield lying


@pytest.mark.slow
def test_files_of_one_name_all_arrive(held, seeds, tmp_path):
    made = twins()
    seeds.give(made, tmp_path / "given")
    folder = held.add("7", made.magnet(peer=seeds.address))
    assert [each.path for each in held.wait(Metadata, "7").files] == [("a",), ("a",)]
    held.wait(Complete, "7")
    assert [(folder / name).read_bytes()[:5] for name in "01"] == [b"first", b"other"]


def twins():
    """Return a torrent with two files named a; libtorrent renames the second to a.1 by default."""
    files = {("a",): b"first" * 9_000, ("a.1",): b"other" * 9_000}
    listed = [{"length": 45_000, "path": ["a"]}] * 2
    return torrent("x", files, info={"files": listed})
