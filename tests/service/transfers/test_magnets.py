import base64
import time
from contextlib import suppress
from urllib.parse import urlencode

import libtorrent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BadMagnet
from service.transfers.torrents import magnets
from tests.cases import each_case

HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"


def test_a_plain_magnet_is_read():
    magnet = magnets.read(f"magnet:?xt=urn:btih:{HASH}&dn=Sintel+the%20film&xl=129302391")
    assert (magnet.info_hash_v1, magnet.info_hash_v2) == (HASH, "")
    assert (magnet.name, magnet.size_bytes) == ("Sintel the film", 129302391)


@each_case(
    "uri",
    [
        f"magnet:?xt=urn:btih:{HASH.upper()}",
        f"MAGNET:?XT=urn:btih:{HASH}",
        f"  magnet:?xt=urn:btih:{HASH}\n",
        f"magnet:?dn=x&xt.1=urn:btih:{HASH}",
        f"magnet:?xt=urn%3Abtih%3A{HASH}",
        f"magnet:?xt=urn:sha1:ABC&xt=urn:btih:{HASH}",
        "magnet:?xt=urn:btih:" + base64.b32encode(bytes.fromhex(HASH)).decode(),
        "magnet:?xt=urn:btih:" + base64.b32encode(bytes.fromhex(HASH)).decode().lower(),
    ],
)
def test_every_spelling_of_a_hash_is_the_same(uri):
    assert magnets.read(uri).info_hash_v1 == HASH


def test_a_hybrid_has_both_hashes():
    magnet = magnets.read(f"magnet:?xt=urn:btih:{HASH}&xt=urn:btmh:1220{'b' * 64}")
    assert (magnet.info_hash_v1, magnet.info_hash_v2) == (HASH, "b" * 64)
    assert magnets.read(magnets.link(HASH, "b" * 64)) == magnet


@each_case(
    "uri",
    [
        "",
        "magnet:",
        "magnet:?dn=Sintel",
        "magnet:?xt=urn:btih:abc",
        f"magnet:?xt=urn:btih:{HASH}0",
        f"magnet:?xt=urn:btih:{HASH[:-1]}g",
        "magnet:?xt=urn:btmh:1220abc",
        f"magnet:?xt=urn:btih:{'0' * 40}",
        f"magnet:?xt=urn:btih:{'A' * 32}",
        f"magnet:?xt=urn:btmh:1220{'0' * 64}",
        f"magnet:?xt=urn:btih:{HASH}&dn=a\0b",
        f"http://example.org/?xt=urn:btih:{HASH}",
        f"magnet:?xt=urn:btih:{HASH}" + "&tr=udp://t" * 10_000,
        f"magnet:?xt=urn:btih:{HASH}" + "&a=b" * 1_001,
    ],
)
def test_malformed_magnets_are_refused(uri):
    with pytest.raises(BadMagnet):
        magnets.read(uri)


@each_case("size", ["-1", "1e9", "９", "1" * 30, ""])
def test_an_absurd_size_is_not_believed(size):
    assert magnets.read(f"magnet:?xt=urn:btih:{HASH}&xl={size}").size_bytes == 0


HASHES = st.binary(min_size=20, max_size=20)
SPELLED = st.one_of(
    HASHES.map(lambda each: f"urn:btih:{each.hex()}"),
    HASHES.map(lambda each: f"urn:btih:{each.hex().upper()}"),
    HASHES.map(lambda each: f"urn:btih:{base64.b32encode(each).decode()}"),
    st.binary(min_size=32, max_size=32).map(lambda each: f"urn:btmh:1220{each.hex()}"),
    st.sampled_from(["urn:sha1:abc", "urn:btih:abc", "", "javascript:alert(1)"]),
)
FIELDS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["xt", "xt.1"]), SPELLED),
        st.tuples(st.sampled_from(["dn", "tr", "ws", "xl", "x.pe"]), st.text(max_size=20)),
    ),
    max_size=6,
)


@given(st.text(max_size=80))
def test_any_text_is_a_magnet_or_none(text):
    for uri in (text, f"magnet:?{text}", f"magnet:?xt=urn:btih:{HASH}&{text}"):
        with suppress(BadMagnet):
            found = magnets.read(uri)
            assert magnets.read(magnets.link(found.info_hash_v1, found.info_hash_v2))


@given(FIELDS)
def test_the_engine_takes_a_magnet_for_the_same_torrent(fields):
    """Otherwise, the engine would look up another torrent than the requested one."""
    uri = "magnet:?" + urlencode(fields, errors="replace")
    try:
        ours = magnets.read(uri)
    except BadMagnet:
        return
    theirs = libtorrent.parse_magnet_uri(
        magnets.link(ours.info_hash_v1, ours.info_hash_v2)
    ).info_hashes
    assert ours.info_hash_v1 == (str(theirs.v1) if theirs.has_v1() else "")
    assert ours.info_hash_v2 == (str(theirs.v2) if theirs.has_v2() else "")


@each_case(
    ("so", "chosen"),
    [
        ("0,2,4-6", {0, 2, 4, 5, 6}),
        ("0%2C2", {0, 2}),
        ("2-3,3,2-2", {2, 3}),
        ("8-999999999", {8, 9}),
        ("0&so=3", {0, 3}),
        ("12", set()),
        ("-1,x,1-,3,1-2-3,٣", {3}),
        ("3-1", set()),
        ("", set()),
    ],
)
def test_a_link_may_choose_files(so, chosen):
    assert magnets.chosen_files(f"magnet:?xt=urn:btih:{HASH}&so={so}", 10) == chosen


def test_ten_thousand_ranges_take_no_time():
    uri = f"magnet:?xt=urn:btih:{HASH}&so={','.join(['0-999999999'] * 10_000)}"
    assert len(uri) > magnets.LONGEST
    started = time.thread_time()
    assert magnets.chosen_files(uri, 100_000) == set(range(100_000))
    assert time.thread_time() - started < 2


def test_without_a_choice_there_is_none():
    assert magnets.chosen_files(f"magnet:?xt=urn:btih:{HASH}", 10) == set()
    assert magnets.chosen_files("http://example.org/?so=1", 10) == set()
