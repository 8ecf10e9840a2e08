import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.names import safe_name
from service.content.download_names import DownloadNames, are_plain
from tests.cases import each_case

HOSTILE = [
    *("", ".", "..", "...", "../../x", "..\\..\\x", "/etc/passwd", "C:\\x", "\\\\host\\x", "x:y"),
    *("NUL\0.txt", "a\nb", "\x7f", "\x85", "a\u2028b", "\udcff", "exe.\u202e4pm", 'a?*<>|"b'),
    *("CON", "con.txt", "Aux .md", "LPT\xb9", "COM0.tar.gz", "conin$", "x.", "x ", "x. . ", "-rf"),
    *("N" * 300, "é" * 300 + ".mkv", "CON" + " " * 300 + "x.txt", "_" + "." * 300, "." * 300 + "x"),
]
ANY_NAME = st.one_of(st.text(st.characters(exclude_categories=())), st.sampled_from(HOSTILE))
PLAIN_OR_ANY = st.one_of(st.sampled_from(["a", "A", "a.txt", "a (2)", "b", "c"]), ANY_NAME)
UNHURRIED = settings(deadline=None)
FORBIDDEN = set('/\\:*?"<>|')
DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\xb9\xb2\xb3"
}


@each_case("wanted", HOSTILE)
def test_a_hostile_name_becomes_one_that_every_system_can_hold(wanted: str) -> None:
    assert_holdable(safe_name(wanted))


@UNHURRIED
@given(ANY_NAME)
def test_any_name_becomes_one_that_every_system_can_hold(wanted: str) -> None:
    assert_holdable(safe_name(wanted))


def assert_holdable(name: str) -> None:
    assert name not in {"", ".", ".."}
    assert not FORBIDDEN & set(name)
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in name)
    assert name[-1] not in ". "
    assert name.partition(".")[0].rstrip(" ").lower() not in DEVICES
    assert len(name.encode()) <= 255
    assert name == unicodedata.normalize("NFC", name)


@UNHURRIED
@given(ANY_NAME)
def test_a_safe_name_stays_as_it_is(wanted: str) -> None:
    assert safe_name(safe_name(wanted)) == safe_name(wanted)


@each_case(
    "name",
    ["Heat (1995).mkv", ".bashrc", "Con Air.mkv", "日本語.txt", "👩\u200d🚀.png", "-rf", "a" * 255],
)
def test_an_ordinary_name_is_unchanged(name: str) -> None:
    assert safe_name(name) == name


@each_case(
    ("wanted", "name"),
    [("..", "_"), ("../x", ".._x"), ("C:", "C_"), ("CON.txt", "_CON.txt"), ("x. ", "x")],
)
def test_an_unsafe_name_changes_as_little_as_possible(wanted: str, name: str) -> None:
    assert safe_name(wanted) == name


def test_a_name_that_is_cut_keeps_its_extension() -> None:
    assert safe_name("é" * 300 + ".mkv") == "é" * 125 + ".mkv"


@UNHURRIED
@given(st.lists(st.tuples(ANY_NAME, st.booleans()), max_size=30))
@example([("a.txt", False), ("a.txt", False), ("a (2).txt", False), ("a.txt", True)])
def test_names_of_a_folder_are_safe_and_differ_by_more_than_case_and_form(
    wanted: list[tuple[str, bool]],
) -> None:
    names = DownloadNames()
    taken = [names.take(name, is_folder=is_folder) for name, is_folder in wanted]
    assert len({unicodedata.normalize("NFC", name.lower()) for name in taken}) == len(taken)
    assert len({unicodedata.normalize("NFD", name.upper()) for name in taken}) == len(taken)
    for name in taken:
        assert_holdable(name)


@pytest.mark.slow
@UNHURRIED
@given(st.lists(st.lists(PLAIN_OR_ANY, max_size=9), max_size=4))
@example([["a.txt", "b.txt", "A.TXT", "a (2).txt"]])
@example([["a."], ["a "], [""], ["con"], ["Nul .md"], ["a" * 256], ["a", "a/a"]])
def test_names_taken_at_once_are_those_taken_one_after_the_other(wanted: list[list[str]]) -> None:
    at_once, in_turn = DownloadNames(), DownloadNames()
    for batch in wanted:
        assert at_once.take_all(batch) == [in_turn.take(name) for name in batch]


@given(st.lists(ANY_NAME))
def test_a_plain_name_is_safe(names: list[str]) -> None:
    assert not are_plain(names) or names == [safe_name(name) for name in names]


def test_ordinary_names_are_plain() -> None:
    assert are_plain(["Heat (1995).mkv", ".bashrc", "Con Air.mkv", "-rf", "a" * 255])


@each_case("name", [*HOSTILE, "日本語.txt"])
def test_a_name_that_is_not_plain_is_found_among_others(name: str) -> None:
    assert are_plain([name]) == (name == "-rf")
    assert are_plain(["a", name, "b"]) == (name == "-rf")


@each_case(
    ("first", "twin"),
    [
        *(("A.txt", "a.TXT"), ("caf\xe9", "cafe\u0301"), ("STRASSE", "stra\xdfe"), ("x", "x.")),
        *(("a", "a\u200d"), ("\u212b", "\xe5"), ("\u03c3", "\u03c2"), ("a/b", "a\\b")),
        ("M" * 300, "M" * 301),
    ],
)
def test_equal_names_get_a_number(first: str, twin: str) -> None:
    names = DownloadNames()
    names.take(first)
    assert " (2)" in names.take(twin)


def test_a_file_is_numbered_before_its_extension() -> None:
    assert taken("a.txt", "a.txt", "a.txt") == ["a.txt", "a (2).txt", "a (3).txt"]


def test_a_number_that_is_taken_is_left_out() -> None:
    assert taken("a.txt", "a (2).txt", "a.txt") == ["a.txt", "a (2).txt", "a (3).txt"]


def test_a_folder_is_numbered_at_its_end() -> None:
    names = DownloadNames()
    assert [names.take("v1.2", is_folder=True) for _ in range(2)] == ["v1.2", "v1.2 (2)"]


def test_the_longest_name_leaves_space_for_any_number() -> None:
    assert all(len(name.encode()) <= 255 for name in taken(*["ж" * 200 + ".html"] * 1200))


@pytest.mark.slow
def test_a_hundred_thousand_equal_names_take_linear_time() -> None:
    assert taken(*["a.txt"] * 100_000)[-1] == "a (100000).txt"


def taken(*wanted: str) -> list[str]:
    names = DownloadNames()
    return [names.take(name) for name in wanted]
