"""Reading answers that don't follow the specification."""

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from webui.v1 import answers, errors, records, values
from webui.v1.transfer_rows import TransferRows

KEYS = [
    "id", "name", "path", "fullname", "title", "size", "hash", "progress", "stats", "warnings",
    "folders", "files", "torrents", "transfers", "parent", "parent_id", "space_max", "space_used",
    "last_update", "stopped", "folder_created", "account", "wishlist", "wt", "result", "code",
    "presentation_urls", "image", "video", "thumb", "is_video", "video_converted", "user_id",
    "torrent_magnet", "username", "premium", "status_code", "reason_phrase", "error", "state",
]  # fmt: skip
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["-1", "0", "101", "NaN", "1e999", "٣", "../account", "[[", "\ud800"])
    | st.sampled_from([2**31, 2**63, 10**400, -1, 250]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=8)
    ),
    max_leaves=25,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=10)


def listing(**fields) -> records.Listing:
    return records.listing({"folders": [], "files": [], "id": 1, **fields})


def file(**fields) -> records.File:
    (found,) = records.files([{"id": 7, "name": "a.txt", **fields}])
    return found


def transfer(**fields) -> records.Transfer:
    return records.transfer({"id": 7, **fields})


@pytest.mark.slow
@given(OBJECTS)
def test_no_object_breaks_a_reader(answer):
    read = [
        records.listing(answer),
        records.listing({"files": [answer], "folders": [answer], "torrents": [answer]}),
        [*records.files([answer])],
        records.transfer(answer, "7"),
        records.account({"username": "a", **answer}),
        records.addition(answer),
        records.wish(answer),
    ]
    listed = read[1]
    for one in listed.files:
        assert values.ID.fullmatch(one.id)
        assert all(url.startswith("http") for url in one.image_urls.values())
    repr(read).encode()
    if isinstance(read[3], records.Transfer):
        assert 0 <= read[3].progress_percent <= 101


@given(ANYTHING)
def test_any_json_is_an_object_or_unreadable(value):
    try:
        answer = answers.decode(json.dumps(value).encode())
    except errors.Unreadable:
        assert not isinstance(value, dict)
    else:
        assert isinstance(answer, dict)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_unreadable(raw):
    with suppress(errors.Unreadable):
        assert isinstance(answers.decode(raw), dict)


@each_case(
    ("value", "expected"),
    [
        (7, "7"),
        ("7", "7"),
        (5983629956, "5983629956"),
        ("5983629956", "5983629956"),
        (5983629956.0, "5983629956"),
        ("a1-B_2", "a1-B_2"),
        ("0", "0"),
    ],
)
def test_an_id_is_digits_or_a_short_token(value, expected):
    assert values.id_of(value) == expected


@each_case(
    "value",
    [
        None, True, False, -1, "-1", "", " 7", "7\n", "../account", "7/..", "7?x", "7#x", "7%2e",
        ".", "..", "user", "magnet", "zip", "٣", "7" * 65, 2**64, 1.5, [], {}, "http://x", "7\x00",
    ],
)  # fmt: skip
def test_path_fragments_are_not_ids(value):
    assert values.id_of(value) is None


def test_a_broken_row_is_left_out():
    rows = [{"id": 1, "name": "a"}, {"name": "no id"}, None, "x", {"id": "../account"}, 5]
    found = listing(files=rows, folders=[[]], torrents=[{"id": 1}])
    assert [one.name for one in found.files] == ["a"]
    assert found.folders == ()
    assert len(found.transfers) == 1


def test_a_repeated_id_yields_one_row():
    found = listing(torrents=[{"id": 1, "name": "a"}, {"id": "1", "name": "b"}])
    assert [one.name for one in found.transfers] == ["a"]


@each_case("nothing", [None, {}, "x", 5])
def test_a_value_that_is_not_a_list_is_not_an_empty_list(nothing):
    assert records.listing({"folders": nothing, "files": []}) is None
    assert records.listing({"folders": [], "files": nothing}) is None
    assert records.listing({"files": nothing}) is None
    assert listing(torrents=nothing).transfers is None
    assert records.transfers({"transfers": nothing}, None, TransferRows().read) is None


def test_a_list_that_is_not_there_is_empty():
    found = records.listing({"folders": []})
    assert (found.folders, found.files, found.transfers) == ((), (), ())
    assert listing(torrents=None, transfers=[{"id": 3}]).transfers[0].id == "3"


def test_an_empty_object_is_not_an_empty_folder():
    assert records.listing({}) is None
    assert records.account({"result": True}) is None
    assert records.transfer({"result": True}, "7") is None
    assert records.addition({}) is None


def test_running_transfers_are_read_under_either_name():
    assert [one.id for one in listing(transfers=[{"id": 3}]).transfers] == ["3"]
    assert [one.id for one in listing(torrents=[{"id": 3}]).transfers] == ["3"]
    both = listing(torrents=[{"id": 3}], transfers=[{"id": 3}])
    assert [one.id for one in both.transfers] == ["3"]


@each_case(
    ("value", "expected"),
    [
        (42.5, 42.5), ("42.5", 42.5), (250, 101.0), ("250", 101.0), (-3, 0.0), ("NaN", 0.0),
        (float("nan"), 0.0), (float("inf"), 0.0), ("Infinity", 0.0), (None, 0.0), (True, 0.0),
        ("", 0.0), ([], 0.0), (10**400, 0.0), (101, 101.0), ("101", 101.0),
    ],
)  # fmt: skip
def test_progress_is_between_nothing_and_moved(value, expected):
    assert transfer(progress=value).progress_percent == expected


@each_case(
    ("value", "expected"),
    [
        (0, 0), ("0", 0), (5, 5), ("5", 5), (5.0, 5), (2**80, 2**63 - 1), (10**400, 2**63 - 1),
        (-5, None), ("-5", None), (None, None), ("many", None), (True, None), ("1e999", None),
        ([1], None), (float("nan"), None),
    ],
)  # fmt: skip
def test_a_size_is_a_count_that_a_database_holds_or_unknown(value, expected):
    assert file(size=value).size_bytes == expected


@each_case(
    "value",
    [
        None, "", 5, "yesterday", "2026-13-01 00:00:00", "2026-08-31", "0000-00-00 00:00:00",
        "2026-08-31 12:30:11+99", [], "２０２６-08-31 12:30:11",
    ],
)  # fmt: skip
def test_an_invalid_date_is_dropped(value):
    assert file(last_update=value).changed is None


def test_a_date_is_utc():
    found = file(last_update="2026-08-31 12:30:11")
    assert found.changed == datetime(2026, 8, 31, 12, 30, 11, tzinfo=UTC).timestamp()


@each_case(
    ("value", "expected"),
    [
        ("[]", ()), ("", ()), (None, ()), ([], ()), ('["slow"]', ("slow",)), (["slow"], ("slow",)),
        ("no tracker answers", ("no tracker answers",)), ('{"a": 1}', ()), (5, ("5",)),
        ("[" * 60_000, ("[" * 1_024,)), (["x"] * 50, ("x",) * 20),
    ],
)  # fmt: skip
def test_warnings_come_in_any_wrapping(value, expected):
    assert transfer(warnings=value).warnings == expected


@each_case(
    "name", ["<img src=x onerror=1>", "\u202egpj.exe", "a\x00b", "..", "a/b", "{{7*7}}", "ﷺ" * 400]
)
def test_a_name_is_stored_unchanged(name):
    assert file(name=name).name == name


def test_a_name_is_bounded_and_can_be_encoded():
    assert len(file(name="x" * 100_000).name) == 1_024
    assert file(name="a\ud800b").name == "a?b"
    assert file(name=42).name == "42"


@each_case(
    "thumb",
    ["javascript:alert(1)", "data:image/png;base64,x", "/etc/passwd", "//host/a", "http://a b",
     "https://a\n", "file:///etc/passwd", 5, "https://" + "a" * 5_000, "https://host\\@evil"],
)  # fmt: skip
def test_a_picture_link_that_is_not_a_url_is_dropped(thumb):
    found = file(thumb=thumb, presentation_urls={"image": {"48": thumb, "x": "https://a/"}})
    assert found.thumb_url is None
    assert found.image_urls == {}
    assert file(thumb="https://a/b").thumb_url == "https://a/b"


@each_case(
    ("fields", "name"),
    [
        ({"name": "Sintel"}, "Sintel"),
        ({"path": "Sintel"}, "Sintel"),
        ({"path": "Films/Sintel"}, "Sintel"),
        ({"name": "", "path": "Films/Sintel/"}, "Sintel"),
        ({"name": "a", "path": "b"}, "a"),
    ],
)
def test_a_folder_has_its_name_under_either_key(fields, name):
    assert records.folder({"id": 1, **fields}).name == name


def test_an_account_is_nested_or_flat():
    fields = {"username": "a", "user_id": "9", "premium": 1, "space_max": "5", "wishlist": None}
    assert records.account(fields) == records.account({"account": fields})
    assert records.account(fields).is_paid
    assert records.account(fields).space_max_bytes == 5
    assert records.account(fields).space_used_bytes is None


def test_an_account_without_known_fields_is_accepted():
    found = records.account({"account": {"tier": "gold"}})
    assert found.others == (("tier", "gold"),)
    assert found.space_max_bytes is None


@each_case(
    ("premium", "is_paid"), [(None, True), (1, True), (True, True), (0, False), (False, False)]
)
def test_an_account_is_paid_for_unless_it_says_no(premium, is_paid):
    assert records.account({"email": "a@example.org", "premium": premium}).is_paid is is_paid


@each_case("nameless", [{}, {"name": None}, {"name": ""}, {"path": "/"}])
def test_unnamed_entries_are_called_by_their_id(nameless):
    rows = [{"id": 7, **nameless}, {"id": "", "name": "no id"}, {"id": 8, "name": "named"}]
    found = records.listing({"folders": rows, "files": rows})
    assert [each.name for each in found.folders] == ["7", "named"]
    assert [each.name for each in found.files] == ["7", "named"]
    assert found.name == ""


@each_case("nothing", [0, "0", None, -1, False, ""])
def test_a_folder_that_does_not_exist_yet_is_none(nothing):
    assert transfer(folder_created=nothing).folder_created_id is None


def test_unknown_states_are_not_states():
    assert transfer(state="downloading").state == "downloading"
    assert transfer(state="dancing").state is None
    assert transfer(state=["done"]).state is None
    assert transfer(reason="<b>").reason is None


def test_ten_thousand_files_are_read_row_by_row():
    rows = [{"id": number, "name": f"{number}.mp4"} for number in range(1, 10_001)]
    found = listing(files=rows)
    assert len(found.files) == 10_000


@each_case(
    "raw",
    [
        b'{"a": 1', b"<html>", b'?({"a": 1})', b"[" * 100_000, b"[]", b'"x"', b"7", b"null",
        b'{"a":' * 100_000, "{}".encode("utf-16"), b"\xff\xfe", b"{'a': 1}", b"{} {}",
        b'{"a": "' + b"x" * 100,
    ],
)  # fmt: skip
def test_values_that_are_not_objects_are_unreadable(raw):
    with pytest.raises(errors.Unreadable) as raised:
        answers.decode(raw)
    assert raised.value.reason == "not_json"


@each_case(
    ("raw", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": NaN, "b": Infinity, "c": -Infinity}', {"a": None, "b": None, "c": None}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": ' + b"9" * 5_000 + b', "b": 7}', {"a": None, "b": 7}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b"  ", {}),
        (b"", {}),
    ],
)
def test_nearly_valid_json_is_read(raw, value):
    assert answers.decode(raw) == value


@each_case("unit", [b"{},", b"[],", b"0,"])
def test_a_small_response_that_expands_hugely_is_refused(unit):
    raw = b'{"files":[' + unit * 5_100_000 + b"0]}"
    with pytest.raises(errors.Unreadable) as raised:
        answers.decode(raw)
    assert raised.value.reason == "too_large"
