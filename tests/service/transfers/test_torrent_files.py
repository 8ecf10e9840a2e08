import hashlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import NotATorrent
from service.torrents.engine import metadata
from service.transfers.torrents import bencode, torrent_files
from service.transfers.torrents.torrent_files import Budget
from tests.cases import each_case
from tests.service.builders import a_torrent, bencoded, torrent_info

LEAF = {"length": 100, "pieces root": "r" * 32}


def of_info(info):
    return bencoded({"info": info})


def v2_info(tree):
    return {"name": "Sintel", "meta version": 2, "piece length": 16384, "file tree": tree}


def refused(content):
    with pytest.raises(NotATorrent):
        torrent_files.read(content)
    return True


def test_one_file_is_read():
    torrent = torrent_files.read(a_torrent("Sintel.mp4"))
    assert (torrent.name, torrent.size_bytes) == ("Sintel.mp4", 100)
    assert not torrent.is_folder
    assert not torrent.is_private
    raw = bencoded(torrent_info("Sintel.mp4"))
    assert torrent.info_hash_v1 == hashlib.sha1(raw).hexdigest()
    assert torrent.info_hash_v2 == ""


def test_many_files_are_a_folder():
    torrent = torrent_files.read(a_torrent(files={"a/1": 20_000, "2": 5}))
    assert (torrent.size_bytes, torrent.is_folder) == (20_005, True)


def test_padding_counts_for_nothing():
    info = torrent_info(files={"a": 10})
    info["files"].append({"path": [".pad", "1"], "length": 20_000, "attr": "p"})
    info["pieces"] = b"h" * 40
    assert torrent_files.read(of_info(info)).size_bytes == 10


@each_case(("flag", "is_private"), [(0, False), (1, True), (2, True), ("1", False)])
def test_any_nonzero_flag_means_private_as_in_the_engine(flag, is_private):
    assert torrent_files.read(a_torrent(private=flag)).is_private == is_private


def test_a_private_one_says_so():
    assert torrent_files.read(a_torrent(private=1)).is_private


@each_case(
    ("tree", "is_folder", "size_bytes"),
    [
        ({"Sintel": {"": LEAF}}, False, 100),
        ({"other": {"": LEAF}}, True, 100),
        ({"a": {"1": {"": LEAF}, "2": {"": LEAF}}}, True, 200),
    ],
)
def test_version_2_is_read(tree, is_folder, size_bytes):
    info = v2_info(tree)
    torrent = torrent_files.read(of_info(info))
    assert (torrent.is_folder, torrent.size_bytes) == (is_folder, size_bytes)
    assert torrent.info_hash_v2 == hashlib.sha256(bencoded(info)).hexdigest()
    assert torrent.info_hash_v1 == ""


def test_a_hybrid_has_both_hashes():
    torrent = torrent_files.read(of_info(v2_info({"Sintel": {"": LEAF}}) | torrent_info()))
    assert torrent.info_hash_v1
    assert torrent.info_hash_v2


def test_a_hybrid_whose_trees_differ_is_refused():
    assert refused(of_info(v2_info({"other": {"": LEAF}}) | torrent_info()))


def test_trailing_data_and_unknown_keys_are_ignored():
    assert torrent_files.read(a_torrent() + b"\r\n").name == "Sintel"
    assert torrent_files.read(a_torrent(source="x", unknown=[1, {"a": b"b"}])).name == "Sintel"


def test_a_name_in_an_unknown_encoding_is_still_read():
    assert torrent_files.read(a_torrent().replace(b"6:Sintel", b"6:\xff\xfeabcd")).name.endswith(
        "abcd"
    )


@each_case(
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
        b"d4:infod4:name50:abcdee",
        b"d7:unknownd4:infoee",
        b"d7:unknowndi1e1:aee",
        b"d7:unknowni1",
        b"d7:unknown9:abc",
        b"i1e",
        b"d4:infoi-0ee",
        b"d4:infoi" + b"9" * 10_000 + b"ee",
        b"d4:info" + b"l" * 100_000,
        b"d4:info" + b"d1:a" * 100_000,
        b"d1:ai1e1:ai2ee",
        b"\xff" * 1000,
    ],
)
def test_files_that_are_not_torrents_are_refused(content):
    assert refused(content)


@each_case(
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
    assert torrent_files.read(of_info(torrent_info()))
    assert refused(of_info(torrent_info() | change))


def test_a_torrent_without_a_name_is_refused():
    info = torrent_info()
    del info["name"]
    assert refused(of_info(info))


def test_too_many_bytes_values_or_files_are_refused(monkeypatch):
    assert refused(a_torrent(comment="x" * torrent_files.MOST_BYTES))
    with pytest.raises(NotATorrent):
        torrent_files.read(a_torrent(comment=[[] for _ in range(1000)]), Budget(1000))
    # No setting changes this limit.
    monkeypatch.setattr(torrent_files, "MOST_FILES", 10)
    assert refused(a_torrent(files={str(n): 1 for n in range(11)}))


def test_too_many_values_are_refused_at_the_end_of_a_file_too():
    """Nothing that is read after them would notice."""

    def ending_in(values):
        return a_torrent().removesuffix(b"e") + b"3:zzz" + values + b"e"

    for filler in (b"le", b"i1e", b"1:a"):
        assert torrent_files.read(ending_in(b"l" + filler * 900 + b"e"), Budget(1000))
        with pytest.raises(NotATorrent):
            torrent_files.read(ending_in(b"l" + filler * 1000 + b"e"), Budget(1000))


def test_a_deep_tree_is_read_and_an_endless_one_is_not():
    tree = {"": LEAF}
    for _ in range(250):
        tree = {"d": tree}
    assert torrent_files.read(of_info(v2_info(tree))).is_folder
    assert refused(b"d4:infod9:file tree" + b"d1:a" * 100_000)


def deep_tree(folders, files):
    """Return bencode of many files below many folders: it is short, although its paths aren't."""
    leaves = b"".join(b"6:%06dd0:d6:lengthi1eee" % number for number in range(files))
    tree = b"d1:a" * folders + b"d" + leaves + b"e" * (folders + 1)
    about = b"12:meta versioni2e4:name1:x12:piece lengthi16384e"
    return b"d4:infod9:file tree" + tree + about + b"ee"


@pytest.mark.slow
def test_paths_are_bounded_all_together():
    """The path of each file in a tree repeats the names of all folders above it."""
    assert torrent_files.read(deep_tree(folders=90, files=50_000)).size_bytes == 50_000
    assert refused(deep_tree(folders=280, files=50_000))


def test_a_tree_that_the_engine_refuses_is_refused():
    leaf = bencoded({"": LEAF})
    about = b"12:meta versioni2e4:name1:x12:piece lengthi16384e"

    def of_tree(tree):
        return b"d4:infod9:file tree" + tree + about + b"ee"

    assert torrent_files.read(of_tree(b"d1:a" + leaf + b"1:b" + leaf + b"e")).size_bytes == 200
    for tree in (
        b"d1:b" + leaf + b"1:a" + leaf + b"e",
        b"d1:a" + leaf + b"1:a" + leaf + b"e",
        b"d1:a" + leaf[:-1] + b"1:b" + leaf + b"ee",
    ):
        assert as_the_engine_reads(of_tree(tree)) is None
        assert refused(of_tree(tree))
    assert refused(of_tree(b"d1:a" + leaf + b"1:bdee"))


@given(st.binary(max_size=300))
def test_no_bytes_at_all_raise_anything_else(content):
    for attempt in (content, b"d4:info" + content, b"d4:infod" + content + b"ee"):
        with suppress(NotATorrent):
            torrent_files.read(attempt)


@given(st.integers(0, 200), st.binary(max_size=5))
def test_a_good_torrent_that_was_damaged_raises_nothing_else(at, junk):
    content = a_torrent(files={"a/1": 20_000, "2": 5})
    with suppress(NotATorrent):
        torrent_files.read(content[:at] + junk + content[at + len(junk) :])


VALUES = st.recursive(
    st.integers(-(10**18), 10**18) | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.binary(max_size=4), inner),
    max_leaves=20,
)


@pytest.mark.slow
@given(VALUES, st.binary(max_size=4))
def test_skip_passes_over_exactly_one_value(value, behind):
    written = bencoded(value)
    reader = bencode.BencodeReader(written + behind)
    reader.skip()
    assert reader.at == len(written)
    with pytest.raises(NotATorrent):
        bencode.BencodeReader(written[:-1]).skip()


PIECE_BYTES = 16384
COMPONENTS = st.binary(min_size=1, max_size=4) | st.sampled_from([b"..", b"a/b", b"a\0b", b"\xff"])
SIZES = st.integers(0, 3 * PIECE_BYTES)
LEAVES = SIZES.map(lambda size: {b"": {b"length": size, b"pieces root": b"r" * 32}})
TREES = st.dictionaries(
    COMPONENTS,
    st.recursive(LEAVES, lambda inner: st.dictionaries(COMPONENTS, inner, min_size=1, max_size=2)),
    min_size=1,
    max_size=3,
)
LISTED = st.lists(
    st.fixed_dictionaries(
        {b"length": SIZES, b"path": st.lists(COMPONENTS, min_size=1, max_size=3)},
        optional={b"attr": st.sampled_from([b"p", b"x", b"l", b""])},
    ),
    min_size=1,
    max_size=4,
)
COMMON = st.fixed_dictionaries(
    {b"name": COMPONENTS, b"piece length": st.just(PIECE_BYTES)},
    optional={b"private": st.sampled_from([1, 0, 2, -1, b"1"]), b"name.utf-8": COMPONENTS},
)
V1 = st.one_of(
    SIZES.map(lambda size: {b"length": size}), LISTED.map(lambda parts: {b"files": parts})
)
V2 = TREES.map(lambda tree: {b"meta version": 2, b"file tree": tree})


def with_pieces(info):
    total = info.get(b"length", 0) + sum(part[b"length"] for part in info.get(b"files", []))
    return info | {b"pieces": b"h" * 20 * -(-total // PIECE_BYTES)}


def as_the_engine_reads(content):
    with suppress(metadata.MetadataRefused):
        return metadata.metadata_of("1", metadata.params_of(content).ti)


@settings(max_examples=200)
@given(st.builds(dict.__or__, COMMON, st.one_of(V1.map(with_pieces), V2)))
def test_ferry_and_the_engine_read_torrents_alike(info):
    """Otherwise, a transfer could get another torrent, or a private torrent pass for public."""
    theirs = as_the_engine_reads(content := of_info(info))
    with suppress(NotATorrent):
        ours = torrent_files.read(content)
        if theirs is not None:
            assert (ours.info_hash_v1, ours.info_hash_v2) == (theirs.hash_v1, theirs.hash_v2)
            assert (ours.name, ours.size_bytes) == (theirs.name, theirs.size_bytes)
            assert (ours.is_private, ours.is_folder) == (theirs.is_private, theirs.is_folder)
        return
    assert theirs is None


def test_the_engine_reads_what_is_made_here():
    info = with_pieces({b"name": b"a", b"piece length": PIECE_BYTES, b"length": 5})
    assert as_the_engine_reads(of_info(info)).size_bytes == 5
