"""Parsing of pasted text, line by line."""

import time
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from webui.add import parse
from webui.add.parse import AddressItem, MagnetItem, UnreadableItem, add_name, parse_lines, read

HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"
MAGNET = f"magnet:?xt=urn:btih:{HASH}"


def one(text):
    (item,) = read(text)
    return item


def why(text):
    item = one(text)
    assert isinstance(item, UnreadableItem)
    return item.why


def test_a_magnet_tells_its_name_size_and_trackers():
    item = one(f"{MAGNET}&dn=Three+Men&xl=182000000&tr=udp%3A%2F%2Fa&tr=udp%3A%2F%2Fb&tr.1=c")
    assert isinstance(item, MagnetItem)
    assert (item.name, item.info_hash) == ("Three Men", HASH)
    assert (item.size_bytes, item.tracker_count) == (182_000_000, 3)


def test_a_magnet_without_a_name_is_called_by_its_hash():
    assert one(MAGNET).name == HASH


@each_case(
    "topic",
    [
        f"urn:btih:{HASH.upper()}",
        "urn:btih:BCW2LJ5GDA5K4HQJ3AY56Z2I2VTASWQQ",
        f"urn:btmh:1220{HASH}{'0' * 24}",
        f"URN%3ABTIH%3A{HASH}",
    ],
)
def test_every_spelling_of_a_hash_is_read(topic):
    assert one(f"magnet:?xt={topic}").info_hash == HASH


def test_a_bare_hash_is_a_magnet():
    assert one(HASH).uri == MAGNET


def test_several_lines_are_several_items_in_their_order():
    items = read(f"{MAGNET}\r\n\nhttps://a.example/x.iso\r  nothing  ")
    assert [type(item) for item in items] == [MagnetItem, AddressItem, UnreadableItem]


def test_lines_that_are_not_links_have_their_line_number():
    items = read(f"one\r\n\n{MAGNET} {MAGNET}\nfour\none")
    bad = [item for item in items if isinstance(item, UnreadableItem)]
    assert [(item.line, item.line_number) for item in bad] == [("one", 1), ("four", 4)]


def test_equal_links_count_once_in_any_spelling():
    upper = MAGNET.replace(HASH, HASH.upper())
    assert len(read(f"{MAGNET}&dn=a\n{upper}&dn=b\nhttp://a.example/\nhttp://a.example/")) == 2


def test_links_are_found_in_prose_and_markup():
    text = f'Look: (https://a.example/x_(1).iso), or <a href="{MAGNET}&amp;dn=a">magnet</a>'
    address, magnet = read(text)
    assert address.url == "https://a.example/x_(1).iso"
    assert (magnet.info_hash, magnet.name) == (HASH, "a")


def test_a_name_with_bare_blanks_stays_whole():
    item = one(f"{MAGNET}&dn=Three Men in a Boat&tr=udp://a")
    assert item.name == "Three Men in a Boat"
    assert " " not in item.uri


def test_an_address_within_a_magnet_is_part_of_it():
    assert one(f"{MAGNET}&ws=http://a.example/x").uri.endswith("&ws=http://a.example/x")


@each_case(
    ("text", "word"),
    [
        ("magnet:?dn=Nothing", "no_hash"),
        ("magnet:?xt=urn:btih:0123", "no_hash"),
        (f"magnet:?xt=urn:btih:{'0' * 40}", "no_hash"),
        ("magnet:", "no_hash"),
        ("javascript:alert(1)", "other_scheme"),
        ("data:text/html,x", "other_scheme"),
        ("file:///etc/passwd", "other_scheme"),
        ("ftp://a.example/x", "other_scheme"),
        ("Three Men in a Boat", "no_link"),
        ("a.example/x", "no_link"),
        ("http://[::1", "no_address"),
        ("http:///x", "no_address"),
        ("http://a.example:port/", "no_address"),
        ("http://a\\@b.example/", "control_characters"),
        (f"{MAGNET}&dn=a\x00b", "control_characters"),
        ("http://me:secret@a.example/", "has_password"),
        ("http://a.example/" + "x" * 8000, "too_long"),
        (f"{MAGNET}&dn=" + "x" * 70_000, "too_long"),
    ],
)
def test_lines_that_are_not_links_say_why(text, word):
    assert why(text) == word


@each_case("name", ["<img src=x onerror=alert(1)>", "a\u202egpj.exe", "'\"--"])
def test_names_stay_unchanged(name):
    assert one(f"{MAGNET}&dn={quote(name)}").name == name


def test_ten_thousand_trackers_are_counted_and_not_sent():
    trackers = "&".join(f"tr=udp://t{number}.example:80/announce" for number in range(10_000))
    item = one(f"{MAGNET}&{trackers}&dn=a&xl=5")
    assert item.tracker_count == 10_000
    sent = parse_qs(item.uri.partition("?")[2])
    assert len(sent["tr"]) == parse.MOST_TRACKERS
    assert (sent["dn"], sent["xl"]) == (["a"], ["5"])
    assert len(item.uri) < parse.LONGEST_MAGNET


def test_lines_beyond_the_limit_stay_unchanged():
    text = "\n".join(f"magnet:?xt=urn:btih:{number:040x}" for number in range(10_050))
    found = parse_lines(text)
    assert len(found.items) == 10_000
    assert found.rest.splitlines()[0] == f"magnet:?xt=urn:btih:{10_000:040x}"
    assert len(found.rest.splitlines()) == 50


def test_links_in_one_line_are_bounded_too():
    found = parse_lines(" ".join(f"http://a.example/{number}" for number in range(10_050)))
    assert len(found.items) == 10_000
    assert found.rest.splitlines()[-1] == "http://a.example/10049"


@pytest.mark.slow
@each_case(
    "text",
    [
        "x" * parse.MOST_BYTES,
        "http://" * (parse.MOST_BYTES // 7),
        "magnet:?" + "&" * (parse.MOST_BYTES - 8),
        f"{MAGNET}&" + "tr=a&" * (parse.MOST_BYTES // 5),
        " http://a.example/" * (parse.MOST_BYTES // 18),
        "(" * parse.MOST_BYTES,
        "http://a.example/" + ")" * 10_000_000,
        "\n" * parse.MOST_BYTES,
    ],
)
def test_ten_megabytes_take_a_moment(text):
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < 5


def test_a_title_names_a_magnet_that_has_no_name():
    assert add_name(one(MAGNET), " Three Men & a Boat ").name == "Three Men & a Boat"
    assert add_name(one(f"{MAGNET}&dn=Own"), "Other").name == "Own"
    address = one("http://a.example/x")
    assert add_name(address, "Other") is address


@given(st.text())
def test_any_text_is_read(text):
    for item in read(text):
        if isinstance(item, MagnetItem):
            assert len(item.info_hash) == 40
            assert not parse.UNSEEN.search(item.uri)
        elif isinstance(item, AddressItem):
            assert item.url.lower().startswith(("http://", "https://"))
            assert item.host


LINKISH = st.lists(
    st.sampled_from(
        ["magnet:?", "xt=", f"urn:btih:{HASH}", "&", "dn=", "http://", "a.example", "/"]
    )
    | st.text(max_size=3)
).map("".join)


@given(LINKISH)
def test_parsing_is_idempotent(text):
    """Lines that weren't sent go back into the field, and are parsed again."""
    items = read(text)
    again = read("\n".join(item.line for item in items))
    assert [type(item) for item in again] == [type(item) for item in items]
    assert [parse.key_of(item) for item in again] == [parse.key_of(item) for item in items]
