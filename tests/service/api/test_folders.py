from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.accounts import accounts
from service.library import library
from service.library.bulk_insert import NewFile, insert_tree
from service.models import Account, Transfer
from service.transfers import transfers
from tests.cases import each_case
from tests.service.api.reading import sample, shape, word
from tests.service.builders import NOW, a_file, a_folder, magnet, stored


def test_the_root_is_as_the_sample_shows_it(api, account):
    a_folder(account, "Sintel")
    a_file(account, "Sintel.mp4")
    transfers.add_magnet(account, magnet(name="Sintel two"), 0, NOW)
    expected, root = sample("folder_root"), api.get("/rest/folder").json()
    assert list(root) == list(expected)
    for each in (expected["files"][0], root["files"][0]):
        each["thumb"] = each["presentation_urls"] = None
    assert shape(root) == shape(expected)


def test_a_folder_is_listed_with_its_place_in_the_tree(api, account):
    films = a_folder(account, "Films")
    inner = a_folder(account, "Films/2024")
    deepest = a_folder(account, "Films/2024/Short")
    listing = api.get(f"/rest/folder/{inner.pk}").json()
    assert listing["name"] == listing["path"] == "2024"
    assert listing["fullname"] == "Films/2024"
    assert listing["parent"] == listing["parent_id"] == films.pk
    (row,) = listing["folders"]
    assert (row["id"], row["name"], row["path"]) == (deepest.pk, "Short", "Short")
    assert row["fullname"] == "Films/2024/Short"
    assert listing["torrents"] == listing["transfers"] == []


def test_times_are_in_utc_without_a_zone(api, account):
    a_file(account, "a.txt")
    root = api.get("/rest/folder").json()
    assert root["timestamp"] == root["files"][0]["last_update"] == "2026-09-01 12:00:00"


@each_case(
    ("name", "is_video", "is_audio"),
    [("a.mkv", True, False), ("a.MP4", True, False), ("a.flac", False, True)]
    + [(name, False, False) for name in ("a.txt", "mp4", "a", "a.mp4.part", ".", "..mp")],
)
def test_flags_tell_media_apart(name, is_video, is_audio, api, account):
    a_file(account, name if name != "." else "a.")
    (row,) = api.get("/rest/folder").json()["files"]
    assert row["is_video"] is row["play_video"] is row["stream_video"] is is_video
    assert row["is_audio"] is row["play_audio"] is row["stream_audio"] is is_audio


def test_a_transfer_names_its_target_folder(api, account):
    inner = a_folder(account, "Films") and a_folder(account, "Films/2024")
    transfers.add_magnet(account, magnet(), inner.pk, NOW)
    (row,) = api.get("/rest/folder").json()["torrents"]
    assert row["folder"] == "Films/2024"


def test_finished_transfers_are_no_longer_listed(api, account):
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    Transfer.objects.filter(pk=transfer.pk).update(state=Transfer.State.FAILED, reason="too_large")
    (row,) = api.get("/rest/folder").json()["torrents"]
    assert (row["state"], row["reason"]) == ("failed", "too_large")
    Transfer.objects.filter(pk=transfer.pk).update(state=Transfer.State.DONE)
    Account.objects.filter(pk=account.pk).update(transfers_revision=99)
    assert api.get("/rest/folder").json()["torrents"] == []


# Conditional requests


def etag(api, path="/rest/folder") -> str:
    return api.get(path).headers["etag"]


def test_an_unchanged_listing_has_the_same_bytes_and_etag(api, account):
    a_file(account)
    first, second = api.get("/rest/folder"), api.get("/rest/folder")
    assert first.content == second.content
    assert first.headers["etag"] == second.headers["etag"]


@each_case("known", ['"nothing", {}', "W/{}", "*", "{}"])
def test_clients_with_the_current_etag_get_no_listing(known, api, account):
    headers = {"if-none-match": known.format(etag(api))}
    answer = api.get("/rest/folder", headers=headers)
    assert (answer.status_code, answer.content) == (304, b"")


def test_no_rows_are_read_for_clients_with_the_current_etag(api, account):
    headers = {"if-none-match": etag(api)}
    with CaptureQueriesContext(connection) as queries:
        assert api.get("/rest/folder", headers=headers).status_code == 304
    assert len(queries) == 2  # the account and the folder


def test_every_change_makes_another_etag(api, account):
    film = a_folder(account, "Films")
    seen = [etag(api)]
    library.rename_folder(account, film.pk, "Movies", NOW)
    seen.append(etag(api))
    a_file(account, folder=film)
    seen.append(etag(api))
    transfers.add_magnet(account, magnet(), 0, NOW)
    seen.append(etag(api))
    accounts.set_space(account, 5, NOW)
    seen.append(etag(api))
    assert len(set(seen)) == 5


def test_a_running_transfer_does_not_change_other_folders(api, account):
    path = f"/rest/folder/{a_folder(account).pk}"
    before = api.get(path)
    transfers.add_magnet(account, magnet(), 0, NOW + timedelta(hours=1))
    after = api.get(path)
    assert after.headers["etag"] == before.headers["etag"]
    assert after.content == before.content


def test_a_deleted_folder_is_not_unchanged(api, account):
    path = f"/rest/folder/{a_folder(account).pk}"
    known = {"if-none-match": etag(api, path)}
    assert api.delete(path).status_code == 200
    assert word(api.get(path, headers=known)) == (404, "not_found")


# Created, renamed, deleted


@each_case(
    ("path", "refusal"),
    [
        ("", (422, "name_empty")),
        ("  ", (422, "name_empty")),
        ("/", (422, "name_empty")),
        ("a//b", (422, "name_empty")),
        ("..", (422, "name_not_allowed")),
        ("Films/..", (422, "name_not_allowed")),
        ("a\0b", (422, "name_not_allowed")),
        ("a\nb", (422, "name_not_allowed")),
        ("a" * 256, (422, "name_too_long")),
        ("Nowhere/x", (404, "not_found")),
        ("Films", (409, "name_taken")),
        ("a.txt", (409, "name_taken")),
    ],
)
def test_an_impossible_folder_is_refused(path, refusal, api, account):
    a_folder(account, "Films")
    a_file(account, "a.txt")
    assert word(api.post("/rest/folder", data={"path": path})) == refusal


def test_the_id_of_a_new_folder_is_text_and_that_of_a_listed_one_a_number(api):
    """Older clients read them so."""
    created = [api.post("/rest/folder", data={"path": path}).json() for path in ("a", "a/b")]
    assert [each["path"] for each in created] == ["a", "a/b"]
    (outer,) = api.get("/rest/folder").json()["folders"]
    (inner,) = api.get(f"/rest/folder/{created[0]['id']}").json()["folders"]
    assert [each["id"] for each in created] == [f"{outer['id']}", f"{inner['id']}"]
    assert isinstance(outer["id"], int)


def test_nothing_to_create_is_a_missing_field(api):
    assert word(api.post("/rest/folder")) == (400, "path_missing")
    assert word(api.post("/rest/folder/1/rename")) == (400, "rename_to_missing")


@pytest.mark.slow
def test_names_stay_as_they_were_sent(api):
    for name in ("e\u0301té", "👨\u200d👩\u200d👧", "\u202egpj", " spaces ", "%2F", "a\\b", '"<b>'):
        assert api.post("/rest/folder", data={"path": name}).status_code == 200
        assert api.post("/rest/folder", json={"path": name}).status_code == 409
    names = [each["name"] for each in api.get("/rest/folder").json()["folders"]]
    assert "e\u0301té" in names
    assert "👨\u200d👩\u200d👧" in names


def test_the_root_stays(api, account):
    for root_id in (0, library.root_of(account).pk):
        assert word(api.delete(f"/rest/folder/{root_id}")) == (422, "root_folder")
        renamed = api.post(f"/rest/folder/{root_id}/rename", data={"rename_to": "x"})
        assert word(renamed) == (422, "root_folder")


def test_a_name_for_the_root_is_the_path_of_a_new_folder(api, account):
    for folder_id, name in ((0, "Films"), (library.root_of(account).pk, "Series")):
        made = api.post(f"/rest/folder/{folder_id}/rename", data={"name": name})
        assert (made.status_code, made.json()["path"]) == (200, name)
    assert word(api.post("/rest/folder/0/rename", data={"name": "Films"})) == (409, "name_taken")


def test_a_path_for_no_folder_of_mine_creates_nothing(api, stranger, account):
    folder = a_folder(account)
    sent = {"name": "/Other"}
    assert word(stranger.post(f"/rest/folder/{folder.pk}/rename", data=sent)) == (404, "not_found")
    assert stranger.get("/rest/folder").json()["folders"] == []
    assert api.post(f"/rest/folder/{folder.pk}/rename", data=sent).status_code == 200


def test_rename_to_wins_and_is_never_a_path(api, account):
    folder = a_folder(account)
    both = {"rename_to": "a/b", "name": "/Other"}
    answer = api.post(f"/rest/folder/{folder.pk}/rename", data=both)
    assert word(answer) == (422, "name_not_allowed")
    assert [each["name"] for each in api.get("/rest/folder").json()["folders"]] == ["Films"]


def test_a_stranger_sees_no_folder_of_mine(stranger, account):
    folder = a_folder(account)
    path = f"/rest/folder/{folder.pk}"
    answers = [
        stranger.get(path),
        stranger.get(f"{path}/download"),
        stranger.delete(path),
        stranger.post(f"{path}/delete"),
        stranger.post(f"{path}/rename", data={"rename_to": "x"}),
    ]
    assert {word(answer) for answer in answers} == {(404, "not_found")}
    assert library.folder(account, folder.pk).name == "Films"


# Numbers of queries


def queries_of(api, path: str) -> int:
    api.get("/rest/user")  # After this, the password is remembered.
    with CaptureQueriesContext(connection) as queries:
        assert api.get(path).status_code == 200
    return len(queries)


def many(account: Account, count: int) -> str:
    files = [NewFile((f"file {number:05}.mkv",), stored()) for number in range(count)]
    folder = insert_tree(account, 0, f"With {count}", files, NOW).folder
    return f"/rest/folder/{folder.pk}"


@pytest.mark.slow
def test_10_000_entries_take_no_more_queries_than_10(api, account):
    few, lots = many(account, 10), many(account, 10_000)
    assert queries_of(api, lots) == queries_of(api, few) <= 6
    assert len(api.get(lots).json()["files"]) == 10_000


def test_2_000_transfers_take_no_more_queries_than_2(api, account):
    for digit in "ab":
        transfers.add_magnet(account, magnet(digit), 0, NOW)
    few = queries_of(api, "/rest/folder")
    example = Transfer.objects.filter(account=account).values()[0] | {"id": None}
    rows = [Transfer(**example | {"info_hash_v1": f"{number:040x}"}) for number in range(2000)]
    Transfer.objects.bulk_create(rows)
    assert queries_of(api, "/rest/folder") == few


def test_two_accounts_have_separate_listings(account, stranger, api):
    other = Account.objects.get(email="mallory@example.org")
    a_file(other, "hers.txt")
    a_file(account, "mine.txt")
    assert [each["name"] for each in api.get("/rest/folder").json()["files"]] == ["mine.txt"]
    assert etag(api) != etag(stranger)
