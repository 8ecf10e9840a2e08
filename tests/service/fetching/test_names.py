import time

import httpx
from hypothesis import given
from hypothesis import strategies as st

from common.http.content_disposition import name_in
from service.fetching.http.names import MOST_CHARACTERS, name_of
from tests.cases import each_case


def name(disposition=None, url="http://a.example/b/c.txt", **headers):
    raw = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    if disposition is not None:
        value = disposition if isinstance(disposition, bytes) else disposition.encode()
        raw.append((b"Content-Disposition", value))
    return name_of(httpx.Headers(raw), httpx.URL(url))


@each_case(
    ("disposition", "expected"),
    [
        ("attachment; filename=film.mkv", "film.mkv"),
        ('attachment; filename="my film.mkv"', "my film.mkv"),
        ('ATTACHMENT;FILENAME = "film.mkv"', "film.mkv"),
        ('attachment; filename="a \\"b\\".txt"', 'a "b".txt'),
        ('attachment; filename="a;b=c.txt"; size=5', "a;b=c.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("attachment; filename*=utf-8'en'na%C3%AFve", "naïve"),
        ("attachment; filename*=iso-8859-1''%A3.txt", "£.txt"),
        ("attachment; filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac.txt; filename=EURO.txt", "€.txt"),
        ("attachment; filename*=\"UTF-8''%e2%82%ac.txt\"", "€.txt"),
        ("attachment; filename*=utf-9''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=UTF-8''%ff.txt", "ÿ.txt"),
        ("attachment; filename*=nonsense; filename=good.txt", "good.txt"),
        ('attachment; filename="=?UTF-8?B?w7xiZXIudHh0?="', "über.txt"),
        ('attachment; filename="=?nonsense?B?w7x=?="', "=?nonsense?B?w7x=?="),
        ('attachment; filename="naïve.txt"', "naïve.txt"),
        (b'attachment; filename="na\xefve.txt"', "naïve.txt"),
        ('attachment; filename="a%20b.txt"', "a%20b.txt"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename="C:\\\\films\\\\a.mkv"', "a.mkv"),
        ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"),
        ('attachment; filename="folder/"', "folder"),
        ('attachment; filename="open', "open"),
        ("attachment; filename=a.txt; filename=b.txt", "a.txt"),
        ('form-data; name="x"; filename="y"', "y"),
        ("filename=bare.txt", "bare.txt"),
    ],
)
def test_a_server_names_its_file(disposition, expected):
    assert name(disposition) == expected


@each_case(
    "disposition",
    [None, "", "attachment", "inline", "attachment; filename=", 'attachment; filename=""',
     'attachment; filename=".."', "attachment; filename=/", "attachment; filename*=UTF-8''", ";;;"],
)  # fmt: skip
def test_else_the_address_does(disposition):
    assert name(disposition) == "c.txt"


@each_case(
    ("url", "expected"),
    [
        ("http://a.example/film%20one.mkv?x=/y.txt", "film one.mkv"),
        ("http://a.example/f%C3%BCr.txt", "für.txt"),
        ("http://a.example/f%FCr.txt", "für.txt"),
        ("http://a.example/für.txt", "für.txt"),
        ("http://a.example/a%2Fb.txt", "b.txt"),
        ("http://a.example/folder/", "a.example"),
        ("http://a.example", "a.example"),
        ("http://a.example/%2e%2e", "a.example"),
        ("http://[2606:4700::1]/", "2606:4700::1"),
    ],
)
def test_a_name_out_of_an_address(url, expected):
    assert name(url=url) == expected


@each_case(
    ("url_name", "coding", "expected"),
    [
        ("a.iso", "gzip", "a.iso.gz"),
        ("a.iso", " GZIP ", "a.iso.gz"),
        ("a.iso", "br", "a.iso.br"),
        ("a.iso", "zstd", "a.iso.zst"),
        ("a.tar.gz", "x-gzip", "a.tar.gz"),
        ("a.tgz", "gzip", "a.tgz"),
        ("a.iso", "identity", "a.iso"),
        ("a.iso", "", "a.iso"),
        ("a.iso", "aws-chunked", "a.iso"),
    ],
)
def test_compressed_content_gets_a_matching_extension(url_name, coding, expected):
    url = f"http://a.example/{url_name}"
    assert name(url=url, Content_Encoding=coding) == expected


def test_a_long_name_is_cut_and_a_huge_header_takes_no_time():
    started = time.thread_time()
    for unit in ('; filename="', "; a=", '"\\', "=?a?q?", ";=", "; filename*=a'", "\\\\"):
        assert len(name(unit * 20_000)) <= MOST_CHARACTERS + 4
    assert len(name("attachment; filename=" + "x" * 90_000)) == MOST_CHARACTERS
    assert time.thread_time() - started < 5


PIECES = st.sampled_from(
    ["attachment", "filename", "filename*", "=", ";", '"', "\\", "'", "UTF-8''", "%e2%82", "/",
     "..", "=?utf-8?B?", "?=", " ", "x", "é", "\x00", "\n", "\u202e"]
)  # fmt: skip


@given(st.lists(PIECES).map("".join) | st.text(), st.binary(max_size=50))
def test_any_header_gives_a_name_without_a_path(said, raw):
    for disposition in (said.encode(errors="replace"), raw):
        found = name(disposition)
        assert found
        assert not {"/", "\\"} & set(found)
        assert found.strip(". ")


@given(st.text(min_size=1).filter(lambda text: text.strip() == text))
def test_a_quoted_name_reads_back_unchanged(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    if not text.startswith("=?"):
        assert name_in(f'attachment; filename="{quoted}"') == text


@each_case("word", ["=?utf-8?b?A?=", "=?é?q?a?="])
def test_a_word_that_cannot_be_decoded_stays_as_it_is(word):
    assert name_in(f'attachment; filename="{word}"') == word
