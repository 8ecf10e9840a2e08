"""Every row of the specification's tables of operations (section 4)."""

import io
import zipfile

import httpx
import pytest

from tests.cases import each_case
from tests.contract.rows import Rows
from tests.contract.speaking import CONTENT, V1, fine, hash_of, magnet, refused, torrent
from tests.contract.specification import OPERATIONS

FOLDERS, FILES, TRANSFERS, TORRENTS, USER, ARCHIVE = (Rows() for _table in OPERATIONS)
TABLES = dict(zip(OPERATIONS, (FOLDERS, FILES, TRANSFERS, TORRENTS, USER, ARCHIVE), strict=True))
ROWS = [(table, words) for table, rows in OPERATIONS.items() for words in rows]


@pytest.mark.promise("v1: each operation")
@pytest.mark.slow
@each_case(("table", "words"), ROWS)
def test_operation(table, words, v1):
    TABLES[table][words](v1)


def test_listings_say_that_the_folder_of_an_add_is_kept(v1):
    folder_id = v1.folder("Films")
    for path in ("/rest/folder", f"/rest/folder/{folder_id}"):
        assert v1.get(path).headers["ferry-keeps"] == "folder_id"


def test_the_largest_files_of_all_folders_are_listed_with_their_folders(v1):
    films_id, inner_id = v1.folder("Films"), v1.folder("Films/2024")
    small, large, middle = (
        v1.file(name, folder_id=folder_id, content=b"x" * size)
        for name, folder_id, size in [("a", 0, 1), ("b", inner_id, 9), ("c", films_id, 5)]
    )
    found = fine(v1.get("/rest/files/largest"))["files"]
    assert [each["id"] for each in found] == [large, middle, small]
    assert [each["folder"] for each in found] == ["Films/2024", "Films", ""]
    root_id = fine(v1.get("/rest/folder"))["id"]
    assert [each["folder_id"] for each in found] == [inner_id, films_id, root_id]
    fields = [set(each) for each in found]
    assert fields == [{*["id", "name", "size", "hash", "folder", "folder_id", "last_update"]}] * 3


def test_a_search_finds_folders_and_files_with_their_places(v1):
    films_id = v1.folder("Films")
    inner_id = v1.folder("Films/Other films")
    file_id = v1.file("a film.mkv", folder_id=inner_id)
    v1.file("a song.mp3")
    result = fine(v1.get("/rest/search", params={"q": "fil"}))
    folders, files = result["folders"], result["files"]
    assert {each["id"]: each["folder"] for each in folders} == {films_id: "", inner_id: "Films"}
    assert [(each["id"], each["folder"]) for each in files] == [(file_id, "Films/Other films")]
    assert files[0]["folder_id"] == inner_id
    assert not result["has_more"]
    typed = fine(v1.get("/rest/search", params={"types": "mp3,ogg"}))
    assert [each["name"] for each in typed["files"]] == ["a song.mp3"]
    assert fine(v1.get("/rest/search", params={"limit": "1"}))["has_more"]
    inside = fine(v1.get("/rest/search", params={"q": "film", "folder_id": films_id}))
    assert [each["name"] for each in inside["folders"]] == ["Other films"]
    assert (inside["count"], inside["has_uncounted"]) == (2, False)
    alone = fine(v1.get("/rest/search", params={"only": "folders"}))
    assert [each["id"] for each in alone["folders"]] == [inner_id, films_id]
    assert alone["files"] == []


def test_every_test_refers_to_an_existing_row():
    assert {(table, words) for table in TABLES for words in TABLES[table]} == set(ROWS)


@FOLDERS("List root folder")
def list_root(v1: V1) -> None:
    folder_id = v1.folder("Films")
    file_id = v1.file("a.txt")
    transfer_id = v1.transfer("Sintel")
    root = fine(v1.get("/rest/folder"))
    assert root["parent"] == root["parent_id"] == -1
    assert [(each["id"], each["name"]) for each in root["folders"]] == [(folder_id, "Films")]
    assert [(each["id"], each["size"]) for each in root["files"]] == [(file_id, len(CONTENT))]
    assert [each["id"] for each in root["torrents"]] == [transfer_id]
    assert root["space_used"] == len(CONTENT) < root["space_max"]


@FOLDERS("List folder by id")
def list_by_id(v1: V1) -> None:
    folder_id = v1.folder("Films")
    inner_id = v1.folder("Films/2024")
    file_id = v1.file("a.txt", folder_id=folder_id)
    listing = fine(v1.get(f"/rest/folder/{folder_id}"))
    assert listing["name"] == "Films"
    assert [each["id"] for each in listing["folders"]] == [inner_id]
    assert [each["id"] for each in listing["files"]] == [file_id]
    root_id = fine(v1.get("/rest/folder"))["id"]
    assert v1.folder_names(root_id) == v1.folder_names(0) == ["Films"]


@FOLDERS("Download folder")
def download_folder(v1: V1) -> None:
    folder_id = v1.folder("Films")
    v1.file("a.txt", folder_id=folder_id)
    answer = v1.content(v1.get(f"/rest/folder/{folder_id}/download"))
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert files_of(answer) == {"Films/a.txt": CONTENT}


def files_of(answer: httpx.Response) -> dict[str, bytes]:
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


@FOLDERS("Create folder")
def create_folder(v1: V1) -> None:
    made = fine(v1.post("/rest/folder", data={"path": "/Films"}))
    assert isinstance(made["id"], str)
    assert made["path"] == "Films"
    fine(v1.post("/rest/folder", data={"path": "Films/2024"}))
    assert v1.folder_names(int(made["id"])) == ["2024"]
    refused(v1.post("/rest/folder", data={"path": "Nowhere/2024"}), 404)
    refused(v1.post("/rest/folder", data={"path": "Films"}), 409)
    refused(v1.post("/rest/folder"), 400)


@FOLDERS("Rename folder")
def rename_folder(v1: V1) -> None:
    folder_id = v1.folder("Films")
    fine(v1.post(f"/rest/folder/{folder_id}/rename", data={"rename_to": "ä" * 255}))
    assert v1.folder_names() == ["ä" * 255]
    refused(v1.post(f"/rest/folder/{folder_id}/rename", data={"rename_to": "a" * 256}), 422)


@FOLDERS("Delete folder")
def delete_folder(v1: V1) -> None:
    folder_id = v1.folder("Films")
    v1.file("a.txt", folder_id=folder_id)
    fine(v1.delete(f"/rest/folder/{folder_id}"))
    root = v1.listing()
    assert root["folders"] == []
    assert root["space_used"] == 0
    refused(v1.get(f"/rest/folder/{folder_id}"), 404)


@FILES("Download file")
def download_file(v1: V1) -> None:
    file_id = v1.file("a.txt")
    answer = v1.content(v1.get(f"/rest/file/{file_id}"))
    assert answer.content == CONTENT
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["accept-ranges"] == "bytes"


def carries_a_url_or_says_why_not(answer: httpx.Response) -> None:
    if answer.status_code == 422:
        refused(answer, 422, "cannot_convert")
    elif answer.status_code == 503:
        refused(answer, 503, "no_worker")
        assert answer.headers["retry-after"]
    else:
        assert httpx.URL(fine(answer)["url"]).is_absolute_url


@FILES("Get HLS video URL")
def hls(v1: V1) -> None:
    carries_a_url_or_says_why_not(v1.get(f"/rest/file/{v1.file('a.mp4')}/hls"))
    refused(v1.get("/rest/file/999999999999/hls"), 404, "not_found")


@FILES("Get MP4 video URL (torrent-naming form)")
def mp4(v1: V1) -> None:
    carries_a_url_or_says_why_not(v1.get(f"/rest/file/{v1.file('a.mp4')}/mp4"))
    refused(v1.get("/rest/file/999999999999/mp4"), 404, "not_found")


@FILES("Get preview image")
def image(v1: V1) -> None:
    """Only if one exists; a text has none."""
    refused(v1.get(f"/rest/file/{v1.file('a.txt')}/image"), 404, "not_found")


@FILES("Get thumbnail")
def thumbnail(v1: V1) -> None:
    refused(v1.get(f"/rest/file/{v1.file('a.txt')}/thumbnail"), 404, "not_found")


@FILES("Rename file")
def rename_file(v1: V1) -> None:
    file_id = v1.file("a.txt")
    fine(v1.post(f"/rest/file/{file_id}/rename", data={"rename_to": "b.txt"}))
    assert v1.file_names() == ["b.txt"]
    refused(v1.post(f"/rest/file/{file_id}/rename"), 400)
    refused(v1.post(f"/rest/file/{file_id}/rename", data={"rename_to": "a/b"}), 422)


@FILES("Delete file")
def delete_file(v1: V1) -> None:
    file_id = v1.file("a.txt")
    link = v1.get(f"/rest/file/{file_id}")
    fine(v1.delete(f"/rest/file/{file_id}"))
    assert v1.file_names() == []
    refused(v1.get(f"/rest/file/{file_id}"), 404)
    assert v1.content(link).status_code >= 400


def is_added(answer: httpx.Response, title: str, hash_: str) -> int:
    facts = fine(answer)
    assert facts["title"] == facts["name"] == title
    assert facts["torrent_hash"] == hash_
    assert facts["id"] == facts["user_torrent_id"]
    return facts["id"]


def shows_data(v1: V1, noun: str) -> None:
    transfer_id = v1.transfer("Sintel")
    facts = fine(v1.get(f"/rest/{noun}/{transfer_id}"))
    assert facts["id"] == transfer_id
    assert facts["name"] == "Sintel"
    assert facts["hash"] == hash_of("Sintel")
    assert 0 <= facts["progress"] <= 101
    refused(v1.get(f"/rest/{noun}/999999999999"), 404, "not_found")


def adds_magnets(v1: V1, noun: str) -> None:
    answer = v1.post(f"/rest/{noun}/magnet", data={"magnet": magnet("Sintel")})
    transfer_id = is_added(answer, "Sintel", hash_of("Sintel"))
    assert v1.transfer_ids() == [transfer_id]
    again = v1.post(f"/rest/{noun}/magnet", data={"magnet": magnet("Sintel")})
    assert fine(again)["id"] == transfer_id


def adds_addresses(v1: V1, noun: str, field: str) -> None:
    answer = v1.post(f"/rest/{noun}/url", data={field: "https://example.org/films/a.mkv"})
    assert v1.transfer_ids() == [is_added(answer, "a.mkv", "")]


def deletes(v1: V1, noun: str) -> None:
    transfer_id = v1.transfer("Sintel")
    fine(v1.delete(f"/rest/{noun}/{transfer_id}"))
    assert v1.transfer_ids() == []
    refused(v1.delete(f"/rest/{noun}/{transfer_id}"), 404)


@TRANSFERS("Get transfer data")
def transfer_data(v1: V1) -> None:
    shows_data(v1, "transfer")


@TRANSFERS("Add by magnet")
def add_transfer_by_magnet(v1: V1) -> None:
    adds_magnets(v1, "transfer")


@TRANSFERS("Add by URL")
def add_transfer_by_url(v1: V1) -> None:
    adds_addresses(v1, "transfer", "url")


@TRANSFERS("Add by file")
def add_transfer_by_file(v1: V1) -> None:
    answer = v1.post("/rest/transfer/file", files={"file": ("a.txt", CONTENT)})
    facts = fine(v1.get(f"/rest/transfer/{fine(answer)['id']}"))
    assert facts["progress"] == 101
    assert v1.content(v1.get(f"/rest/file/{facts['file_created']}")).content == CONTENT
    answer = v1.post("/rest/transfer/file", files={"file": ("s.torrent", torrent("Sintel"))})
    assert v1.transfer_ids() == [fine(answer)["id"]]


@TRANSFERS("Delete transfer")
def delete_transfer(v1: V1) -> None:
    deletes(v1, "transfer")


@TORRENTS("Get torrent data")
def torrent_data(v1: V1) -> None:
    shows_data(v1, "torrent")


@TORRENTS("Add by magnet")
def add_torrent_by_magnet(v1: V1) -> None:
    adds_magnets(v1, "torrent")


@TORRENTS("Add by URL")
def add_torrent_by_url(v1: V1) -> None:
    adds_addresses(v1, "torrent", "torrent_url")


@TORRENTS("Add by file")
def add_torrent_by_file(v1: V1) -> None:
    files = {"torrent_file": ("s.torrent", torrent("Sintel"))}
    assert v1.transfer_ids() == [] != [fine(v1.post("/rest/torrent/file", files=files))["id"]]
    assert [each["name"] for each in v1.listing()["torrents"]] == ["Sintel"]


@TORRENTS("Delete torrent")
def delete_torrent(v1: V1) -> None:
    deletes(v1, "torrent")


@USER("Get account information")
def account_information(v1: V1) -> None:
    v1.file("a.txt")
    facts = fine(v1.get("/rest/user"))
    assert facts["account"]["premium"] is True
    assert facts["account"]["space_used"] == len(CONTENT)
    assert facts["account"]["wishlist"] == []


@ARCHIVE("Build one download from unrelated files and folders")
def combined_archive(v1: V1) -> None:
    folder_id = v1.folder("Films")
    v1.file("a.txt", b"in Films", folder_id=folder_id)
    file_id = v1.file("a.txt", b"in the root")
    chosen = f'[{{"type":"folder","id":{folder_id}}},{{"type":"file","id":{file_id}}}]'
    answer = v1.content(v1.get("/rest/zip", params={"archive_arr": chosen}))
    assert files_of(answer) == {"Films/a.txt": b"in Films", "a.txt": b"in the root"}
