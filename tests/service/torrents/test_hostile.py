"""Hostile torrents: refused with a reason, or handled."""

import os
import tracemalloc
from pathlib import Path

import libtorrent as lt
import pytest

from service.torrents.engine import metadata, params
from service.torrents.events import Complete, Metadata, TorrentBroken
from service.torrents.orders import Order
from tests.cases import each_case
from tests.service.torrents.holding import LOOPBACK
from tests.swarm import bencode, in_order, torrent

PAYLOAD = bytes(range(256)) * 300
CONTENT = {("a",): PAYLOAD, ("z",): b""}
GOOD = torrent("x", CONTENT)


def changed(what=GOOD, **info):
    document = lt.bdecode(what.content)
    document[b"info"] |= {key.replace("_", " ").encode(): value for key, value in info.items()}
    return bencode(in_order(document))


def listed(*paths, length=1, **more):
    return [
        {b"length": length, b"path": [os.fsencode(part) for part in path], **more} for path in paths
    ]


def pieces(size):
    return bytes(20 * -(-size // 32768))


def tree_of_another():
    """Return a hybrid torrent whose two trees differ in a name."""
    hybrid = torrent("x", {("a",): PAYLOAD, ("b",): PAYLOAD}, kind="hybrid")
    document = lt.bdecode(hybrid.content)
    document[b"info"][b"files"][0][b"path"] = [b"evil"]
    return bencode(in_order(document))


def sizes_of_another():
    hybrid = torrent("x", {("a",): PAYLOAD, ("b",): PAYLOAD}, kind="hybrid")
    document = lt.bdecode(hybrid.content)
    document[b"info"][b"file tree"][b"b"][b""][b"length"] = len(PAYLOAD) - 1
    return bencode(in_order(document))


REFUSED = {
    "nothing": (lambda: b"", "not_a_torrent"),
    "no bencode": (lambda: b"<html>", "not_a_torrent"),
    "half a torrent": (lambda: GOOD.content[:-20], "not_a_torrent"),
    "nested 100,000 deep": (lambda: b"d4:info" + b"l" * 100_000 + b"e" * 100_001, "not_a_torrent"),
    "an integer of 10,000 digits": (lambda: b"d4:infoi" + b"9" * 10_000 + b"ee", "not_a_torrent"),
    "a length of 4 GB": (lambda: b"d4:info4000000000:x", "not_a_torrent"),
    "zero pieces": (lambda: changed(pieces=b""), "not_a_torrent"),
    "pieces of no length": (lambda: changed(piece_length=0), "not_a_torrent"),
    "a negative size": (lambda: changed(files=listed(["a"], length=-5)), "not_a_torrent"),
    "no files": (lambda: changed(files=[], pieces=b""), "not_a_torrent"),
    "only empty files": (
        lambda: changed(files=listed(["a"], length=0), pieces=b""),
        "not_a_torrent",
    ),
    "trees that differ in a name": (tree_of_another, "not_a_torrent"),
    "trees that differ in a size": (sizes_of_another, "not_a_torrent"),
    "more files than can be": (
        lambda: changed(
            files=listed(*([str(at)] for at in range(100_001))), pieces=pieces(100_001)
        ),
        "too_large",
    ),
    "names without end": (
        lambda: changed(files=listed(["x" * 70_000], length=5), pieces=pieces(5)),
        "invalid_torrent",
    ),
    "one path of 100,000 names": (
        lambda: changed(files=listed(["x"] * 100_000, length=5), pieces=pieces(5)),
        "not_a_torrent",
    ),
}


@pytest.mark.promise("a hostile torrent is refused")
@pytest.mark.slow
@each_case("what", list(REFUSED))
def test_a_hostile_torrent_is_refused_with_a_word(held, what):
    make, word = REFUSED[what]
    folder = held.folder("7")
    (folder / "metadata.torrent").write_bytes(make())
    held.add("7", "")
    assert held.wait(TorrentBroken, "7").word == word
    assert [each.name for each in folder.iterdir()] == ["metadata.torrent"]
    held.add("8", GOOD, may_download=False)
    held.wait(Metadata, "8")


@each_case(
    ("make", "word"),
    [
        (lambda: metadata.params_of(bytes(metadata.LARGEST_METADATA_BYTES + 1)), "too_large"),
        (lambda: metadata.dictionary([b"no", b"dictionary"]), "invalid_torrent"),
        (lambda: list(metadata.read_paths({b"files": [b"no dictionary"]})), "invalid_torrent"),
    ],
)
def test_what_the_bounds_of_libtorrent_let_through_is_refused(make, word):
    with pytest.raises(metadata.MetadataRefused) as refusal:
        make()
    assert refusal.value.word == word


NAMES = {
    "climbs": ["..", "..", "etc", "passwd"],
    "is absolute": ["/etc/passwd"],
    "has a backslash": ["..\\..\\x"],
    "has a dot": ["."],
    "has a zero": ["a\0b"],
    "has control characters": ["a\nb\x1b[2J"],
    "has 300 letters": ["x" * 300],
    "is a device of others": ["CON"],
    "is an option": ["-rf"],
    "is a protocol": ["concat:a|b"],
    "is no UTF-8": ["\udcff\udcfe"],
    "is deep": ["d"] * 50,
}


@each_case("what", list(NAMES))
def test_an_escaping_name_is_reported_and_never_used(held, what):
    path = NAMES[what]
    content = changed(files=listed(path, length=len(PAYLOAD)))
    folder = held.folder("7")
    (folder / "metadata.torrent").write_bytes(content)
    held.add("7", "", may_download=False)
    (only,) = held.wait(Metadata, "7").files
    assert only.path == tuple(os.fsencode(part).decode(errors="replace") for part in path)
    held.engine.proceed("7")
    assert sorted(each.name for each in folder.iterdir()) in (
        ["metadata.torrent"],
        ["0", "metadata.torrent"],
    )


@pytest.mark.promise("no torrent makes a symlink")
@pytest.mark.slow
def test_a_symlink_is_never_made(held, seeds, tmp_path):
    link = {b"length": 0, b"path": [b"z"], b"attr": b"l", b"symlink path": [b"..", b"..", b"etc"]}
    made = torrent("x", CONTENT, info={"files": [{"length": len(PAYLOAD), "path": ["a"]}, link]})
    seeds.give(made, tmp_path / "given links", content=torrent("x", {("a",): PAYLOAD}))
    folder = held.add("7", made.magnet(peer=seeds.address))
    assert [each.is_symlink for each in held.wait(Metadata, "7").files] == [False, True]
    held.wait(Complete, "7")
    assert {each.name for each in folder.iterdir()}.isdisjoint({"1", "z"})
    assert not any(each.is_symlink() for each in folder.iterdir())


@pytest.mark.slow
def test_padding_is_never_written(held, seeds, tmp_path):
    made = torrent("x", {("a",): PAYLOAD, ("b",): PAYLOAD}, kind="hybrid")
    seeds.give(made, tmp_path / "given")
    folder = held.add("7", made.magnet(peer=seeds.address))
    files = held.wait(Metadata, "7").files
    padding = [str(each.index) for each in files if each.is_padding]
    assert padding == ["1"]
    held.wait(Complete, "7")
    assert not (folder / "1").exists()


@pytest.mark.slow
def test_a_hundred_thousand_files_arrive(own):
    """The engine's memory use stays small."""
    many = {(f"{number:06}",): b"" for number in range(99_999)} | {("z",): PAYLOAD}
    made = torrent("x", many)
    folder = own.folder("7")
    (folder / "metadata.torrent").write_bytes(made.content)
    (folder / "99999").write_bytes(PAYLOAD)
    own.add("7", "")
    assert len(own.wait(Metadata, "7").files) == 100_000
    own.wait(Complete, "7")
    assert len(list(folder.iterdir())) >= 100_000
    assert peak_megabytes(own.engine.pid) < 600


def test_metadata_of_two_gigabytes_is_not_read(own):
    folder = own.folder("7")
    with (folder / "metadata.torrent").open("wb") as file:
        file.write(b"d4:info2000000000:")
        file.truncate(2_000_000_100)
    own.add("7", "")
    assert own.wait(TorrentBroken, "7").word == "too_large"
    assert peak_megabytes(own.engine.pid) < 300


def test_many_trackers_are_cut_to_a_bearable_number(held):
    trackers = "&".join(f"tr=http%3A%2F%2F127.0.0.1%3A1%2Fannounce%3F{n}" for n in range(2_000))
    held.add("7", f"{GOOD.magnet()}&{trackers}"[:60_000])
    held.add("8", torrent("y", PAYLOAD), may_download=False)
    held.wait(Metadata, "8")


@pytest.mark.slow
def test_only_a_few_of_many_trackers_and_web_seeds_are_read(tmp_path, monkeypatch):
    looked_at = []
    # Nothing else shows how many URLs were checked; the time taken would be a guess.
    monkeypatch.setattr(params, "is_usable", lambda url, *_, **__: looked_at.append(url))
    many = [f"http://10.0.0.1/{number}" for number in range(50_000)]
    made = torrent("x", PAYLOAD, **{"announce-list": [[each] for each in many], "url-list": many})
    (tmp_path / "metadata.torrent").write_bytes(made.content)
    params.loading(Order("7", str(tmp_path)), LOOPBACK, [])
    assert len(looked_at) == 2 * params.MOST_JUDGED


def test_a_malformed_magnet_is_refused(held):
    held.add("7", "magnet:?xt=urn:btih:nonsense")
    assert held.wait(TorrentBroken, "7").word == "invalid_torrent"


def peak_megabytes(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return (
        int(next(each for each in status.splitlines() if each.startswith("VmHWM")).split()[1])
        / 1024
    )


def wide_tree(levels, files):
    tree = {b"%d" % number: {b"": {b"length": 1}} for number in range(files)}
    for _ in range(levels):
        tree = {b"a" * 50: tree}
    return {b"file tree": tree}


def test_the_paths_of_a_wide_tree_are_yielded_one_at_a_time():
    info = wide_tree(levels=90, files=100_000)
    tracemalloc.start()
    try:
        path, size = next(metadata.read_paths(info))
        assert (len(path), path[-1], size) == (91, "0", 1)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_paths_that_are_too_long_all_together_are_refused():
    assert len(list(metadata.read_paths(wide_tree(levels=4, files=100_000)))) == 100_000
    with pytest.raises(metadata.MetadataRefused):
        list(metadata.read_paths(wide_tree(levels=90, files=100_000)))
