"""The words that search compares."""

from common.search_text import patterns_of, search_text
from tests.cases import each_case


@each_case(
    ("name", "text"),
    [
        ("Big_Buck-Bunny.S01E02.mkv", " big buck bunny s01e02 mkv "),
        ("Ångström Straße İstanbul.pdf", " angstrom strasse istanbul pdf "),
        ("千と千尋の神隠し.mp4", " 千 と 千 尋 の 神 隠 し mp4 "),
        ("🎉party🎉.jpg", " 🎉 party 🎉 jpg "),
        ("ﬁlm Ａ１", " film a1 "),
        ("Ёлка И.avi", " елка и avi "),
        ("...", "  "),
    ],
)
def test_a_name_becomes_words_without_punctuation(name, text):
    assert search_text(name) == text


def test_all_spellings_of_a_name_have_one_search_text():
    assert search_text("Caf\u00e9") == search_text("Cafe\u0301") == search_text("CAFE")


@each_case(
    ("query", "parts", "starts"),
    [
        ("bunny", ["bunny"], [" bunny"]),
        ("Big b", ["big", " b"], [" big", " b"]),
        ("mr.robot", ["mr robot"], [" mr robot"]),
        ("神隠", [" 神 隠 "], [" 神 隠 "]),
        ("神", [" 神 "], [" 神 "]),
        ("!! ...", [], []),
        ('"a" OR b*', [" a", " or", " b"], [" a", " or", " b"]),
        (" ".join("abc" for _each in range(99)), ["abc"] * 16, [" abc"] * 16),
    ],
)
def test_a_query_becomes_the_words_that_a_text_must_contain(query, parts, starts):
    assert patterns_of(query) == parts
    assert patterns_of(query, at_start=True) == starts
