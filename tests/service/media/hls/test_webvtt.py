"""The text of a film's embedded subtitles, whatever they contain."""

import re

from hypothesis import given
from hypothesis import strategies as some

from service.media.hls import webvtt
from service.media.hls.webvtt import CaptionCue, text_of
from tests.cases import each_case

PIECES = some.lists(
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


def test_emphasis_stays_and_everything_else_is_text():
    assert text_of(r"{\i1}Well{\i0}, <script>\Nyes{\an8}") == "<i>Well</i>, &lt;script&gt;\nyes"


def test_a_drawing_says_nothing():
    assert text_of(r"{\p1}m 0 0 l 9 9") == ""


@each_case("dialogue", [r"{\b1}" + "x" * 5000, "<" * 5000, "a" + "{\\i1}b{\\i0}" * 900])
def test_a_long_cue_is_cut_between_its_letters(dialogue):
    assert is_sound(text_of(dialogue))


def is_sound(text: str) -> bool:
    """Return whether tags are closed in order, and players read nothing else as markup."""
    is_open = []
    for mark in MARKUP.finditer(text):
        if not mark[1]:
            is_open.append(mark[2])
        elif not is_open or is_open.pop() != mark[2]:
            return False
    return not is_open and PLAIN.fullmatch(MARKUP.sub("", text)) is not None


@given(PIECES)
def test_any_cue_becomes_words_and_tags_in_order(dialogue):
    text = text_of(dialogue)
    assert is_sound(text)
    assert len(text) <= 5 * webvtt.LONGEST_DIALOGUE
    assert len(webvtt.write([CaptionCue(0, 1, text)]).split("\n\n")) == (2 if text else 3)


@given(some.floats(0, 360_000))
def test_a_moment_is_written_so_that_it_is_read_again(seconds):
    hours, minutes, rest = webvtt.clock(seconds).split(":")
    assert abs(int(hours) * 3600 + int(minutes) * 60 + float(rest) - seconds) <= 0.0006
    assert (len(minutes), len(rest)) == (2, 6)
