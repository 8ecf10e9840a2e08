from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.names import key_of
from service.errors import BadName
from service.library import names
from tests.cases import each_case


@each_case(
    ("name", "reason"),
    [
        ("", "name_empty"),
        (" \N{NO-BREAK SPACE}", "name_empty"),
        ("x" * 256, "name_too_long"),
        ("\U0001d160" * 100, "name_too_long"),
        (".", "name_not_allowed"),
        ("..", "name_not_allowed"),
        ("a/b", "name_not_allowed"),
        ("a\0b", "name_not_allowed"),
        ("a\nb", "name_not_allowed"),
        ("a\x7fb", "name_not_allowed"),
        ("a\x85b", "name_not_allowed"),
        ("\ud800", "name_not_allowed"),
    ],
)
def test_a_bad_name_is_refused_with_a_reason(name, reason):
    with pytest.raises(BadName) as refused:
        names.check(name)
    assert refused.value.reason == reason


@each_case(
    "name",
    [
        "x" * 255,
        "🎬" * 255,
        "...",
        "a\\b",
        "CON",
        "-rf",
        "<b>",
        "\u202egpj.exe",
        "שלום",
        "a:b",
    ],
)
def test_an_odd_but_valid_name_is_unchanged(name):
    names.check(name)


@each_case(
    ("text", "name"),
    [
        ("Sintel", "Sintel"),
        ("../../etc/passwd", ".. .. etc passwd"),
        (" a\r\nb ", "a b"),
        ("", "else"),
        ("..", "else"),
        ("///", "else"),
        ("x" * 300 + ".mkv", "x" * 251 + ".mkv"),
    ],
)
def test_a_strangers_name_is_made_good(text, name):
    assert names.clean(text, otherwise="else") == name
    names.check(names.clean(text, otherwise="else"))


@each_case("text", ["\U0001d160" * 300, "e\u0301" * 300, "x." + "y" * 400])
def test_cleaned_names_are_never_too_long(text):
    names.check(names.clean(text, otherwise="else"))


def first(count, name, **options):
    variants = names.variants(name, **options)
    return [next(variants) for _ in range(count)]


def test_a_files_number_precedes_its_suffix():
    assert first(3, "a.mkv", is_folder=False) == ["a.mkv", "a (2).mkv", "a (3).mkv"]


def test_a_folders_number_follows_its_name():
    assert first(2, "Vol. 1", is_folder=True) == ["Vol. 1", "Vol. 1 (2)"]


def test_a_number_fits_behind_the_longest_name():
    for name in ("x" * 251 + ".mkv", "\U0001d160" * 85, "e\u0301" * 127):
        for variant in first(3, name, is_folder=False):
            names.check(variant)


ANY = st.text(st.characters(codec=None), max_size=30) | st.text(
    "aé\u0301\U0001d160. /", max_size=400
)


@given(ANY, st.booleans())
def test_any_text_becomes_a_name_that_can_be_numbered(text, is_folder):
    name = names.clean(text, otherwise="else")
    found = list(islice(names.variants(name, is_folder=is_folder), 12))
    for each in found:
        names.check(each)
    assert len({key_of(each) for each in found}) == len(found)
    assert names.clean(name, otherwise="else") == name
