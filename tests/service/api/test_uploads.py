import gc
import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
from django.conf import settings
from django.utils import timezone

from service.accounts import accounts
from service.api import uploads
from service.library import library, space
from service.models import Account, File, Transfer, UploadPromise
from service.store.blobs import library_store
from service.store.disk_store import DiskStore
from service.transfers import quota, transfers
from service.transfers.torrents import torrent_files
from tests.cases import each_case
from tests.service.api.reading import word
from tests.service.builders import NOW, a_folder, a_torrent
from tests.service.reading import contents_of


def upload(api: httpx.Client, name: str, content: bytes = b"content", **data: str):
    return api.post("/rest/transfer/file", files={"file": (name, content)}, data=data)


def raw(api: httpx.Client, body: bytes, path: str = "/rest/transfer/file", **headers: str):
    headers = {"content-type": "multipart/form-data; boundary=b", **headers}
    return api.post(path, content=body, headers=headers)


def part(headers: str, content: bytes = b"content") -> bytes:
    return b"--b\r\n" + headers.encode() + b"\r\n\r\n" + content + b"\r\n"


FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"'
END = b"--b--\r\n"


def drafts() -> list[Path]:
    return list((Path(settings.DATA_DIR) / "library" / "incoming").glob("*"))


def blobs() -> int:
    return sum(1 for _blob in library_store().blobs())


def names(account: Account, folder_id: int = 0) -> list[str]:
    return [each.name for each in contents_of(account, folder_id).files]


def test_a_file_is_stored_at_once(api, account):
    shown = api.get(f"/rest/transfer/{upload(api, 'a.txt').json()['id']}").json()
    assert (shown["progress"], shown["state"]) == (101, "done")
    file = library.file(account, shown["file_created"])
    assert file.sha1 == hashlib.sha1(b"content").hexdigest()
    assert library_store().path(file.blob).read_bytes() == b"content"
    assert api.get("/rest/folder").json()["torrents"] == []


@each_case("is_first", [True, False])
def test_a_torrent_can_be_kept_as_a_file(is_first, api, account):
    content = a_torrent("Sintel")
    field = part('Content-Disposition: form-data; name="as_file"', b"1")
    fields = (field, part(FILE, content))
    assert raw(api, b"".join(fields if is_first else reversed(fields)) + END).status_code == 200
    (row,) = contents_of(account, 0).files
    blob = library.file(account, row.id).blob
    assert library_store().path(blob).read_bytes() == content
    assert api.get("/rest/transfer").json()["transfers"] == []


def test_a_torrent_for_which_there_is_no_space_leaves_no_blob(api, account):
    before = blobs()
    Account.objects.update(space_max_bytes=10)
    assert upload(api, "a.torrent", a_torrent(), as_file="1").status_code == 413
    assert (names(account), blobs()) == ([], before)


def test_an_empty_file_is_a_file(api, account):
    assert upload(api, "empty", b"").status_code == 200
    assert contents_of(account, 0).files[0].size_bytes == 0


def test_the_folder_field_may_follow_the_file(api, account):
    folder = a_folder(account)
    field = part('Content-Disposition: form-data; name="folder_id"', str(folder.pk).encode())
    assert raw(api, part(FILE) + field + END).status_code == 200
    assert raw(api, field + part(FILE) + END).status_code == 200
    assert names(account, folder.pk) == ["a (2).txt", "a.txt"]


def test_equal_names_are_numbered(api, account):
    titles = [upload(api, "a.txt").json()["title"] for _time in range(3)]
    assert titles == ["a.txt", "a (2).txt", "a (3).txt"]
    assert len(names(account)) == 3


@each_case(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\film.mkv", "film.mkv"),
        ("a&amp;b.txt", "a&amp;b.txt"),
        ("👨\u200d👩\u200d👧.txt", "👨\u200d👩\u200d👧.txt"),
        ("C:/Users/me\\film.mkv", "me\\film.mkv"),
        ("AC\\DC.mp3", "AC\\DC.mp3"),
        ('a"b.txt', 'a"b.txt'),
        ("a%22b%0D%0Ac%41%2F.txt", 'a"b c%41%2F.txt'),
        ("a/", "upload"),
        ("é.txt", "é.txt"),
        ("𓅃" * 251 + ".txt", "𓅃" * 251 + ".txt"),
        ("x" * 300 + ".txt", "x" * 251 + ".txt"),
    ],
)
def test_the_name_is_the_last_component_of_what_was_sent(sent, kept, api):
    assert upload(api, sent).json()["title"] == kept


@each_case("sent", ["..", "."])
def test_an_invalid_name_is_replaced_by_the_hash(sent, api):
    assert upload(api, sent).json()["title"] == hashlib.sha1(b"content").hexdigest()


@each_case(
    "body",
    [
        part(FILE + "\r\nContent-Type: text/plain; charset=nonsense") + END,
        part(FILE + "\r\nContent-Type: not a type; ;;=") + END,
        part(FILE + "\r\nContent-Type:") + END,
        part(FILE + "\r\nContent-Length: many") + END,
        part(FILE + "\r\nX-Other: y") + part("Content-Disposition: form-data") + END,
        b"preamble\r\n" + part(FILE) + END + b"epilogue",
        part("no header at all") + part(FILE) + END,
        part(FILE + "\r\nContent-Transfer-Encoding: base64", b64encode(b"content")) + END,
        part(FILE) + part(FILE.replace('"file"', '"x"').replace("a.txt", "x.txt")) + END,
    ],
)
def test_odd_parts_do_not_matter(body, api, account):
    assert raw(api, body).status_code == 200
    (row,) = contents_of(account, 0).files
    assert (row.name, row.size_bytes) == ("a.txt", 7)


@each_case(
    "body",
    [
        part(FILE)[:-2],
        part(FILE),
        b"--b\r\n" + FILE.encode(),
        part(FILE + "\r\nContent-Transfer-Encoding: base64", b"!!!") + END,
        part(FILE + "\r\nX: " + "x" * 9000) + END,
    ],
)
def test_a_body_that_is_not_whole_leaves_nothing(body, api, account):
    status, reason = word(raw(api, body))
    assert (status, reason) in [(422, "body_unreadable"), (400, "no_torrent_passed")]
    assert names(account) == drafts() == []


def test_a_name_of_many_long_characters_is_a_name(api):
    assert upload(api, "👨\u200d👩\u200d👧" * 80 + ".txt").json()["title"].startswith("👨")


@each_case("content", [b"abc--b\r\nmore", b"abc\r\n--bc\r\n", b"--b--", b"\n--b\r\n"])
def test_a_boundary_within_a_line_is_content(content, api, account):
    assert raw(api, part(FILE, content) + END).status_code == 200
    assert library_store().path(File.objects.get().blob).read_bytes() == content


def test_an_upload_that_is_cut_off_leaves_nothing(api, account):
    body = part(FILE, b"x" * 100_000)
    answer = raw(api, body, **{"content-length": str(len(body) + 1000)})
    assert word(answer) == (400, "body_cut_off")
    assert names(account) == drafts() == []


def test_equal_names_in_one_upload_are_all_kept(api, account):
    answer = raw(api, part(FILE, b"one") + part(FILE, b"two") + part(FILE, b"three") + END)
    body = answer.json()
    assert [each["title"] for each in body["transfers"]] == ["a.txt", "a (2).txt", "a (3).txt"]
    assert body["id"] == body["transfers"][0]["id"]
    rows = File.objects.order_by("pk")
    assert [library_store().path(row.blob).read_bytes() for row in rows] == [
        b"one",
        b"two",
        b"three",
    ]
    assert drafts() == []


def test_files_and_torrents_may_come_together(api, account):
    answer = raw(api, part(FILE) + part(FILE, a_torrent()) + END)
    assert [each["title"] for each in answer.json()["transfers"]] == ["a.txt", "Sintel"]
    assert names(account) == ["a.txt"]
    assert [each.title for each in transfers.list_rows(account)] == ["Sintel"]


def test_several_files_that_do_not_fit_together_leave_nothing(api, account):
    before = blobs()
    room(account, 10)
    assert word(raw(api, part(FILE) + part(FILE) + END)) == (413, "not_enough_space")
    assert names(account) == drafts() == []
    assert blobs() == before


def test_the_second_file_that_is_cut_off_leaves_none(api, account):
    before = blobs()
    assert word(raw(api, part(FILE) + part(FILE)[:-9])) == (422, "body_unreadable")
    assert names(account) == drafts() == []
    assert blobs() == before


def test_a_thousand_files_are_the_most(api, account, monkeypatch):
    before = blobs()
    # No setting changes this limit, and each of 1,000 files would be synced to the disk.
    monkeypatch.setattr(uploads, "MOST_FILES", 2)
    assert word(raw(api, 3 * part(FILE) + END)) == (413, "too_large")
    assert names(account) == drafts() == []
    assert blobs() == before


def test_an_upload_in_chunks_needs_no_length(api, account):
    def chunks():
        yield part(FILE)
        yield END

    answer = api.post(
        "/rest/transfer/file",
        content=chunks(),
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 200
    assert names(account) == ["a.txt"]


# Space


def room(account: Account, bytes_: int) -> None:
    account.space_max_bytes = bytes_
    account.save()


def test_an_upload_that_cannot_fit_is_refused_before_it_is_read(api, account):
    room(account, 1000)

    def never_read():
        raise AssertionError("The body was read")
        yield

    headers = {"content-length": str(10**12)}
    headers["content-type"] = "multipart/form-data; boundary=b"
    answer = api.post("/rest/transfer/file", content=never_read(), headers=headers)
    assert word(answer) == (413, "not_enough_space")


def test_an_upload_too_large_for_the_disk_is_refused_before_it_is_read(api, account, monkeypatch):
    room(account, 10**15)
    # Only root can make a disk with exactly this much free space.
    monkeypatch.setattr(DiskStore, "free_bytes", lambda _store: 10**6)
    headers = {"content-length": str(10**9), "content-type": "multipart/form-data; boundary=b"}
    answer = api.post("/rest/transfer/file", content=b"x", headers=headers)
    assert word(answer) == (413, "disk_full")


@each_case("free", [0, 100])
def test_a_full_disk_accepts_a_torrent_that_waits_for_room(free, api, account, monkeypatch):
    # Only root can make a disk with exactly this much free space.
    monkeypatch.setattr(DiskStore, "free_bytes", lambda _store: free)
    answer = upload(api, f"{free}.torrent", a_torrent(f"Film {free}"))
    assert answer.status_code == 200
    assert Transfer.objects.filter(pk=answer.json()["id"], kind="torrent").exists()
    for content in (bytes(200), b"d" * 200):
        assert word(upload(api, "a.bin", content)) == (413, "disk_full")
    assert names(account) == drafts() == []


def test_an_upload_that_grows_too_large_is_refused_at_the_limit(api, account):
    room(account, 300_000)
    read = 0

    def chunks():
        nonlocal read
        yield b"--b\r\n" + FILE.encode() + b"\r\n\r\n"
        for _piece in range(1000):
            read += 65536
            yield b"x" * 65536
        yield b"\r\n" + END

    answer = api.post(
        "/rest/transfer/file",
        content=chunks(),
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert word(answer) == (413, "not_enough_space")
    assert read < 2**20
    assert names(account) == drafts() == []


MB = 10**6


def length(bytes_: int) -> dict[str, str]:
    boundary = {"content-type": "multipart/form-data; boundary=b"}
    return {"content-length": str(bytes_), **boundary} if bytes_ else boundary


def during(beginning: bytes, meanwhile: Callable[[], None]) -> Iterator[bytes]:
    """Yield the beginning of a file, let something else happen, and break off."""
    yield b"--b\r\n" + FILE.encode() + b"\r\n\r\n" + beginning
    meanwhile()


@each_case(
    ("promised", "beginning"),
    [(40 * MB, b""), (0, bytes(3 * MB)), (8 * MB, bytes(3 * MB))],
)
def test_what_an_upload_promises_is_taken_until_it_ends(promised, beginning, api, account):
    room(account, (promised or 20 * MB) + 10 * MB)
    answers = []

    def begin_another():
        body = during(b"", lambda: None)
        answers.append(api.post("/rest/transfer/file", content=body, headers=length(15 * MB)))

    body = during(beginning, begin_another)
    api.post("/rest/transfer/file", content=body, headers=length(promised))
    assert [word(each) for each in answers] == [(413, "not_enough_space")]
    begin_another()
    assert answers[-1].status_code == 400
    assert not UploadPromise.objects.exists()


def test_many_uploads_at_once_store_no_more_than_the_account_has_left(api, account):
    room(account, 6 * MB)
    stored = []

    def begin_others():
        stored.append(sum(path.stat().st_size for path in drafts()))
        if len(stored) < 8:
            body = during(bytes(2 * MB), begin_others)
            api.post("/rest/transfer/file", content=body, headers=length(0))

    begin_others()
    assert 0 < max(stored) <= 6 * MB


def test_a_promise_of_a_process_that_died_ends(api, account):
    room(account, 50 * MB)
    promise = space.Promise(account, 40 * MB)
    promise.cover(40 * MB)
    assert space.Promise(account, 0).room_bytes == 10 * MB
    UploadPromise.objects.update(expires_at=timezone.now())
    assert space.Promise(account, 0).room_bytes == 50 * MB
    upload(api, "a.bin", bytes(2 * MB))
    assert not UploadPromise.objects.exists()


def test_a_promise_holds_while_bytes_arrive(account, monkeypatch):
    promise = space.Promise(account, 40 * MB)
    promise.cover(40 * MB)
    before = UploadPromise.objects.get().expires_at
    promise.cover(2 * MB)
    assert UploadPromise.objects.get().expires_at == before
    # Otherwise the test would take a minute.
    monkeypatch.setattr(space, "RENEW_AFTER", timedelta(0))
    promise.cover(3 * MB)
    assert UploadPromise.objects.get().expires_at > before


def test_a_transfer_is_not_added_to_space_that_an_upload_promises(account):
    room(account, 50 * MB)
    space.Promise(account, 40 * MB).cover(40 * MB)
    assert quota.find_obstacle(account, 15 * MB) == "not_enough_space"
    assert quota.find_obstacle(account, 5 * MB) is None


def test_a_removed_account_leaves_no_promise(account):
    space.Promise(account, 40 * MB).cover(40 * MB)
    accounts.remove(account, NOW)
    assert not UploadPromise.objects.exists()


def test_an_upload_whose_space_is_taken_in_the_meantime_leaves_no_blob(api, account, monkeypatch):
    before = blobs()
    # The space must run out between two steps of one request.
    monkeypatch.setattr(space, "free_bytes", lambda _account: 10**9)
    monkeypatch.setattr(uploads, "keep_blob", kept_while_the_room_goes())
    answer = upload(api, "a.txt")
    assert answer.status_code == 413
    assert blobs() == before


def kept_while_the_room_goes():
    kept = uploads.keep_blob

    def keep(upload):
        space.free_bytes = lambda _account: 0
        return kept(upload)

    return keep


def test_a_full_account_accepts_a_torrent_too(api, account):
    room(account, 0)
    answer = upload(api, "s.torrent", a_torrent())
    assert answer.json()["result"] == "not_enough_space_added_to_wishlist"
    assert not File.objects.exists()


# Torrents


def test_a_file_that_only_begins_like_a_torrent_is_stored_as_a_file(api, account):
    for content in (b"d", b"diary", b"d4:infod", b"d" * 2**16):
        assert upload(api, "diary.txt", content).status_code == 200
    assert len(names(account)) == 4


def test_a_torrent_leaves_no_blob(api):
    before = blobs()
    assert upload(api, "s.torrent", a_torrent()).status_code == 200
    assert blobs() == before
    assert drafts() == []
    assert not File.objects.exists()


@each_case("free", [2**40, 0])
def test_a_torrent_leaves_memory_without_the_garbage_collector(free, api, monkeypatch):
    # Only root can make a disk with exactly this much free space.
    monkeypatch.setattr(DiskStore, "free_bytes", lambda _self: free)
    gc.collect()
    gc.disable()
    try:
        upload(api, "t.torrent", a_torrent())
        assert not any(isinstance(each, uploads.ReceivedUpload) for each in gc.get_objects())
    finally:
        gc.enable()


def test_an_oversized_torrent_file_is_refused_before_it_is_read(api):
    headers = {"content-length": str(10**9), "content-type": "multipart/form-data; boundary=b"}
    answer = api.post("/rest/torrent/file", content=b"x", headers=headers)
    assert word(answer) == (413, "too_large")


def test_an_upload_that_grows_too_large_for_a_torrent_is_not_treated_as_one(api):
    files = {"torrent_file": ("s.torrent", b"d" + b"x" * torrent_files.MOST_BYTES)}
    assert word(api.post("/rest/torrent/file", files=files)) == (400, "not_a_torrent")
    assert not Transfer.objects.exists()


@each_case("owner", [None, "another database"])
def test_a_library_of_another_database_takes_no_files(api, library_folder, owner):
    """It may be an empty folder where a disk should be mounted."""
    upload(api, "before.txt").raise_for_status()
    library_folder.mark.unlink()
    if owner:
        library_folder.hand_over(owner)
    before = sorted(library_folder.mark.parent.rglob("*"))
    assert upload(api, "after.txt").status_code == 503
    upload(api, "films.torrent", a_torrent()).raise_for_status()
    assert sorted(library_folder.mark.parent.rglob("*")) == before


def test_a_file_replaces_another_if_the_program_says_so(api, account):
    for content in (b"one", b"three"):
        assert upload(api, "a.txt", content, replace="1").status_code == 200
    (row,) = contents_of(account, 0).files
    assert (row.name, row.size_bytes) == ("a.txt", 5)
    assert [each["name"] for each in api.get("/rest/deleted").json()["items"]] == ["a.txt"]
