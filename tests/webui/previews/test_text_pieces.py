"""Texts of any kind and size, read and laid out in bounded time and memory."""

import codecs
import csv
import json
import resource
import time

import httpx
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as some

from tests.cases import each_case
from tests.webui.contents.test_relayed_files import Reader, streams
from tests.webui.service import storage_of
from webui.contents import encodings
from webui.contents.content_check import Expected
from webui.previews import text_pieces, typesetting_process
from webui.previews.pages import layouts
from webui.previews.text_pieces import PIECE_BYTES, TextRequest
from webui.v1.errors import Unreadable


def read(
    content,
    start=0,
    most_lines=4000,
    encoding="",
    *,
    is_art=False,
    is_embedded=True,
    known_bytes=None,
):
    storage = storage_of("k", is_embedded=is_embedded)
    file = storage.file("a.txt", content)
    size_bytes = len(content) if known_bytes is None else known_bytes
    wanted = TextRequest(
        str(file.id),
        Expected("a.txt", size_bytes=size_bytes or None),
        start,
        most_lines,
        encoding,
        is_art,
    )
    return text_pieces.read(storage.service.v1, wanted)


def pieces(content, **more):
    """Read all pieces in order."""
    found, piece = [], read(content, **more)
    while piece:
        found.append(piece)
        assert len(found) <= len(content) + 2
        piece = (
            None if piece.is_last else read(content, piece.stop, encoding=piece.encoding, **more)
        )
    return found


# Encodings


@each_case(
    ("encoding", "words"),
    [
        ("utf_8", "Ærlig talt, på ferga"),
        ("utf-8-sig", "Ærlig talt"),
        ("utf-16", "Ærlig talt"),
        ("utf_16_le", "A plain text without a mark"),
        ("utf_16_be", "A plain text without a mark"),
        ("utf-32", "Ærlig talt"),
        ("cp1252", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, jawohl."),
        ("cp1251", "Съешь же ещё этих мягких французских булок, да выпей чаю. Привет, мир!"),
        ("cp932", "いろはにほへと ちりぬるを わかよたれそ つねならむ うゐのおくやま けふこえて"),
        ("gb18030", "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨"),
    ],
)
def test_letters_are_found_out(encoding, words):
    assert read(words.encode(encoding)).text == words


def test_nfo_files_are_drawn_with_the_letters_of_the_first_pc():
    drawn = "╔══╗\n║Hi║\n╚══╝"
    assert read(drawn.encode("cp437"), is_art=True).text == drawn
    assert read(drawn.encode(), is_art=True).text == drawn


@each_case("content", [b"\x00\x01\x02" * 90, b"\x89PNG\r\n\x1a\n\x00", b"\x01" * 99])
def test_binary_content_is_not_shown_as_text(content):
    assert read(content) is None


@each_case("length", [0, 1, PIECE_BYTES, 2 * PIECE_BYTES + 7])
def test_a_text_of_unknown_size_is_read_to_its_end(length):
    content = (b"Land in sight\n" * (length // 14 + 1))[:length]
    assert "".join(piece.text for piece in pieces(content, known_bytes=0)).encode() == content


@given(some.binary(max_size=400))
def test_any_bytes_become_harmless_letters_or_none(content):
    piece = read(content)
    if piece is not None:
        assert not [char for char in piece.text if char < " " and char not in "\t\n"]
        piece.text.encode()


# Pieces


def test_a_long_text_is_split_at_line_ends():
    content = b"".join(b"line %d of many\n" % number for number in range(60_000))
    found = pieces(content, most_lines=100_000)
    assert len(found) > 3
    assert all(piece.text.endswith("\n") for piece in found)
    assert all(piece.stop - piece.start <= PIECE_BYTES for piece in found)
    assert "".join(piece.text for piece in found).encode() == content


def test_a_piece_has_no_more_lines_than_a_page_bears():
    assert [piece.text.count("\n") for piece in pieces(b"\n" * 250, most_lines=100)] == [
        100,
        100,
        50,
    ]


@each_case("encoding", ["utf_8", "utf-16", "cp932"])
def test_an_endless_line_is_cut_between_letters(encoding):
    words = "ふ" * 200_000
    assert "".join(piece.text for piece in pieces(words.encode(encoding))) == words


@given(
    some.text(some.characters(codec="utf_8"), max_size=300), some.sampled_from(["utf_8", "utf-16"])
)
def test_nothing_is_lost_between_pieces(words, encoding):
    content = words.encode(encoding)
    found = pieces(content, most_lines=2)
    if found:
        wanted = text_pieces.plain(words.encode(encoding).decode(encoding))
        joined = "".join(piece.text for piece in found)
        assert joined.replace("␍\n", "\n") == wanted.removeprefix("\ufeff") or b"\0" in content


def test_a_text_of_4_gb_costs_one_piece():
    ranges = []

    def answer(request):
        ranges.append(request.headers["range"])
        head = {"content-range": f"bytes 0-{PIECE_BYTES - 1}/{4 * 2**30}"}
        return httpx.Response(206, content=b"x\n" * (PIECE_BYTES // 2), headers=head)

    storage = storage_of("k", is_embedded=False)
    storage.fake.answer = lambda request, path: answer(request)
    piece = text_pieces.read(
        storage.service.v1,
        TextRequest("7", Expected("a.txt", size_bytes=4 * 2**30), 0, 100, "", is_art=False),
    )
    assert ranges == [f"bytes=0-{PIECE_BYTES - 1}"]
    assert piece.stop == 200
    assert not piece.is_last


def test_a_service_without_ranges_is_read_no_further_than_needed():
    storage = storage_of("k", is_embedded=False)
    body = Reader(*[b"x" * 65_536] * 1000)
    streams(storage, body)
    wanted = TextRequest("7", Expected("a.txt", size_bytes=10**9), 0, 100, "", is_art=False)
    assert len(text_pieces.read(storage.service.v1, wanted).text) == PIECE_BYTES
    assert body.given <= 5
    assert body.is_closed


def test_a_distant_offset_at_a_service_without_ranges_is_refused():
    storage = storage_of("k", is_embedded=False)
    body = Reader(*[b"x" * 65_536] * 1000)
    streams(storage, body)
    wanted = TextRequest(
        "7", Expected("a.txt", size_bytes=10**10), 10**9, 100, "utf_8", is_art=False
    )
    with pytest.raises(Unreadable):
        text_pieces.read(storage.service.v1, wanted)
    assert body.given == 0


def test_a_range_other_than_the_requested_one_is_refused():
    storage = storage_of("k", is_embedded=False)
    streams(storage, Reader(b"x"), 206, content_range="bytes 5-5/9")
    with pytest.raises(Unreadable):
        text_pieces.read(
            storage.service.v1,
            TextRequest("7", Expected("a.txt", size_bytes=9), 0, 100, "", is_art=False),
        )


def test_terminal_control_codes_are_dropped_or_made_visible():
    assert read(b"\x1b[1;31mred\x1b[0m\x07 \x1b]0;title\r\nnext").text == "red␇ ␛]0;title\nnext"


# JSON


@pytest.mark.slow
@given(some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=9),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(), inner),
    max_leaves=20,
))  # fmt: skip
def test_json_says_the_same_when_laid_out(value):
    text = json.dumps(value)
    assert json.loads(layouts.laid_out(text, 10_000)) == value


def test_json_is_laid_out_as_people_write_it():
    shown = layouts.laid_out('{"a":[1,{"b":"x\\"y"}],"e":{}, "big":1.00000000000000000001}', 99)
    assert shown.split("\n") == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": "x\\"y"',
        "    }",
        "  ],",
        '  "e": {},',
        '  "big": 1.00000000000000000001',
        "}",
    ]


@each_case(
    "text",
    ["[" * 250_000, '"' + '\\"' * 125_000, '"\\' * 80_000, "{" * 9 + "]" * 99_999, ":" * 250_000],
)
def test_hostile_json_takes_no_longer_than_other(text):
    begun = time.process_time()
    assert len(layouts.laid_out(text, 4000)) <= 10**6
    assert time.process_time() - begun < 3


# Tables


def test_the_separator_of_a_table_is_detected():
    table = layouts.table_of('a;b\n"1;2";3\n4\n', "csv", has_head=True)
    assert (table.head, table.rows) == (["a", "b"], [["1;2", "3"], ["4", ""]])
    assert layouts.table_of("a,x\tb\n", "tsv", has_head=False).rows == [["a,x", "b"]]


def test_a_row_of_a_million_columns_is_cut_and_says_so():
    table = layouts.table_of("," * 250_000, "csv", has_head=True)
    assert len(table.head) == layouts.MOST_COLUMNS
    assert "249,941" in table.more


@given(some.text(max_size=300), some.sampled_from(["csv", "tsv"]), some.booleans())
def test_any_text_is_a_table_of_one_width_or_none(text, extension, has_head):
    table = layouts.table_of(text, extension, has_head=has_head)
    if table is not None:
        assert (
            len({len(row) for row in table.rows} | ({len(table.head)} if has_head else set())) <= 1
        )


def test_a_field_beyond_all_limits_is_not_a_table():
    assert csv.field_size_limit() < 200_000
    assert layouts.table_of('"' + "x" * 200_000, "csv", has_head=False) is None


# Cues

SRT = "1\n00:01:47,250 --> 00:01:49,000\n<i>One</i>\n{\\an8}two\n\n2\n1:00:00,5 --> 2\nThree\n"
STYLE = "STYLE\n::cue { background: url(http://e) }\n\n"
VTT = f"WEBVTT\n\n{STYLE}01:47.250 --> 01:49.000 align:left\nOne\ntwo\n"
ASS = "[Events]\nDialogue: 0,0:01:47.25,0:01:49.00,Default,,0,0,0,,{\\b1}One\\Ntwo\n"


@each_case(("extension", "text"), [("srt", SRT), ("vtt", VTT), ("ass", ASS), ("ssa", ASS)])
def test_cues_of_each_kind_have_a_time_and_words(extension, text):
    first = layouts.cues_of(text, extension)[0]
    assert (first.time, first.text) == ("0:01:47.250", "One\ntwo")


def test_style_blocks_are_not_cues():
    assert len(layouts.cues_of(VTT, "vtt")) == 1


@given(some.text(alphabet="0:,.-> <{}i\nDialogue", max_size=400), some.sampled_from(["srt", "ass"]))
def test_any_text_has_cues_or_none(text, extension):
    for cue in layouts.cues_of(text, extension):
        assert cue.time


@each_case(
    ("extension", "text", "said"),
    [
        ("srt", "cut off\n\n2\n00:01:47,250 --> 00:01:49,000\n<i>A blade.</i>\n", "A blade."),
        ("ass", "Dialogue: 0,0:01:47.25,0:01:49.00,Default,,0,0,0,,{\\i1}A, {\\i0}B\n", "A, B"),
    ],
)
def test_a_later_piece_of_subtitles_has_cues_too(extension, text, said):
    (cue,) = layouts.cues_of(text, extension)
    assert (cue.time, cue.text) == ("0:01:47.250", said)


# Code and Markdown


def test_code_is_highlighted_by_classes_and_stays_text():
    lines = typesetting_process.highlight("import re\nx = '<b>'  # <i>\n", "python")
    assert lines[0] == '<span class="k">import</span> re'
    assert "&lt;b&gt;" in lines[1]
    assert '<span class="c"># &lt;i&gt;</span>' in lines[1]


@pytest.mark.slow
@each_case("text", ["", "\n", "\n\nx\n\n", "a", "  \n\t"])
def test_no_line_is_lost_by_colours(text):
    assert len(typesetting_process.highlight(text, "python")) == len(
        text.removesuffix("\n").split("\n")
    )


def cpu_seconds() -> float:
    """Return the CPU time of this process and its ended children, however busy the machine is."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.mark.promise("a long text is shown completely")
@pytest.mark.slow
def test_long_text_is_highlighted_in_part_and_shown_completely(monkeypatch):
    allowed = typesetting_process.MOST_SECONDS
    # No setting says how long a text may take. A busy machine needs more than the 4 s that are
    # allowed, so this test allows more, and checks the CPU time instead.
    monkeypatch.setattr(typesetting_process, "MOST_SECONDS", 120)
    text = "x = 1\n" * 60_000
    begun = cpu_seconds()
    lines = typesetting_process.highlight(text, "python")
    assert cpu_seconds() - begun < allowed
    assert len(lines) == 60_000
    assert "<span" in lines[0]
    assert lines[-1] == "x = 1"


@pytest.mark.slow
def test_a_slow_machine_colors_the_first_lines(monkeypatch, tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import itertools, runpy, time\n"
        "ticks = itertools.count()\n"
        "time.process_time = lambda: next(ticks) / 1000\n"
        f"runpy.run_path({str(typesetting_process.PROGRAM)!r}, run_name='__main__')\n"
    )
    # No setting makes a machine slow; in this program, each piece of code takes a millisecond.
    monkeypatch.setattr(typesetting_process, "PROGRAM", slow)
    lines = typesetting_process.highlight("x = 1\n" * 1000, "python")
    assert lines[0] == lines[100] == 'x = <span class="n">1</span>'
    assert lines[-1] == "x = 1"
    assert len(lines) == 1000


def test_lines_of_machines_are_not_coloured():
    assert typesetting_process.highlight("x=1;" * 2000, "javascript") == ["x=1;" * 2000]


@pytest.mark.slow
def test_highlighting_that_never_ends_is_stopped(monkeypatch, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text("while True: pass")
    # No text takes forever, so an endless program stands in for one. The real 4 s are too long.
    monkeypatch.setattr(typesetting_process, "PROGRAM", endless)
    monkeypatch.setattr(typesetting_process, "MOST_SECONDS", 0.3)
    assert typesetting_process.prose("# Hi") is None
    assert typesetting_process.highlight("x = '<b>'", "python") == ["x = '<b>'"]


@pytest.mark.slow
@each_case("text", ["[a](" * 60_000, "*a _b " * 40_000, "> " * 9_000, "|a" * 60_000])
def test_hostile_markdown_costs_seconds_at_most(text):
    begun = cpu_seconds()
    typesetting_process.prose(text)
    assert cpu_seconds() - begun < 2 * typesetting_process.MOST_SECONDS


def test_the_program_that_sets_text_knows_nothing_of_ours(monkeypatch):
    seen = {}
    # The program ends at once, and nothing that it leaves shows its environment.
    run = typesetting_process.subprocess.run
    monkeypatch.setattr(
        typesetting_process.subprocess,
        "run",
        lambda *a, **more: seen.update(more) or run(*a, **more),
    )
    assert typesetting_process.prose("# Hi") == "<h2>Hi</h2>\n"
    assert seen["env"] == {}


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&colon;alert(1))",
    "[x](data:text/html,<script>)",
    "[x](//evil.example)",
    "[x](/account/)",
    "[x](vbscript:a)",
    "![x](http://evil.example/pixel.png)",
    "<http://ok.example/?a=%22onclick=alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    '[x](http://ok.example "\\"onmouseover=alert(1)")',
    "```\n</code></pre><script>alert(1)</script>\n```",
    "<a href='x' style='x'>y</a>",
]


@pytest.mark.slow
@each_case("text", HOSTILE)
def test_markdown_makes_nothing_that_acts_or_loads(text):
    shown = BeautifulSoup(typesetting_process.prose(text), "html.parser")
    for tag in shown.find_all(True):
        assert tag.name in typesetting_process.TAGS
        assert set(tag.attrs) <= {"href", "rel", "start", "title"}
        assert tag.get("href", "http://").startswith(("http://", "https://", "mailto:"))


def test_markdown_links_send_no_referrer():
    assert 'rel="noopener noreferrer nofollow"' in typesetting_process.prose(
        "[x](https://ok.example)"
    )


def test_pictures_of_markdown_are_words():
    assert typesetting_process.prose("![A fjord](http://e.example/x.png)") == "<p>A fjord</p>\n"


def test_byte_order_marks_of_every_wide_encoding_are_recognized():
    assert encodings.MARKS[codecs.BOM_UTF16_LE] == "utf_16_le"
    assert encodings.encoding_of(codecs.BOM_UTF32_LE + b"a\0\0\0", is_art=False) == "utf_32_le"
