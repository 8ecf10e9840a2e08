"""Converting subtitles to WebVTT, whatever they contain."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from common.webvtt import (
    LONGEST_CUE,
    MOST_CUES,
    MOST_LINES_A_CUE,
    MOST_WRITTEN,
    markup_of,
    stamp,
    tag_emphasis,
    webvtt,
)
from tests.cases import each_case

SRT = """1
00:00:01,000 --> 00:00:02,500
Where is the <i>ferry</i>?

2
00:01:00,5 --> 00:01:02,000 X1:100 X2:200
{\\an8}It left.
<font color="red">An hour ago.</font>
"""
ASS = """[Script Info]
Title: x

[V4+ Styles]
Style: Default,Arial

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,nobody says this
Dialogue: 0,0:00:03.10,0:00:04.00,Default,,0,0,0,,{\\i1}Well,{\\i0} yes\\Nand no
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,First
Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0 100 100
"""


def converted(text):
    return webvtt(text, "cut")


def cue(text):
    """Return the text of one cue after the conversion."""
    found = converted(f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n")
    return found.partition(".000\n")[2].rstrip("\n") if found else ""


def test_srt_becomes_webvtt():
    assert converted(SRT) == (
        "WEBVTT\n\n"
        "00:00:01.000 --> 00:00:02.500\nWhere is the <i>ferry</i>?\n\n"
        "00:01:00.500 --> 00:01:02.000 line:5%\nIt left.\nAn hour ago.\n"
    )


def test_line_ends_of_windows_and_of_old_macs_are_the_same():
    assert converted(SRT.replace("\n", "\r\n")) == converted(SRT)
    assert converted(SRT.replace("\n", "\r")) == converted(SRT)


def test_the_words_of_ass_stay_in_order():
    assert converted(ASS) == (
        "WEBVTT\n\n"
        "00:00:01.000 --> 00:00:02.000\nFirst\n\n"
        "00:00:03.100 --> 00:00:04.000\n<i>Well,</i> yes\nand no\n"
    )


def test_webvtt_keeps_places_and_loses_style():
    found = converted(
        "WEBVTT - <script>\n\nSTYLE\n::cue { background: url(http://evil.example/) }\n\n"
        "REGION\nid:a\n\nNOTE\nnobody\n\n"
        "x\n01:02.000 --> 01:03.000 region:a line:0 align:start evil:x position:10%,center\n"
        "<v Bob>Hello <c.yellow>there</c> <00:01:02.500>you</v>\n"
    )
    assert found == (
        "WEBVTT\n\n00:01:02.000 --> 00:01:03.000 line:0 align:start position:10%,center\n"
        "Hello there you\n"
    )


@each_case(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "alert(1)"),
        ("<img src=x onerror=alert(1)>a", "a"),
        ("<b onclick=alert(1)>a</b>", "<b>a</b>"),
        ("<svg/onload=alert(1)>a", "a"),
        ("<B>a", "<b>a</b>"),
        ("<b><i>a</b></i>", "<b><i>a</i></b>"),
        ("<b><i>a</b>b</i>", "<b><i>a</i></b>b"),
        ("<i>a<i>b</i>c</i>", "<i>ab</i>c"),
        ("</b>a", "a"),
        ("I <3 you & me", "I &lt;3 you &amp; me"),
        ("&lt;script&gt; &amp;lt; &evil;", "&lt;script&gt; &amp;lt; &amp;evil;"),
        ("a < b > c", "a &lt; b &gt; c"),
        ("<<script>b>", "&lt;b&gt;"),
        ("<ruby>a<rt>b</rt></ruby>", "<ruby>a<rt>b</rt></ruby>"),
        ("a\x00b\x1bc", "abc"),
        ("a\u2028b", "a\u2028b"),
    ],
)
def test_only_words_and_a_little_emphasis_are_left(text, shown):
    assert cue(text) == shown


@each_case(
    "text",
    ["", "hello", "WEBVTT\n\n", "00:00:02,000 --> 00:00:01,000\nback\n", "\x00" * 999, "<b></b>"],
)
def test_a_file_without_cues_yields_nothing(text):
    assert not converted(text)


@pytest.mark.slow
def test_a_million_cues_are_cut_with_a_notice():
    text = "00:00:01,000 --> 00:00:02,000\na\n\n" * 1_000_000
    found = converted(text)
    assert found.count("-->") == MOST_CUES + 1
    assert found.endswith("00:00:02.000 --> 00:00:12.000\ncut\n")


def test_a_long_text_is_cut_with_a_notice():
    found = converted(("00:00:01,000 --> 00:00:02,000\n" + "&" * 999 + "\n\n") * 5_000)
    assert len(found) < MOST_WRITTEN + 100_000
    assert found.endswith("cut\n")


def test_an_endless_cue_is_cut():
    assert len(cue("a" * 10_000_000)) == LONGEST_CUE
    assert len(cue("a\n" * 1_000_000).splitlines()) == MOST_LINES_A_CUE


MOMENT = some.integers(0, 359_999_999)
PIECES = some.lists(
    some.one_of(
        some.text(max_size=20),
        some.sampled_from(["<b>", "</b>", "<i", ">", "<", "-->", "\n\n", "\n", "\r", "&lt;"]),
        some.sampled_from(["00:00:01,000 --> 00:00:02,000", "[Script Info]\n", "[Events]\n"]),
        some.sampled_from(["Dialogue: 0,", "0:00:01.00,0:00:02.00,", "<script>", "REGION\n"]),
        some.sampled_from(["STYLE\n", "url(", "WEBVTT\n", "{\\an8}"]),
    ),
    max_size=40,
).map("".join)
LINE = re.compile(r"\d{2,4}:\d\d:\d\d\.\d{3} --> \d{2,4}:\d\d:\d\d\.\d{3}( [a-z]+:[a-z0-9.,%-]+)*")
SAFE = re.compile(r"(?:[^<>&]|&(?:amp|lt|gt);|</?(?:b|i|u|ruby|rt)>)*")


@given(PIECES)
def test_only_known_lines_pass(text):
    found = converted("00:00:01,000 --> 00:00:02,000\n" + text)
    if not found:
        return
    head, *cues = found.rstrip("\n").split("\n\n")
    assert head == "WEBVTT"
    for block in cues:
        timing, *said = block.split("\n")
        assert LINE.fullmatch(timing)
        assert said
        assert all(line.strip() and SAFE.fullmatch(line) for line in said)
        assert "-->" not in "".join(said)


@given(MOMENT, MOMENT)
def test_times_stay_what_they_are(start, end):
    line = f"{stamp(start)} --> {stamp(end)}"
    found = converted(f"{line}\na\n")
    assert (line in found) == (end > start)


ASS_PIECES = some.lists(
    some.one_of(
        some.text(max_size=12),
        some.sampled_from(["{\\b1}", "{\\b0}", "{\\i1}", "{\\i0\\u1}", "{", "}", "\\N", "\\h"]),
        some.sampled_from(["<script>", "</i>", "-->", "&amp;", "{\\p1}", "{=evil}", "\n\n", "\r"]),
        some.sampled_from(["x" * 900, "<" * 700, "STYLE\n", "NOTE\n"]),
    ),
    max_size=12,
).map("".join)
MARKUP = re.compile(r"<(/?)([biu])>")
PLAIN = re.compile(r"(?:[^<>&]|&(?:amp|lt|gt);)*")


@each_case(
    ("dialogue", "shown"),
    [
        (r"{\i1}Well{\i0}, a < b\Nyes{\an8}", "<i>Well</i>, a &lt; b\nyes"),
        (r"{\i1}a{\b1}b{\i0}c", "<i>a<b>b</b></i>c"),
        (r"{\b700\i1\i1}a{\i0}b", "<b><i>a</i>b</b>"),
        (r"{\p1}m 0 0 l 9 9", ""),
        (r"{\clip(m" + " 1" * 400 + r")\i1}a{\i0}b", "<i>a</i>b"),
        (r"{\clip(m" + " 1" * 400 + r")\p1}m 0 0 l 9 9", ""),
        (r"{\k20}a" * 150, "a" * 150),
        ("a{\\clip(" + "1" * 5000, "a"),
        ("a { b", "a { b"),
        ("a" * 998 + r"{\i1}b{\i0}", "a" * 998),
    ],
)
def test_emphasis_of_ass_stays_and_drawings_go(dialogue, shown):
    assert markup_of(tag_emphasis(dialogue)) == shown


def test_what_is_escaped_before_stays_text():
    assert markup_of(tag_emphasis(r"{\i1}&lt;sighs&gt;{\i0} &amp;amp;")) == (
        "<i>&lt;sighs&gt;</i> &amp;amp;"
    )


@each_case("dialogue", [r"{\b1}" + "x" * 5000, "<" * 5000, "a" + "{\\i1}b{\\i0}" * 900])
def test_a_long_cue_is_cut_between_its_letters(dialogue):
    assert is_sound(markup_of(tag_emphasis(dialogue)))


def is_sound(text: str) -> bool:
    """Return whether tags are closed in order, and players read nothing else as markup."""
    is_open = []
    for mark in MARKUP.finditer(text):
        if not mark[1]:
            is_open.append(mark[2])
        elif not is_open or is_open.pop() != mark[2]:
            return False
    return not is_open and PLAIN.fullmatch(MARKUP.sub("", text)) is not None


@given(ASS_PIECES)
def test_any_dialogue_becomes_words_and_tags_in_order(dialogue):
    text = markup_of(tag_emphasis(dialogue))
    assert is_sound(text)
    assert not text or all(line.strip() for line in text.split("\n"))
