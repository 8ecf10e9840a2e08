"""The info hash of a torrent file, which may be hostile."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from common.torrent_files import find_info_hash
from tests.cases import each_case
from tests.swarm import torrent

FILES = {("a.mkv",): b"film" * 9999, ("Subs", "en.srt"): b"Hello"}


@each_case("kind", ["v1", "v2", "hybrid"])
def test_it_is_the_hash_that_v1_says(kind):
    made = torrent("Sintel", FILES, kind=kind)
    assert find_info_hash(made.content) == (made.hash_v1 or made.hash_v2[:40])


def test_what_comes_after_the_torrent_does_not_count():
    info = b"d4:name1:a6:pieces0:e"
    document = b"d4:info" + info + b"e" + b"more"
    assert find_info_hash(document) == hashlib.sha1(info).hexdigest()


@each_case(
    "document",
    [
        *(b"", b"d", b"l", b"i", b"d4:info", b"le", b"d4:infoi1e", b"d4:info9:abe", b"d4:infoi"),
        *(b"d-1:ae", b"d4:info-5:ae", b"d 4:infodee", b"d1_0:ae", b"d99999999999999999999:ae"),
        b"d4:info" + b"l" * 100_000,
    ],
)
def test_nothing_is_found_in_what_is_no_torrent(document):
    assert find_info_hash(document) == ""


@given(st.binary(max_size=200))
def test_no_bytes_break_it(document):
    assert len(find_info_hash(b"d4:info" + document)) in (0, 40)
