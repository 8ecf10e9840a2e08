"""Row 9: names that look like paths or programs, or that collide, within the library.

For what they do to the disk while a torrent is fetched: tests/service/torrents/test_hostile.py.
"""

import hashlib
import io
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import httpx
import pytest
from django.conf import settings

from config.embedded import upstream
from service.errors import NotATorrent
from service.models import Account, File, Folder
from service.torrents.events import FileOf, Metadata
from service.transfers import transfers
from service.transfers.torrents import torrent_files
from tests.cases import each_case
from tests.service.builders import NOW, alice, bencoded, magnet, torrent_info
from tests.service.fakes import Shift

PASSWORD = "a quiet: harbour at noon"
REFUSED = ["", ".", "..", "a/b", "/etc", "a\0b", "a\nb", "a\x1bb", "a\x85b", "é" * 256, "/" * 4096]
KEPT_AS_SENT = [
    "..\\..\\x",
    "C:x",
    "CON",
    "x.",
    " x",
    "-rf",
    "concat:a|b",
    "$(reboot)",
    "`reboot`",
    "%2e%2e%2fx",
    "a\u202egpj.exe",
    "é" * 255,
    "😀" * 63,
]


@pytest.fixture
def api(tmp_path, settings, db):
    settings.DATA_DIR = tmp_path
    account = alice(password=PASSWORD)
    auth = httpx.BasicAuth(account.email, PASSWORD)
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth) as client:
        yield client


def upload(api, name="film.mkv", content=b"content"):
    answer = api.post("/rest/transfer/file", files={"file": (name, content)})
    assert answer.status_code == 200
    return api.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]


def rename(api, file_id, name):
    return api.post(f"/rest/file/{file_id}/rename", data={"rename_to": name})


def files_on_disk(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.promise("an invalid name is refused")
@pytest.mark.slow
@each_case("name", REFUSED)
def test_an_invalid_name_is_refused_with_the_reason(api, name):
    file_id = upload(api)
    assert rename(api, file_id, "other.mkv").status_code == 200
    answer = rename(api, file_id, name)
    assert answer.status_code == 422
    assert answer.json()["reason_phrase"].startswith("name_")
    assert File.objects.get(pk=file_id).name == "other.mkv"


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT_AS_SENT)
def test_a_strange_name_is_kept_and_is_never_a_path(api, tmp_path, name):
    file_id = upload(api)
    assert rename(api, file_id, name).status_code == 200
    assert api.get("/rest/folder").json()["files"][0]["name"] == name
    blobs = tmp_path / "library" / "blobs"
    assert [path.name for path in files_on_disk(blobs)] == [File.objects.get().blob]
    link = api.get("/rest/folder/0/download", headers={"Accept": "*/*"}).headers["Location"]
    with zipfile.ZipFile(io.BytesIO(api.get(link).content)) as archive:
        (packed,) = [entry for entry in archive.namelist() if not entry.endswith("/")]
        assert archive.testzip() is None
    for path in (PurePosixPath(packed), PureWindowsPath(packed)):
        assert not path.is_absolute()
        assert not path.drive
        assert ".." not in path.parts
        assert len(path.parts) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..\\..\\x", "a\nb", "", "-rf", "CON"])
def test_an_upload_lands_in_its_folder_whatever_its_name(api, tmp_path, name):
    before = set(files_on_disk(tmp_path.parent)) - set(files_on_disk(tmp_path))
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    body = f"--x\r\n{head}\r\n\r\nhello\r\n--x--\r\n"
    api.post(
        "/rest/transfer/file",
        content=body.encode(),
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert set(files_on_disk(tmp_path.parent)) - set(files_on_disk(tmp_path)) == before
    for file in File.objects.all():
        assert "/" not in file.name
        assert file.folder.parent is None
        assert len(file.blob) == 32


def test_two_spellings_of_a_name_are_the_same_name(api):
    composed, apart = (unicodedata.normalize(form, "Café") for form in ("NFC", "NFD"))
    assert composed != apart
    assert api.post("/rest/folder", data={"path": composed}).status_code == 200
    assert api.post("/rest/folder", data={"path": apart}).status_code == 409


def test_names_that_differ_by_case_are_two_and_stay_two_in_an_archive(api):
    for name in ("Readme.txt", "README.TXT"):
        upload(api, name, name.encode())
    link = api.get("/rest/folder/0/download").headers["Location"]
    with zipfile.ZipFile(io.BytesIO(api.get(link).content)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        assert len({name.casefold() for name in names}) == 2
        assert {archive.read(name) for name in names} == {b"Readme.txt", b"README.TXT"}


@pytest.mark.slow
def test_a_tree_has_a_deepest_folder(api):
    path = ""
    for _level in range(210):
        path = f"{path}/d"
        answer = api.post("/rest/folder", data={"path": path})
        if answer.status_code != 200:
            break
    assert answer.status_code == 422
    assert answer.json()["reason_phrase"] == "too_deep"
    assert Folder.objects.count() == 201
    assert api.post("/rest/folder", data={"path": "/d" * 5000}).status_code in (404, 422)


def torrent(name: bytes, path: list[bytes]) -> bytes:
    info = {b"name": name, b"piece length": 16384, b"pieces": hashlib.sha1(b"x").digest()}
    return bencoded({b"info": info | {b"files": [{b"length": 1, b"path": path}]}})


@each_case(
    "name", [b"../../x", b"/etc", b"..", b".", b"a\0b", b"\xff\xfe", b"x" * 4096, b"-rf", b"CON"]
)
def test_the_title_of_a_hostile_torrent_is_a_good_name(api, name):
    content = torrent(name, [b"file"])
    answer = api.post("/rest/transfer/file", files={"file": ("a.torrent", content)})
    assert answer.status_code == 200
    title = answer.json()["title"]
    assert title not in ("", ".", "..")
    assert not set("/\0\n") & set(title)
    assert len(title) <= 255


def test_a_torrent_of_files_without_a_path_is_refused():
    assert torrent_files.read(torrent(b"good", [b"file"])).size_bytes == 1
    with pytest.raises(NotATorrent):
        torrent_files.read(torrent(b"bad", []))


def test_nothing_runs_what_a_name_says(api, tmp_path):
    upload(api, f"$(touch {tmp_path}/ran).mkv")
    link = api.get("/rest/folder/0/download").headers["Location"]
    assert api.get(link).status_code == 200
    assert not (tmp_path / "ran").exists()


HOSTILE_PATHS = [
    ("..", "..", "x"),
    ("/etc/passwd",),
    ("..\\..\\x",),
    ("", "empty"),
    (".", "dot"),
    ("a\0b",),
    ("a\x1b[2Jb",),
    ("é" * 300,),
    ("x" * 4096,),
    tuple("deep" for _ in range(5000)),
    ("CON",),
    ("x.",),
    ("Case",),
    ("case",),
    ("é",),
    ("e\u0301",),
    ("-rf",),
    ("concat:a|b",),
    ("twin",),
    ("twin",),
    ("twin", "below"),
]


@pytest.mark.promise("no name of a torrent leaves its folder")
@pytest.mark.slow
def test_a_hostile_torrent_lands_whole_under_good_names(api):
    """From the engine's metadata to the listing: no file is lost, and none is elsewhere."""
    shift = Shift()
    account = Account.objects.get()
    transfer = transfers.add_magnet(account, magnet(name="..%2F..%2Fetc"), 0, NOW)
    shift.round()
    files = tuple(
        FileOf(index, path, 2, is_padding=False, is_symlink=False)
        for index, path in enumerate(HOSTILE_PATHS)
    )
    shift.engine.news.append(
        Metadata(str(transfer.pk), "../../etc", "a" * 40, "", False, True, 2 * len(files), files)
    )
    shift.round()
    shift.engine.complete(transfer, *[b"%02d" % number for number in range(len(files))])
    shift.rounds(3)
    assert shift.state(transfer) == "done"
    assert File.objects.count() == len(HOSTILE_PATHS)
    assert {shift.store.path(file.blob).read_bytes() for file in File.objects.all()} == {
        b"%02d" % number for number in range(len(files))
    }
    for row in [*File.objects.all(), *Folder.objects.exclude(parent=None)]:
        assert row.name not in ("", ".", "..")
        assert not set("/\0\x1b") & set(row.name)
        assert len(row.name) <= 255
    inside = api.get(f"/rest/folder/{transfer.folder_created_id}").json()
    names = [row["name"] for row in [*inside["files"], *inside["folders"]]]
    assert {"CON", "-rf", "Case", "case", "twin", "twin (2)", "twin (3)"} <= set(names)
    assert len(set(names)) == len(names)
    outside = {path.name for path in Path(settings.DATA_DIR).iterdir()}
    assert outside <= {"library", "transfers", "workers"}


def test_a_link_to_elsewhere_and_padding_become_no_files(api):
    shift = Shift()
    transfer = transfers.add_magnet(Account.objects.get(), magnet(name="film"), 0, NOW)
    shift.round()
    files = (
        FileOf(0, ("film.mkv",), 2, is_padding=False, is_symlink=False),
        FileOf(1, ("passwd",), 0, is_padding=False, is_symlink=True),
        FileOf(2, (".pad",), 2, is_padding=True, is_symlink=False),
    )
    shift.engine.news.append(
        Metadata(str(transfer.pk), "film", "a" * 40, "", False, True, 2, files)
    )
    shift.round()
    shift.engine.complete(transfer, b"ok", b"", b"")
    shift.rounds(3)
    assert shift.state(transfer) == "done"
    assert [file.name for file in File.objects.all()] == ["film.mkv"]


def test_a_hybrid_whose_trees_differ_is_not_a_torrent():
    leaf = {"": {"length": 100, "pieces root": "r" * 32}}
    info = torrent_info("film") | {"meta version": 2, "file tree": {"film": leaf}}
    assert torrent_files.read(bencoded({"info": info})).info_hash_v2
    evil = info | {"file tree": {"other": leaf}}
    with pytest.raises(NotATorrent):
        torrent_files.read(bencoded({"info": evil}))
