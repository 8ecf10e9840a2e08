import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.cases import each_case
from webui.library.entries import Entry, split_name
from webui.library.sorting import Contents, by_name

names = some.text(max_size=40)


def files(*names: str) -> list[Entry]:
    return [Entry("file", str(number), name, 1, 0) for number, name in enumerate(names)]


def ordered(*names: str, sort: str = "name") -> list[str]:
    return [entry.name for entry in Contents(files(*names)).in_order(sort)]


@each_case(
    "wanted",
    [
        ["2.txt", "10.txt"],
        ["IMG_2.jpg", "img_3.jpg", "IMG_10.jpg"],
        ["a", "B", "c"],
        ["Emil", "Émile", "Ernst"],
        ["file", "file 2", "file 10", "file 10b"],
        ["1", "a1", "a01b", "a1c", "b"],
        ["S1E2", "S1E10", "S2E1"],
    ],
)
def test_names_are_sorted_as_people_would(wanted):
    assert ordered(*reversed(wanted)) == wanted


def test_many_digits_are_a_number_too():
    assert ordered("9" * 5000, "1" * 4999) == ["1" * 4999, "9" * 5000]


@pytest.mark.slow
@given(some.lists(names, max_size=20))
def test_sorting_names_does_not_depend_on_their_initial_order(found):
    entries = files(*found)
    assert Contents(entries).in_order("name") == Contents(entries[::-1]).in_order("name")


@given(names, names)
def test_keys_of_any_two_names_can_be_compared(one, other):
    keys = [by_name(entry) for entry in files(one, other)]
    assert (keys[0] < keys[1]) in (True, False)


def test_folders_come_first_in_every_order():
    entries = [
        Entry("file", "1", "a", 50, 50),
        Entry("folder", "2", "z", 1, 1),
        Entry("folder", "3", "y", 99, 99),
    ]
    for sort in ("name", "-name", "size", "-size", "date", "-date"):
        kinds = [entry.kind for entry in Contents(entries).in_order(sort)]
        assert kinds == ["folder", "folder", "file"]


def test_sizes_and_dates_sort_both_ways_and_equals_by_name():
    entries = [
        Entry("file", "1", "b", 5, 30),
        Entry("file", "2", "a", 5, 20),
        Entry("file", "3", "c", 9, None),
    ]
    contents = Contents(entries)

    def order(sort: str) -> str:
        return "".join(entry.name for entry in contents.in_order(sort))

    assert order("size") == "abc"
    assert order("-size") == "cab"
    assert order("date") == "cab"
    assert order("-date") == "bac"


def test_a_filter_finds_all_words_in_any_case_and_place():
    contents = Contents(files("Straße nach Süden.mkv", "Sintel.2010.mkv", "süden.srt"))

    def found(query: str) -> list[str]:
        return [entry.name for entry in contents.matching("name", query)]

    assert found("SÜDEN mkv") == ["Straße nach Süden.mkv"]
    assert found("strasse") == ["Straße nach Süden.mkv"]
    assert found("2010 mkv sint") == ["Sintel.2010.mkv"]
    assert found("[a-z]+(") == []
    assert len(found("   ")) == 3


@each_case(
    ("name", "parts"),
    [
        ("Sintel.2010.mkv", ("Sintel.2010", ".mkv")),
        ("README", ("README", "")),
        (".bashrc", (".bashrc", "")),
        ("what is this. really", ("what is this. really", "")),
        ("a.verylongextension", ("a.verylongextension", "")),
        ("ends.", ("ends.", "")),
        ("", ("", "")),
    ],
)
def test_the_extension_is_kept_separately(name, parts):
    assert split_name(name) == parts
