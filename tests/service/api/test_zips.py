import json
from urllib.parse import unquote, urlencode

import pytest

from service.api import archive_entries
from tests.cases import each_case
from tests.service.api.reading import word
from tests.service.builders import a_file, a_folder


def ask(api, entries) -> tuple:
    return api.post("/rest/zip", data={"archive_arr": json.dumps(entries)})


@each_case(
    ("entry", "why"),
    [
        (7, "is no object"),
        (None, "is no object"),
        ([], "is no object"),
        ({}, "type is none of"),
        ({"type": "folders", "id": 7}, "type is none of"),
        ({"type": ["file"], "id": 7}, "type is none of"),
        ({"type": "file"}, "id is no number"),
        ({"type": "file", "id": "x"}, "id is no number"),
        ({"type": "file", "id": -1}, "id is no number"),
        ({"type": "file", "id": 1.5}, "id is no number"),
        ({"type": "file", "id": True}, "id is no number"),
        ({"type": "file", "id": {"id": 7}}, "id is no number"),
    ],
)
def test_a_bad_entry_is_named(entry, why, api, account):
    good = {"type": "file", "id": a_file(account).pk}
    answer = ask(api, [good, entry])
    assert word(answer) == (422, "archive_arr_unreadable")
    assert answer.json()["entry"] == 1
    assert answer.json()["message"].startswith(f"archive_arr[1]: {why}")


@each_case("value", ["", "x", "{}", "7", "[]", '"a"', "null", "[" * 100_000])
def test_values_that_are_not_lists_are_unreadable(value, api):
    answer = api.post("/rest/zip", data={"archive_arr": value})
    assert word(answer) == (422, "archive_arr_unreadable")


def spellings(film: int, music: int) -> dict[str, list[tuple[str, str]]]:
    one, other = f'{{"type": "file", "id": {film}}}', f'{{"type":"folder","id":"{music}"}}'
    return {
        "a list": [("archive_arr", f"[{one}, {other}]")],
        "a list of texts": [("archive_arr", json.dumps([one, other]))],
        "an object": [("archive_arr", f'{{"0": {one}, "1": {other}}}')],
        "each by itself": [("archive_arr", one), ("archive_arr", other)],
        "[]": [("archive_arr[]", one), ("archive_arr[]", other)],
        "[0]": [("archive_arr[1]", other), ("archive_arr[0]", one)],
        "[][]": [
            *(("archive_arr[][type]", "file"), ("archive_arr[][id]", str(film))),
            *(("archive_arr[][id]", str(music)), ("archive_arr[][type]", "folder")),
        ],
        "[0][]": [
            *(("archive_arr[0][type]", "file"), ("archive_arr[1][type]", "folder")),
            *(("archive_arr[0][id]", str(film)), ("archive_arr[1][id]", str(music))),
        ],
    }


@pytest.mark.parametrize("sent", ["query", "form", "multipart"])
@each_case("spelling", list(spellings(0, 0)))
def test_an_array_may_be_written_in_each_usual_way(sent, spelling, api, account):
    film, music = a_file(account).pk, a_folder(account).pk
    pairs = spellings(film, music)[spelling]
    answer = send(api, sent, pairs)
    assert answer.status_code == 302, answer.text
    assert archive_entries.selection_of(pairs) == ([music], [film])


def send(api, sent: str, pairs: list[tuple[str, str]]):
    if sent == "query":
        return api.get("/rest/zip", params=pairs)
    if sent == "form":
        form = {"content-type": "application/x-www-form-urlencoded"}
        return api.post("/rest/zip", content=urlencode(pairs), headers=form)
    return api.post("/rest/zip", files=[(name, (None, value)) for name, value in pairs])


def test_one_entry_may_come_without_a_list(api, account):
    entry = {"type": "file", "id": a_file(account).pk}
    for alone in (entry, {"0": entry}):
        assert ask(api, alone).status_code == 302
        assert api.post("/rest/zip", json={"archive_arr": alone}).status_code == 302
        assert archive_entries.selection_of([("archive_arr", alone)]) == ([], [entry["id"]])


@each_case(
    ("name", "file_name"),
    [("", "Files"), ("Old papers", "Old papers"), ("a/b\n", "a b"), ("..", "Files")],
)
def test_an_archive_may_be_named(name, file_name, api, account):
    chosen = json.dumps([{"type": "file", "id": a_file(account).pk}])
    answer = api.post("/rest/zip", data={"archive_arr": chosen, "name": name})
    assert unquote(answer.headers["location"]).partition("?")[0].endswith(f"/{file_name}.zip")


def test_nothing_chosen_is_a_missing_field(api):
    for answer in (api.get("/rest/zip"), api.post("/rest/zip"), api.post("/rest/zip", json={})):
        assert word(answer) == (400, "archive_arr_missing")


def test_one_entry_too_many_is_refused(api):
    answer = ask(api, [{"type": "file", "id": 1}] * (archive_entries.MOST_ENTRIES + 1))
    assert word(answer) == (422, "archive_arr_unreadable")
    assert answer.json()["entry"] == archive_entries.MOST_ENTRIES


def test_each_is_in_it_once():
    entries = [
        {"type": kind, "id": number}
        for kind in ("file", "folder_file", "folder")
        for number in (2, "1", 2)
    ]
    assert archive_entries.selection_of([("archive_arr", entries)]) == ([2, 1], [2, 1])


def test_the_bracket_form_is_ordered_by_its_numbers():
    values = {"archive_arr[10][id]": "2", "archive_arr[10][type]": "folder", "other": "x"}
    values |= {"archive_arr[9][type]": "file", "archive_arr[9][id]": "1", "archive_arr[x][id]": "3"}
    assert archive_entries.selection_of(list(values.items())) == ([2], [1])


def test_a_bad_entry_in_brackets_is_named_by_its_own_number(api):
    good = {"archive_arr[3][type]": "file", "archive_arr[3][id]": "1"}
    answer = api.post("/rest/zip", data=good | {"archive_arr[7][type]": "file"})
    assert word(answer) == (422, "archive_arr_unreadable")
    assert answer.json()["entry"] == 7
    assert answer.json()["message"] == "archive_arr[7]: id is no number"


def test_items_of_other_accounts_are_not_found(api, stranger, account):
    file, folder = a_file(account), a_folder(account)
    for kind, number in (("file", file.pk), ("folder", folder.pk)):
        chosen = [{"type": kind, "id": number}]
        assert ask(api, chosen).status_code == 302
        assert word(ask(stranger, chosen)) == (404, "not_found")
    assert word(ask(api, [{"type": "file", "id": 10**30}])) == (404, "not_found")


def test_ten_thousand_entries_in_brackets_fit(api, account):
    file = a_file(account)
    fields = {}
    for number in range(archive_entries.MOST_ENTRIES):
        fields[f"archive_arr[{number}][type]"] = "folder_file"
        fields[f"archive_arr[{number}][id]"] = str(file.pk)
    assert api.post("/rest/zip", data=fields).status_code == 302


def test_the_link_is_absolute_and_carries_no_credentials(api, account):
    answer = ask(api, [{"type": "file", "id": a_file(account).pk}])
    location = answer.headers["location"]
    assert location.startswith("http://localhost/content/")
    assert account.email not in location
