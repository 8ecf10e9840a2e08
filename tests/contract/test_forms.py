"""Alternative forms in the specification, what clients send, what we add, and errors."""

import json

import httpx
import pytest

from tests.cases import each_case
from tests.contract.rows import Rows
from tests.contract.speaking import CONTENT, V1, fine, magnet, refused, torrent
from tests.contract.specification import (
    CONFLICTING_FORMS,
    ERRORS,
    WHAT_CLIENTS_SEND,
    WHAT_OUR_SERVICE_ADDS,
)
from tests.contract.test_specification import files_of

pytestmark = pytest.mark.slow

FORM = {"content-type": "application/x-www-form-urlencoded"}
ALTERNATIVE, SENT, ADDED, ERROR = Rows(), Rows(), Rows(), Rows()


@pytest.mark.promise("v1: alternative forms")
@each_case("words", CONFLICTING_FORMS)
def test_alternative_form(words, v1):
    ALTERNATIVE[words](v1)


@pytest.mark.promise("v1: forms of requests")
@each_case("words", WHAT_CLIENTS_SEND)
def test_the_forms_that_clients_send(words, v1):
    SENT[words](v1)


@pytest.mark.promise("v1: our extensions")
@each_case("words", WHAT_OUR_SERVICE_ADDS)
def test_the_fields_that_our_service_adds(words, v1):
    ADDED[words](v1)


@pytest.mark.promise("v1: errors")
@each_case("words", ERRORS)
def test_error(words, v1):
    ERROR[words](v1)


@ALTERNATIVE("Delete folder")
def post_folder_delete(v1: V1) -> None:
    fine(v1.post(f"/rest/folder/{v1.folder('Films')}/delete"))
    assert v1.folder_names() == []


@ALTERNATIVE("Delete file")
def post_file_delete(v1: V1) -> None:
    fine(v1.post(f"/rest/file/{v1.file('a.txt')}/delete"))
    assert v1.file_names() == []


@ALTERNATIVE("Delete transfer")
def post_transfer(v1: V1) -> None:
    fine(v1.post(f"/rest/transfer/{v1.transfer('Sintel')}"))
    assert v1.transfer_ids() == []


@ALTERNATIVE("Thumbnail path")
def short_thumbnail_path(v1: V1) -> None:
    refused(v1.get(f"/rest/{v1.file('a.txt')}/thumbnail"), 404, "not_found")


@ALTERNATIVE("Rename file path")
def short_rename_path(v1: V1) -> None:
    fine(v1.post(f"/rest/{v1.file('a.txt')}/rename", data={"rename_to": "b.txt"}))
    assert v1.file_names() == ["b.txt"]


@ALTERNATIVE("Rename folder field")
def rename_by_name(v1: V1) -> None:
    folder_id = v1.folder("Films")
    fine(v1.post(f"/rest/folder/{folder_id}/rename", data={"name": "Movies"}))
    assert v1.folder_names() == ["Movies"]
    both = {"rename_to": "Cinema", "name": "/Other"}
    fine(v1.post(f"/rest/folder/{folder_id}/rename", data=both))
    assert v1.folder_names() == ["Cinema"]


@ALTERNATIVE("Create folder")
def create_by_rename(v1: V1) -> None:
    fine(v1.post("/rest/folder/0/rename", data={"name": "/Films"}))
    made = fine(v1.post("/rest/folder/0/rename", data={"name": "Films/2024"}))
    assert made["path"] == "Films/2024"
    assert fine(v1.post("/rest/folder/0/rename", data={"name": "Series"}))["path"] == "Series"
    assert v1.folder_names() == ["Films", "Series"]


@ALTERNATIVE("Add torrent by file")
def torrent_file_to_url(v1: V1) -> None:
    files = {"torrent_file": ("s.torrent", torrent("Sintel"))}
    assert fine(v1.post("/rest/torrent/url", files=files))["title"] == "Sintel"


@ALTERNATIVE("Resource naming")
def both_namings(v1: V1) -> None:
    transfer_id = v1.transfer("Sintel")
    by_one = fine(v1.get(f"/rest/transfer/{transfer_id}"))
    by_other = fine(v1.get(f"/rest/torrent/{transfer_id}"))
    assert by_one.keys() == by_other.keys()
    assert by_one["name"] == by_other["name"]


@SENT("add calls as urlencoded, multipart or JSON bodies")
def three_bodies(v1: V1) -> None:
    bodies = [
        {"data": {"magnet": magnet("One")}},
        {"files": {"magnet": (None, magnet("Two"))}},
        {"json": {"magnet": magnet("Three")}},
    ]
    added = [fine(v1.post("/rest/torrent/magnet", **body))["title"] for body in bodies]
    assert added == ["One", "Two", "Three"]


@SENT("rename_to in the form or the query string")
def rename_in_query(v1: V1) -> None:
    file_id = v1.file("a.txt")
    fine(v1.post(f"/rest/file/{file_id}/rename", params={"rename_to": "b.txt"}))
    assert v1.file_names() == ["b.txt"]
    fine(v1.post(f"/rest/file/{file_id}/rename", data={"rename_to": "c.txt"}))
    assert v1.file_names() == ["c.txt"]


@SENT(".torrent uploads as file or torrent_file, on three paths")
def torrents_on_three_paths(v1: V1) -> None:
    for path in ("/rest/transfer/file", "/rest/torrent/file", "/rest/torrent/url"):
        for field in ("file", "torrent_file"):
            name = f"{path.replace('/', '-')} {field}"
            answer = v1.post(path, files={field: ("s.torrent", torrent(name))})
            assert fine(answer)["title"] == name
    assert len(v1.transfer_ids()) == 6


@SENT("an invalid part Content-Type and unknown extra parts")
def odd_parts(v1: V1) -> None:
    parts = [
        ("extra", (None, "value")),
        ("file", ("s.torrent", torrent("Sintel"), "not a type; ;;=")),
        ("picture", ("p.png", b"\x89PNG", "image/png")),
    ]
    assert fine(v1.post("/rest/torrent/file", files=parts))["title"] == "Sintel"


@SENT("url or torrent_url in either naming")
def url_fields(v1: V1) -> None:
    for noun in ("transfer", "torrent"):
        for field in ("url", "torrent_url"):
            address = f"https://example.org/{noun}-{field}.mkv"
            fine(v1.post(f"/rest/{noun}/url", data={field: address}))
    assert len(v1.transfer_ids()) == 4


@SENT("the value may be a magnet link")
def magnet_as_url(v1: V1) -> None:
    answer = v1.post("/rest/torrent/url", data={"torrent_url": magnet("Sintel")})
    assert fine(answer)["title"] == "Sintel"


@SENT("GET and DELETE with Content-Length: 0 and a form content type")
def empty_forms(v1: V1) -> None:
    folder_id = v1.folder("Films")
    fine(v1.get("/rest/folder", headers={**FORM, "content-length": "0"}))
    fine(v1.delete(f"/rest/folder/{folder_id}", headers={**FORM, "content-length": "0"}))


@SENT("no User-Agent")
def no_user_agent(v1: V1) -> None:
    request = v1.client.build_request("GET", "/rest/user")
    del request.headers["user-agent"]
    fine(v1.client.send(request))


@SENT("Accept: application/json, text/plain, */* even on downloads")
def accept_json(v1: V1) -> None:
    accept = {"accept": "application/json, text/plain, */*"}
    answer = v1.get(f"/rest/file/{v1.file('a.txt')}", headers=accept)
    assert v1.content(answer, headers=accept).content == CONTENT


@SENT("// in the path")
def doubled_slashes(v1: V1) -> None:
    fine(v1.get(str(v1.client.base_url).rstrip("/") + "//rest//folder"))


@SENT("POST …/delete and POST /rest/transfer/{id} with an empty body")
def empty_bodies(v1: V1) -> None:
    first, second = v1.transfer("One"), v1.transfer("Two")
    fine(v1.post(f"/rest/transfer/{first}", headers=FORM, content=b""))
    fine(v1.post(f"/rest/torrent/{second}/delete", headers=FORM, content=b""))
    assert v1.transfer_ids() == []


@SENT("GET /rest/transfer (no id)")
def list_transfers(v1: V1) -> None:
    transfer_id = v1.transfer("Sintel")
    for noun in ("transfer", "torrent"):
        facts = fine(v1.get(f"/rest/{noun}"))
        assert [each["id"] for each in facts["torrents"]] == [transfer_id]
        assert facts["torrents"] == facts["transfers"]


def chosen(file_id: object, kind: str = "file") -> str:
    return json.dumps([{"type": kind, "id": file_id}])


@SENT("archive_arr as one JSON string, in the query or a form")
def archive_as_json(v1: V1) -> None:
    selection = {"archive_arr": chosen(v1.file("a.txt"))}
    for answer in (v1.get("/rest/zip", params=selection), v1.post("/rest/zip", data=selection)):
        assert files_of(v1.content(answer)) == {"a.txt": CONTENT}


@SENT("archive_arr in bracket form")
def archive_in_brackets(v1: V1) -> None:
    file_id = str(v1.file("a.txt"))
    selection = {"archive_arr[0][type]": "file", "archive_arr[0][id]": file_id}
    for answer in (v1.get("/rest/zip", params=selection), v1.post("/rest/zip", data=selection)):
        assert files_of(v1.content(answer)) == {"a.txt": CONTENT}


@SENT("archive_arr of type folder_file, ids as digits")
def archive_of_folder_files(v1: V1) -> None:
    selection = {"archive_arr": chosen(str(v1.file("a.txt")), "folder_file")}
    assert files_of(v1.content(v1.get("/rest/zip", params=selection))) == {"a.txt": CONTENT}


@SENT("resume: Range sent to /rest/file/{id} and carried over the redirect")
def resume(v1: V1) -> None:
    file_id = v1.file("a.txt")
    rest = {"range": "bytes=6-"}
    answer = v1.content(v1.get(f"/rest/file/{file_id}", headers=rest), headers=rest)
    assert answer.status_code == 206
    assert answer.content == CONTENT[6:]


@SENT("GET /rest/user with or without a user id parameter")
def user_by_id(v1: V1) -> None:
    facts = fine(v1.get("/rest/user"))
    user_id = facts["account"]["user_id"]
    assert fine(v1.get(f"/rest/user/{user_id}")) == facts
    assert fine(v1.get("/rest/user", params={"user_id": user_id})) == facts


@ADDED("transfers: state, reason, file_created")
def states(v1: V1) -> None:
    transfer_id = v1.transfer("Sintel")
    single = fine(v1.get(f"/rest/transfer/{transfer_id}"))
    (listed,) = v1.listing()["torrents"]
    for record in (single, listed):
        assert record["state"] in ("queued", "metadata", "downloading", "stalled")
        assert record["reason"] is None
        assert record["file_created"] is None
        assert "progress_url" not in record


@ADDED("add calls: folder_id")
def destinations(v1: V1) -> None:
    folder_id = v1.folder("Films")
    bodies = [
        {"data": {"magnet": magnet("One"), "folder_id": str(folder_id)}},
        {"files": {"magnet": (None, magnet("Two")), "folder_id": (None, str(folder_id))}},
        {"json": {"magnet": magnet("Three"), "folder_id": folder_id}},
    ]
    for body in bodies:
        transfer_id = fine(v1.post("/rest/transfer/magnet", **body))["id"]
        assert fine(v1.get(f"/rest/transfer/{transfer_id}"))["folder_id"] == folder_id
    v1.file("a.txt", folder_id=folder_id)
    assert v1.file_names(folder_id) == ["a.txt"]
    unknown = {"magnet": magnet("Four"), "folder_id": "999999999999"}
    refused(v1.post("/rest/transfer/magnet", data=unknown), 404)
    refused(v1.post("/rest/transfer/magnet", data={**unknown, "folder_id": "x"}), 422)


@ADDED("POST /rest/zip")
def post_zip(v1: V1) -> None:
    selection = {"archive_arr": [{"type": "file", "id": v1.file("a.txt")}]}
    assert files_of(v1.content(v1.post("/rest/zip", json=selection))) == {"a.txt": CONTENT}


@ADDED("listings: ETag and 304")
def unchanged_listings(v1: V1) -> None:
    first = v1.get("/rest/folder")
    known = {"if-none-match": first.headers["etag"]}
    again = v1.get("/rest/folder", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    v1.folder("Films")
    assert v1.get("/rest/folder", headers=known).status_code == 200


@ERROR("401 without Basic")
def no_credentials(v1: V1) -> None:
    answer = v1.stranger.get("/rest/folder")
    assert refused(answer, 401)["error"] == "access_denied"
    assert answer.headers["www-authenticate"].startswith("Basic")


@ERROR("401 with wrong Basic")
def wrong_credentials(v1: V1) -> None:
    refused(v1.stranger.get("/rest/folder", auth=httpx.BasicAuth("alice@example.org", "no")), 401)


@ERROR("404 unknown id")
def unknown_ids(v1: V1) -> None:
    for path in ("folder/999999999999", "file/999999999999", "folder/abc", "file/9" + "9" * 30):
        refused(v1.get(f"/rest/{path}"), 404, "not_found")


@ERROR("405 wrong method")
def wrong_method(v1: V1) -> None:
    answer = v1.client.put("/rest/folder")
    refused(answer, 405)
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


@ERROR("409 name taken")
def name_taken(v1: V1) -> None:
    v1.folder("Films")
    file_id = v1.file("a.txt")
    refused(v1.post(f"/rest/file/{file_id}/rename", data={"rename_to": "Films"}), 409)


@ERROR("400 no_torrent_passed")
def nothing_passed(v1: V1) -> None:
    for path in ("magnet", "url", "file"):
        for noun in ("transfer", "torrent"):
            refused(v1.post(f"/rest/{noun}/{path}"), 400, "no_torrent_passed")


@ERROR("422 parsing_error")
def no_magnet(v1: V1) -> None:
    for value in ("magnet:?xt=urn:btih:123", "https://example.org/", "x"):
        answer = v1.post("/rest/transfer/magnet", data={"magnet": value})
        refused(answer, 422, "parsing_error")


@ERROR("4xx not_a_torrent")
def not_a_torrent(v1: V1) -> None:
    for content in (CONTENT, b"d4:infod", b""):
        answer = v1.post("/rest/torrent/file", files={"torrent_file": ("s.torrent", content)})
        refused(answer, 400, "not_a_torrent")
