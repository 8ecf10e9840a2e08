import json
import re

import msgspec
import pytest
import schemathesis
from django.db.models import F

from service.accounts.accounts import changing_transfers
from service.api.operations import openapi
from service.details import Details, encode_details
from service.library import library
from service.models import Account, TorrentFile, Transfer, Wish
from service.transfers import choices, transfers
from service.transfers.imports import TorrentEntry
from tests.cases import each_case
from tests.service.api.reading import sample, shape, word
from tests.service.builders import NOW, a_folder, a_torrent, fill_wishlist, magnet
from tests.service.reading import contents_of

ADDS = ["transfer/magnet", "transfer/url", "transfer/file", "torrent/magnet", "torrent/url"]
ADDS.append("torrent/file")


def test_an_added_transfer_is_answered_as_the_sample_shows_it(api):
    answer = api.post("/rest/transfer/magnet", data={"magnet": magnet(name="Sintel")})
    assert shape(answer.json()) == shape(sample("add_ok"))
    assert list(answer.json()) == list(sample("add_ok"))


def test_a_repeated_url_is_answered_with_the_reason(api, account):
    url = "http://example.org/a.txt"
    first = api.post("/rest/transfer/url", data={"url": url}).json()
    Transfer.objects.filter(pk=first["id"]).update(state="done")
    again = api.post("/rest/transfer/url", data={"url": url}).json()
    assert again["id"] != first["id"]
    assert again["reason"] == "fetched_again"


def test_a_transfer_is_shown_as_the_sample_shows_it(api, account):
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    Transfer.objects.filter(pk=transfer.pk).update(folder_created_id=7, progress_percent=101)
    shown = api.get(f"/rest/transfer/{transfer.pk}").json()
    assert list(shown) == list(sample("transfer_get"))
    assert shape(shown) == shape(sample("transfer_get"))


@each_case("path", ["transfer", "transfer/{}"])
def test_a_failure_is_explained_in_values_and_in_english(path, api, account):
    """A row of an earlier version has a sentence only, which is no longer read."""
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)

    def shown(**columns):
        Transfer.objects.filter(pk=transfer.pk).update(**columns)
        Account.objects.update(transfers_revision=F("transfers_revision") + 1)
        answer = api.get(f"/rest/{path.format(transfer.pk)}").json()
        row = answer.get("transfers", [answer])[0]
        return row.get("details"), json.loads(row["warnings"])

    values = {"kind": "http_status", "status": 404, "tries": 3}
    sentences = ["The server couldn't find this file (404). Ferry tried 3 times."]
    column = encode_details(msgspec.convert(values, Details))
    assert shown(state="failed", reason="fetch_error", details=column) == (values, sentences)
    assert shown(details=None, sentence="The tide is out.") == (None, [])
    assert shown(state="queued", reason="", details=column) == (None, [])


@each_case(
    ("progress", "written"),
    [(0, b"0"), (42.5, b"42.5"), (100, b"100"), (100.99, b"100.99"), (101, b"101")],
)
def test_a_whole_percentage_is_written_as_an_integer(progress, written, api, account):
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    Transfer.objects.filter(pk=transfer.pk).update(progress_percent=progress)
    for path in (
        "folder",
        "transfer",
        "torrent",
        f"transfer/{transfer.pk}",
        f"torrent/{transfer.pk}",
    ):
        values = re.findall(rb'"progress":([^,}]*)', api.get(f"/rest/{path}").content)
        assert set(values) == {written}, path


def test_a_stopped_transfer_says_so_in_both_ways(api, account):
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    Transfer.objects.filter(pk=transfer.pk).update(state=Transfer.State.STOPPED)
    shown = api.get(f"/rest/torrent/{transfer.pk}").json()
    assert (shown["stopped"], shown["state"]) == (1, "stopped")


def test_a_transfer_is_paused_and_resumed(api, account):
    described = schemathesis.openapi.from_dict(openapi())
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    for act, state in (("pause", "stopped"), ("pause", "stopped"), ("resume", "queued")):
        answer = api.post(f"/rest/transfer/{transfer.pk}/{act}")
        described[f"/rest/transfer/{{transfer_id}}/{act}"]["POST"].validate_response(answer)
        assert answer.status_code == 200
        assert api.get(f"/rest/transfer/{transfer.pk}").json()["state"] == state


@pytest.fixture
def known(account):
    """Return a transfer whose files are known, as if a worker had found them."""
    transfer = transfers.add_magnet(account, magnet(name="Films"), 0, NOW)
    entries = [TorrentEntry(0, "a.mkv", 3), TorrentEntry(2, "b/c.srt", 4)]
    with changing_transfers(account, NOW):
        choices.know_files(transfer, entries)
    return transfer


def test_the_files_of_a_torrent_are_listed_and_chosen(api, known):
    described = schemathesis.openapi.from_dict(openapi())
    operations = described["/rest/transfer/{transfer_id}/files"]
    path = f"/rest/transfer/{known.pk}"
    shown = api.get(f"{path}/files")
    operations["GET"].validate_response(shown)
    assert shown.json()["files"] == [
        {"index": 0, "path": "a.mkv", "size": 3, "progress": 0, "wanted": True},
        {"index": 2, "path": "b/c.srt", "size": 4, "progress": 0, "wanted": True},
    ]
    answer = api.post(f"{path}/files", data={"wanted": "2"})
    operations["POST"].validate_response(answer)
    assert answer.json()["id"] == known.pk
    wanted = [each["wanted"] for each in api.get(f"{path}/files").json()["files"]]
    assert wanted == [False, True]
    record = api.get(path).json()
    assert (record["unwanted"], record["size"]) == ("[0]", 4)


def test_files_are_unknown_at_first(api, account):
    path = f"/rest/transfer/{transfers.add_magnet(account, magnet(), 0, NOW).pk}/files"
    assert api.get(path).json()["files"] == []
    assert word(api.post(path, data={"wanted": "0"})) == (422, "files_unknown")


@each_case(
    ("fields", "refusal"),
    [
        ({}, (400, "wanted_missing")),
        ({"wanted": ""}, (422, "nothing_wanted")),
        ({"wanted": ", ,"}, (422, "nothing_wanted")),
        ({"wanted": "1"}, (422, "unknown_file")),
        ({"wanted": "0,-2"}, (422, "wanted_unreadable")),
        ({"wanted": "0.0"}, (422, "wanted_unreadable")),
        ({"wanted": "\u0662"}, (422, "wanted_unreadable")),
        ({"wanted": "9" * 30}, (422, "unknown_file")),
        ({"wanted": "9" * 31}, (422, "wanted_unreadable")),
    ],
)
def test_what_is_no_choice_is_refused(fields, refusal, api, known):
    assert word(api.post(f"/rest/transfer/{known.pk}/files", data=fields)) == refusal
    assert api.get(f"/rest/transfer/{known.pk}").json()["unwanted"] == "[]"


@each_case("path", ADDS)
def test_each_way_to_add_can_wait_for_a_choice(path, api):
    data = {"magnet": magnet(), "url": "http://127.0.0.1/a", "choose": "1"}
    files = {"file": ("s.torrent", a_torrent())} if path.endswith("file") else None
    api.post(f"/rest/{path}", data=data, files=files)
    assert Transfer.objects.get().chooses


@each_case("act", ["pause", "resume", "move"])
def test_others_transfers_are_not_found(act, api, stranger, account):
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    url = f"/rest/transfer/{transfer.pk}/{act}"
    assert stranger.post(url, data={"to": "first"}).status_code == 404
    assert api.get(f"/rest/transfer/{transfer.pk}").json()["state"] == "queued"


@each_case("noun", ["transfer", "torrent"])
@each_case(("to", "order"), [("first", "cab"), ("up", "acb"), ("down", "abc"), ("last", "abc")])
def test_a_transfer_is_moved_in_the_queue(noun, to, order, api, account):
    described = schemathesis.openapi.from_dict(openapi())
    ids = {name: transfers.add_magnet(account, magnet(name), 0, NOW).pk for name in "abc"}
    answer = api.post(f"/rest/{noun}/{ids['c']}/move", data={"to": to})
    described[f"/rest/{noun}/{{{noun}_id}}/move"]["POST"].validate_response(answer)
    assert answer.status_code == 200
    shown = [row["id"] for row in api.get(f"/rest/{noun}").json()["transfers"]]
    assert shown == [ids[name] for name in order]


@each_case("noun", ["transfer", "torrent"])
def test_many_transfers_are_changed_together(noun, api, account):
    described = schemathesis.openapi.from_dict(openapi())
    ids = [transfers.add_magnet(account, magnet(digit), 0, NOW).pk for digit in "abc"]
    etag = api.get("/rest/transfer").headers["ETag"]
    for action, stopped in (("pause", [1, 0, 1]), ("resume", [0, 0, 0])):
        form = {"ids": f"{ids[0]}, {ids[2]},{10**12},{10**25}", "action": action}
        answer = api.post(f"/rest/{noun}s/change", data=form)
        described[f"/rest/{noun}s/change"]["POST"].validate_response(answer)
        assert answer.json() | {"changed": None} == {
            "success": True,
            "result": True,
            "code": 200,
            "changed": None,
        }
        assert sorted(answer.json()["changed"]) == [ids[0], ids[2]]
        listing = api.get("/rest/transfer", headers={"If-None-Match": etag})
        assert [row["stopped"] for row in listing.json()["transfers"]] == stopped


def test_transfers_are_put_before_another_one(api, account):
    ids = [transfers.add_magnet(account, magnet(digit), 0, NOW).pk for digit in "abc"]
    form = {"ids": str(ids[2]), "action": "before", "before": str(ids[1])}
    assert api.post("/rest/transfers/change", data=form).json()["changed"] == [ids[2]]
    shown = [row["id"] for row in api.get("/rest/transfer").json()["transfers"]]
    assert shown == [ids[0], ids[2], ids[1]]


@each_case(
    ("path", "form", "refusal"),
    [
        ("transfer/{}/move", {}, (400, "to_missing")),
        ("transfer/{}/move", {"to": "pause"}, (422, "to_unreadable")),
        ("transfer/{}/move", {"to": "FIRST"}, (422, "to_unreadable")),
        ("transfers/change", {"action": "pause"}, (400, "ids_missing")),
        ("transfers/change", {"ids": "{}"}, (400, "action_missing")),
        ("transfers/change", {"ids": "{}", "action": "delete"}, (422, "action_unreadable")),
        ("transfers/change", {"ids": "{},", "action": "pause"}, (422, "ids_unreadable")),
        ("transfers/change", {"ids": "{},-1", "action": "pause"}, (422, "ids_unreadable")),
        (
            "transfers/change",
            {"ids": "{}", "action": "before", "before": "x"},
            (422, "before_unreadable"),
        ),
        ("transfers/change", {"ids": "{},all", "action": "pause"}, (422, "ids_unreadable")),
    ],
)
def test_an_unreadable_change_changes_nothing(path, form, refusal, api, account):
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    data = {name: value.format(transfer.pk) for name, value in form.items()}
    assert word(api.post(f"/rest/{path.format(transfer.pk)}", data=data)) == refusal
    transfer.refresh_from_db()
    assert (transfer.state, transfer.rank) == ("queued", 1)


def test_a_torrent_that_does_not_fit_becomes_a_wish(api, account):
    Account.objects.filter(pk=account.pk).update(space_max_bytes=10)
    answer = api.post("/rest/torrent/file", files={"torrent_file": ("s.torrent", a_torrent())})
    expected = sample("add_not_enough_space.http413")
    assert answer.status_code == 413
    assert shape(answer.json()) == shape(expected)
    assert answer.json()["result"] == answer.json()["error"] == expected["result"]
    (wish,) = api.get("/rest/user").json()["account"]["wishlist"]
    assert wish == answer.json()["wt"]


def test_a_full_wishlist_says_so(api, account):
    Account.objects.filter(pk=account.pk).update(space_max_bytes=10)
    fill_wishlist(account, transfers.MOST_WISHES)
    answer = api.post("/rest/torrent/file", files={"file": ("s.torrent", a_torrent())})
    assert answer.status_code == 413
    assert answer.json()["result"] == "not_enough_space_wishlist_full"
    assert "wt" not in answer.json()
    assert Wish.objects.count() == transfers.MOST_WISHES


def test_a_full_queue_says_so(api, settings):
    settings.QUEUE_LIMIT = 1
    api.post("/rest/transfer/magnet", data={"magnet": magnet("a")})
    answer = api.post("/rest/transfer/magnet", data={"magnet": magnet("b")})
    assert answer.status_code == 413
    assert answer.json()["reason_phrase"] == "queue_full_added_to_wishlist"


@each_case("name", ["Sintel.torrent", "Sintel.TORRENT", "Sintel"])
def test_an_address_of_a_torrent_is_called_as_its_folder_will_be(name, api):
    answer = api.post("/rest/transfer/url", data={"url": f"http://example.org/{name}?id=7"})
    assert answer.json()["title"] == "Sintel"


@each_case("path", ADDS)
@each_case("body", [{}, {"data": {"magnet": "", "url": ""}}, {"json": {}}])
def test_an_empty_add_is_reported(path, body, api):
    assert word(api.post(f"/rest/{path}", **body)) == (400, "no_torrent_passed")


@each_case(
    "url", ["x", "ftp://example.org/a", "file:///etc/passwd", "http://", "http://a\nb/", "//a/b"]
)
def test_a_malformed_url_is_refused(url, api):
    assert word(api.post("/rest/transfer/url", data={"url": url})) == (422, "url_not_allowed")


@each_case("path", ADDS)
@each_case(
    ("folder_id", "refusal"),
    [
        ("x", (422, "folder_id_unreadable")),
        ("-1", (422, "folder_id_unreadable")),
        ("999999999999", (404, "not_found")),
        (str(10**25), (404, "not_found")),
    ],
)
def test_an_invalid_folder_is_refused_before_anything_is_saved(path, folder_id, refusal, api):
    data = {"magnet": magnet(), "url": "http://127.0.0.1/a", "folder_id": folder_id}
    files = {"file": ("s.torrent", a_torrent())} if path.endswith("file") else None
    assert word(api.post(f"/rest/{path}", data=data, files=files)) == refusal
    assert not Transfer.objects.exists()
    assert not TorrentFile.objects.exists()


def test_a_folder_of_another_account_is_not_found(api, stranger, account):
    folder_id = str(a_folder(account).pk)
    data = {"magnet": magnet(), "folder_id": folder_id}
    assert word(stranger.post("/rest/transfer/magnet", data=data)) == (404, "not_found")


def test_a_stranger_sees_no_transfer_of_mine(stranger, account):
    path = f"/rest/transfer/{transfers.add_magnet(account, magnet(), 0, NOW).pk}"
    answers = [stranger.get(path), stranger.delete(path), stranger.post(path)]
    assert {word(answer) for answer in answers} == {(404, "not_found")}
    assert stranger.get("/rest/transfer").json()["transfers"] == []
    assert transfers.list_rows(account)


def test_a_torrent_added_as_a_file_keeps_its_bytes(api):
    content = a_torrent("Sintel", files={"a.mkv": 10, "b/c.srt": 5})
    answer = api.post("/rest/transfer/file", files={"file": ("any name", content, "text/plain")})
    transfer = Transfer.objects.get(pk=answer.json()["id"])
    assert bytes(transfer.torrent.content) == content
    assert (transfer.title, transfer.size_bytes) == ("Sintel", 15)


def test_deleting_a_transfer_keeps_its_files(api, account):
    answer = api.post("/rest/transfer/file", files={"file": ("a.txt", b"content")})
    assert api.delete(f"/rest/transfer/{answer.json()['id']}").status_code == 200
    assert [each.name for each in contents_of(account, 0).files] == ["a.txt"]


def test_the_list_of_transfers_includes_the_space(api, account):
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    facts = api.get("/rest/transfer").json()
    assert [each["id"] for each in facts["transfers"]] == [transfer.pk]
    assert facts["transfers"] == facts["torrents"] == api.get("/rest/folder").json()["torrents"]
    assert facts["space_max"] == account.space_max_bytes


def test_clients_with_the_current_etag_get_no_transfers_until_they_change(api, account):
    known = {"if-none-match": api.get("/rest/transfer").headers["etag"]}
    answer = api.get("/rest/transfer", headers=known)
    assert (answer.status_code, answer.content) == (304, b"")
    transfers.add_magnet(account, magnet(), 0, NOW)
    changed = api.get("/rest/transfer", headers=known)
    assert changed.status_code == 200
    library.create_folder(account, "New", NOW)
    later = {"if-none-match": changed.headers["etag"]}
    assert api.get("/rest/transfer", headers=later).status_code == 200


def test_deleting_a_folder_while_transfers_are_listed_is_harmless(api, account, monkeypatch):
    folder = a_folder(account)
    transfers.add_magnet(account, magnet(), folder.pk, NOW)
    listed = transfers.list_rows

    def listed_before_the_folder_went(account):
        before = listed(account)
        library.delete_folder(account, folder.pk, NOW)
        return before

    # The folder must be deleted between two queries of one request.
    monkeypatch.setattr(transfers, "list_rows", listed_before_the_folder_went)
    (row,) = api.get("/rest/transfer").json()["transfers"]
    assert row["folder"] == ""
