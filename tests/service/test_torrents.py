import hashlib
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import bencode, torrents
from service.errors import NotATorrent
from tests.service.builders import a_torrent, bencoded, torrent_info

LEAF = {"length": 100, "pieces root": "r" * 32}


def of_info(info):
    return bencoded({"info": info})


def v2_info(tree, name="Sintel"):
    return {"name": name, "meta version": 2, "piece length": 16384, "file tree": tree}


def refused(content):
    with pytest.raises(NotATorrent):
        torrents.read(content)
    return True


def test_one_file_is_read():
    torrent = torrents.read(a_torrent("Sintel.mp4"))
    assert (torrent.name, torrent.size_bytes, torrent.file_count) == ("Sintel.mp4", 100, 1)
    assert not torrent.is_folder
    assert not torrent.is_private
    raw = bencoded(torrent_info("Sintel.mp4"))
    assert torrent.info_hash_v1 == hashlib.sha1(raw).hexdigest()
    assert torrent.info_hash_v2 == ""


def test_many_files_are_a_folder():
    torrent = torrents.read(a_torrent(files={"a/1": 20_000, "2": 5}))
    assert (torrent.size_bytes, torrent.file_count, torrent.is_folder) == (20_005, 2, True)


def test_padding_counts_for_nothing():
    info = torrent_info(files={"a": 10})
    info["files"].append({"path": [".pad", "1"], "length": 20_000, "attr": "p"})
    info["pieces"] = b"h" * 40
    torrent = torrents.read(of_info(info))
    assert (torrent.size_bytes, torrent.file_count) == (10, 1)


def test_a_private_one_says_so():
    assert torrents.read(a_torrent(private=1)).is_private


@pytest.mark.parametrize(
    ("tree", "is_folder", "size_bytes"),
    [
        ({"Sintel": {"": LEAF}}, False, 100),
        ({"other": {"": LEAF}}, True, 100),
        ({"a": {"1": {"": LEAF}, "2": {"": LEAF}}}, True, 200),
    ],
)
def test_version_2_is_read(tree, is_folder, size_bytes):
    info = v2_info(tree)
    torrent = torrents.read(of_info(info))
    assert (torrent.is_folder, torrent.size_bytes) == (is_folder, size_bytes)
    assert torrent.info_hash_v2 == hashlib.sha256(bencoded(info)).hexdigest()
    assert torrent.info_hash_v1 == ""


def test_a_hybrid_has_both_hashes():
    torrent = torrents.read(of_info(v2_info({"Sintel": {"": LEAF}}) | torrent_info()))
    assert torrent.info_hash_v1
    assert torrent.info_hash_v2


def test_a_hybrid_whose_trees_differ_is_refused():
    assert refused(of_info(v2_info({"other": {"": LEAF}}) | torrent_info()))


def test_what_follows_and_what_is_unknown_does_not_matter():
    assert torrents.read(a_torrent() + b"\r\n").name == "Sintel"
    assert torrents.read(a_torrent(source="x", unknown=[1, {"a": b"b"}])).name == "Sintel"


def test_a_name_in_no_known_alphabet_is_read_somehow():
    assert torrents.read(a_torrent().replace(b"6:Sintel", b"6:\xff\xfeabcd")).name.endswith("abcd")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"d",
        b"de",
        b"le",
        b"<html>",
        b"d4:infoi1ee",
        b"d4:infode",
        b"d4:infodee",
        b"d4:info99999999999:",
        b"d4:info9999999999:x",
        b"i1e",
        b"d4:infoi-0ee",
        b"d4:infoi" + b"9" * 10_000 + b"ee",
        b"d4:info" + b"l" * 100_000,
        b"d4:info" + b"d1:a" * 100_000,
        b"d1:ai1e1:ai2ee",
        b"\xff" * 1000,
    ],
)
def test_what_is_no_torrent_is_refused(content):
    assert refused(content)


@pytest.mark.parametrize(
    "change",
    [
        {"pieces": b""},
        {"pieces": b"h" * 19},
        {"pieces": b"h" * 40},
        {"pieces": []},
        {"piece length": 0},
        {"piece length": -1},
        {"length": -1},
        {"length": 0},
        {"length": 2**60},
        {"length": b"1"},
        {"name": 1},
        {"files": []},
        {"files": {}},
        {"files": [1]},
        {"files": [{"length": 100}]},
        {"files": [{"length": 100, "path": []}]},
        {"files": [{"length": 100, "path": [1]}]},
        {"files": [{"length": 100, "path": b"a"}]},
    ],
)
def test_a_torrent_that_contradicts_itself_is_refused(change):
    assert torrents.read(of_info(torrent_info()))
    assert refused(of_info(torrent_info() | change))


def test_one_without_a_name_is_refused():
    info = torrent_info()
    del info["name"]
    assert refused(of_info(info))


def test_too_many_bytes_values_or_files_are_refused(monkeypatch):
    assert refused(a_torrent(comment="x" * torrents.MOST_BYTES))
    monkeypatch.setattr(bencode, "MOST_VALUES", 1000)
    assert refused(a_torrent(comment=[[] for _ in range(1000)]))
    monkeypatch.setattr(torrents, "MOST_FILES", 10)
    assert refused(a_torrent(files={str(n): 1 for n in range(11)}))


def test_depth_stays_far_from_where_python_gives_up():
    assert sys.getrecursionlimit() * 0.7 > bencode.DEEPEST * 2
    tree = {"": LEAF}
    for _ in range(250):
        tree = {"d": tree}
    assert torrents.read(of_info(v2_info(tree))).is_folder


@given(st.binary(max_size=300))
def test_no_bytes_at_all_raise_anything_else(content):
    for attempt in (content, b"d4:info" + content, b"d4:infod" + content + b"ee"):
        with suppress(NotATorrent):
            torrents.read(attempt)


@given(st.integers(0, 200), st.binary(max_size=5))
def test_a_good_torrent_that_was_damaged_raises_nothing_else(at, junk):
    content = a_torrent(files={"a/1": 20_000, "2": 5})
    with suppress(NotATorrent):
        torrents.read(content[:at] + junk + content[at + len(junk) :])
