import tracemalloc
from itertools import chain, repeat

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from common.http.multipart import MOST_PADDING_BYTES, MalformedBody, parts
from tests.cases import each_case

HEAD = b'--q\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
END = b"\r\n--q--\r\n"


class Split:
    """A body that arrives in the given pieces, whatever size is requested."""

    def __init__(self, pieces) -> None:
        self.pieces = iter(pieces)

    def read(self, size: int, /) -> bytes:
        return next(self.pieces, b"")


def contents(*pieces: bytes, boundary: str = "q") -> list[bytes]:
    return [b"".join(part.content) for part in parts(Split(pieces), boundary)]


def cut(body: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % len(body) for place in places} - {0})
    return [body[start:end] for start, end in zip([0, *ends], [*ends, len(body)], strict=True)]


NEARLY = st.lists(
    st.sampled_from([b"\r", b"\n", b"-", b"--", b"q", b"--q", b"--q--", b" ", b"x", b"\r\n--"])
).map(b"".join)


@given(st.binary() | NEARLY, st.lists(st.integers(0, 10_000)))
@example(b"abc--q\r\nmore", [])
@example(b"--q\r\n", [])
def test_any_content_survives_unchanged(content, places):
    assume(b"\r\n--q" not in content)
    body = HEAD + content + END
    assert contents(*cut(body, places)) == [content]


def test_chunk_boundaries_do_not_matter():
    content = b"abc--q\r\nmore\r\n--qx\r\n--q x"
    body = b"preamble\r\n" + HEAD + content + b"\r\n" + HEAD + END + b"epilogue"
    assert contents(*(body[at : at + 1] for at in range(len(body)))) == [content, b""]
    for at in range(1, len(body)):
        assert contents(body[:at], body[at:]) == [content, b""]


@each_case("encoding", ["utf-8", "latin-1"])
def test_names_and_values_are_utf_8_or_latin_1(encoding):
    head = 'Content-Disposition: form-data; name="schön"; filename="süß.txt"\r\n\r\nGrüße'
    part = next(parts(Split([b"--q\r\n", head.encode(encoding), END]), "q"))
    assert (part.name, part.file_name, part.text(100)) == ("schön", "süß.txt", "Grüße")


@each_case("end", [b"--", b"--\r\n", b"-- x", b"\r\n\r\n\r\n--q--", b" \t\r\n\r\n\r\n--q--"])
def test_a_boundary_line_ends_a_part(end):
    assert contents(HEAD + b"abc\r\n--q" + end) == [b"abc"]


@each_case("rest", [b"x\r\n", b"-\r\n", b" x\r\n", b"\n", b"\r", b" " * 1000 + b"\r\n"])
def test_a_line_with_more_in_it_is_content(rest):
    content = b"abc\r\n--q" + rest
    assert contents(HEAD + content + END) == [content]


def test_the_longest_padding_may_come_in_pieces():
    body = HEAD + b"abc\r\n--q" + b" " * MOST_PADDING_BYTES + b"\r\n\r\n" + END
    for at in range(len(HEAD), len(body)):
        assert contents(body[:at], body[at:]) == [b"abc"]


@each_case("boundary", ["q--", "a.b", "(q", "-" * 200])
def test_any_boundary_is_taken_by_its_letters(boundary):
    mark = b"--" + boundary.encode()
    content = b"\r\n--axb\r\n--q"
    body = HEAD.replace(b"--q", mark) + content + b"\r\n" + mark + b"--"
    assert contents(body, boundary=boundary) == [content]


@each_case("boundary", ["", "q ", "é", "q" * 202, "q\n"])
def test_invalid_boundaries_are_refused(boundary):
    with pytest.raises(MalformedBody):
        contents(HEAD + END, boundary=boundary)


@each_case("body", [HEAD, HEAD + b"abc", HEAD + b"abc\r\n--q", HEAD + b"\r\n--q\r\n"])
def test_a_body_without_an_end_is_refused(body):
    with pytest.raises(MalformedBody):
        contents(body)


def test_a_file_of_any_size_takes_the_same_memory():
    pieces = chain([HEAD], repeat(b"\r\n--" * 2**14, 500), [END])
    tracemalloc.start()
    size = sum(len(piece) for part in parts(Split(pieces), "q") for piece in part.content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 500 * 2**16
    assert peak < 2**20
