"""Row 17: concurrent requests through v1. Nothing is lost, doubled, or overdrawn.

For a restart in the middle of a write: tests/service/test_kills.py,
tests/service/worker/test_kills.py.
"""

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest
from django.db import connections
from django.utils import timezone

from config.embedded import upstream
from service.content import archive_plans, playback_views, signed_links
from service.library import library
from service.models import Account, DeletedFile, File, Folder, Transfer
from service.store.blobs import library_store
from service.torrents.events import TorrentGone
from service.transfers import transfers
from service.transfers.download_folders import ids_on_disk
from tests.misbehaving import head, serving, then_pouring
from tests.service.builders import NOW, a_file, a_folder, a_torrent, alice, magnet, put
from tests.service.fakes import Shift
from tests.service.fetching.servers import Side, url_of
from tests.service.media import samples
from tests.service.media.working import working
from tests.service.reading import reader

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "a quiet harbour at noon"
MANY = 6


@pytest.fixture
def account() -> Account:
    return alice(password=PASSWORD)


def at_once(act: Callable[[httpx.Client, int], httpx.Response]) -> list[httpx.Response]:
    start = Barrier(MANY)

    def one(number: int) -> httpx.Response:
        options = {"transport": upstream.transport(), "base_url": upstream.URL}
        try:
            with httpx.Client(auth=("alice@example.org", PASSWORD), **options) as api:
                start.wait()
                return act(api, number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


def test_uploads_of_one_name_are_all_kept(account):
    answers = at_once(
        lambda api, n: api.post("/rest/transfer/file", files={"file": ("a.txt", b"%d" % n)})
    )
    assert {answer.status_code for answer in answers} == {200}
    files = File.objects.filter(account=account)
    assert {each.name for each in files} == {"a.txt", *(f"a ({n}).txt" for n in range(2, MANY + 1))}
    contents = {library_store().path(each.blob).read_bytes() for each in files}
    assert contents == {b"%d" % number for number in range(MANY)}


def test_uploads_never_exceed_the_space(account):
    Account.objects.filter(pk=account.pk).update(space_max_bytes=250)
    blobs = sum(1 for _blob in library_store().blobs())
    answers = at_once(
        lambda api, n: api.post("/rest/transfer/file", files={"file": (f"{n}", b"x" * 100)})
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [413] * (MANY - 2)
    account.refresh_from_db()
    assert account.space_used_bytes == 200
    assert sum(1 for _blob in library_store().blobs()) == blobs + 2


@pytest.mark.parametrize("kind", ["magnet", "file"])
def test_the_same_torrent_at_once_is_one_transfer(kind, account):
    bodies = {
        "magnet": {"data": {"magnet": magnet(name="Sintel")}},
        "file": {"files": {"file": ("s.torrent", a_torrent())}},
    }
    answers = at_once(lambda api, _n: api.post(f"/rest/torrent/{kind}", **bodies[kind]))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == Transfer.objects.count() == 1


def test_concurrent_requests_for_a_name_have_one_winner(account):
    files = [a_file(account, f"{number}.txt") for number in range(MANY)]
    answers = at_once(
        lambda api, n: api.post(f"/rest/file/{files[n].pk}/rename", data={"rename_to": "a.txt"})
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (MANY - 1)


def test_concurrent_deletions_free_a_files_space_once(account):
    kept, doomed = a_file(account, "kept.txt"), a_file(account, "doomed.txt")
    answers = at_once(lambda api, _n: api.delete(f"/rest/file/{doomed.pk}"))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * (MANY - 1)
    account.refresh_from_db()
    assert account.space_used_bytes == kept.size_bytes
    assert library.root_of(account).size_bytes == kept.size_bytes


def selection(*rows) -> str:
    return json.dumps([{"type": type(row).__name__.lower(), "id": row.pk} for row in rows])


def test_a_file_that_many_move_is_in_one_place(account):
    file = a_file(account, "a.txt")
    folders = [a_folder(account, f"{number}") for number in range(MANY)]
    sent = {"archive_arr": selection(file)}
    answers = at_once(
        lambda api, n: api.post("/rest/move", data=sent | {"folder_id": folders[n].pk})
    )
    assert {answer.status_code for answer in answers} == {200}
    file.refresh_from_db()
    sizes = {folder.pk: folder.size_bytes for folder in Folder.objects.exclude(parent=None)}
    assert sizes == {folder.pk: 10 * (folder.pk == file.folder_id) for folder in folders}
    at_once(lambda api, n: api.post("/rest/move/undo", data={"batch": answers[n].json()["batch"]}))
    account.refresh_from_db()
    assert account.space_used_bytes == library.root_of(account).size_bytes == 10


def test_folders_that_move_into_each_other_make_no_ring(account):
    folders = [a_folder(account, f"{number}") for number in range(MANY)]

    def move(api: httpx.Client, n: int) -> httpx.Response:
        target = folders[(n + 1) % MANY].pk
        sent = {"archive_arr": selection(folders[n]), "folder_id": target}
        return api.post("/rest/move", data=sent)

    answers = at_once(move)
    assert sorted(answer.status_code for answer in answers) == [200] * (MANY - 1) + [422]
    lineages = [folder.lineage for folder in Folder.objects.order_by("lineage")]
    assert [len(lineage) for lineage in lineages] == [12 * n for n in range(1, MANY + 2)]


def test_copies_never_exceed_the_space(account):
    Account.objects.filter(pk=account.pk).update(space_max_bytes=35)
    sent = {"archive_arr": selection(a_file(account, "a.txt"))}
    answers = at_once(lambda api, _n: api.post("/rest/copy", data=sent))
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [413] * (MANY - 2)
    account.refresh_from_db()
    assert account.space_used_bytes == library.root_of(account).size_bytes == 30


def test_concurrent_delete_and_restore_leave_one_copy(account):
    file = a_file(account, "a.txt")
    sent = {"archive_arr": selection(file)}

    def act(api: httpx.Client, n: int) -> httpx.Response:
        if n % 2:
            return api.post("/rest/deleted", data=sent)
        return api.post("/rest/deleted/restore", data={"batch": 1})

    assert {answer.status_code for answer in at_once(act)} == {200}
    assert File.objects.count() + DeletedFile.objects.count() == 1
    account.refresh_from_db()
    assert account.space_used_bytes == 10
    assert library.root_of(account).size_bytes == 10 * File.objects.count()


def test_a_fetch_deleted_while_it_writes_has_ended_when_delete_responds(tmp_path):
    """After TorrentGone, the folder can be deleted, and nothing is written there again."""
    with serving(then_pouring(head(), b"x" * 65_536)) as server:
        for number in range(10):
            side = Side(tmp_path / str(number))
            side.folder.mkdir()
            side.add(url_of(server))
            side.until_true(lambda side=side: (side.folder / "0").exists())
            side.fetching.remove("7")
            assert side.end() == TorrentGone("7")
            shutil.rmtree(side.folder)
    assert list(tmp_path.iterdir()) == []


def once_linked(monkeypatch, shift, act):
    """Act once the store has linked the files, but before the library knows them."""
    link_all = type(shift.store).link_all

    def link_and_act(store, *more):
        stored = link_all(store, *more)
        act()
        return stored

    # Two real threads would meet at this moment once in a thousand times.
    monkeypatch.setattr(type(shift.store), "link_all", link_and_act)


def test_a_transfer_deleted_while_it_lands_leaves_nothing(account, tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path
    shift = Shift()
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    shift.round()
    shift.engine.metadata(transfer, files=[("film", 7)])
    shift.round()
    once_linked(monkeypatch, shift, lambda: transfers.delete(account, transfer.pk, NOW))
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert not Transfer.objects.exists()
    assert not File.objects.exists()
    assert list(shift.store.blobs()) == list(ids_on_disk()) == []
    account.refresh_from_db()
    assert account.space_used_bytes == 0


def test_a_folder_deleted_while_its_transfer_lands_loses_nothing(
    account, tmp_path, settings, monkeypatch
):
    settings.DATA_DIR = tmp_path
    shift = Shift()
    films = a_folder(account)
    transfer = transfers.add_magnet(account, magnet(name="film"), films.pk, NOW)
    shift.round()
    shift.engine.metadata(transfer, files=[("film", 7)])
    shift.round()
    once_linked(monkeypatch, shift, lambda: library.delete_folder(account, films.pk, NOW))
    shift.engine.complete(transfer, b"content")
    shift.rounds(3)
    assert shift.state(transfer) == "done"
    assert File.objects.get().folder == library.root_of(account)
    assert transfer.notice == "folder_gone"


@pytest.mark.parametrize("act", ["rename", "delete"])
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_a_response_that_has_begun_is_sent_to_its_end(kind, act, account):
    """This holds whatever happens to its name meanwhile; the next request finds the new state."""
    content = os.urandom(2_000_000)
    file = a_file(account, "film.mkv", blob=put(library_store(), content))
    link = signed_links.file_link(account, file, now=timezone.now())
    if kind == "zip":
        link = archive_plans.create_link(account, [], [file.pk], "Films", now=timezone.now())
    with reader() as client, client.stream("GET", link) as answer:
        pieces = answer.iter_raw()
        got = next(pieces)
        assert len(got) < len(content)
        if act == "rename":
            library.rename_file(account, file.pk, "other.mkv", timezone.now())
        else:
            library.delete_file(account, file.pk, timezone.now())
        got += b"".join(pieces)
    if kind == "zip":
        with zipfile.ZipFile(io.BytesIO(got)) as archive:
            assert archive.read("film.mkv") == content
    else:
        assert got == content
    with reader() as client:
        again = client.get(signed_links.file_link(account, file, now=timezone.now()))
    assert again.status_code == (200 if act == "rename" else 404)
    assert ("other.mkv" in again.headers.get("content-disposition", "")) == (act == "rename")


@pytest.mark.slow
def test_a_film_continues_to_play_after_a_rename(account, library_folder, settings, children):
    with samples.film("watched.mkv", seconds=2).open("rb") as stream:
        file = a_file(account, "film.mkv", blob=library_folder.put(stream))
    with working(settings.DATA_DIR, children), reader() as client:
        link = playback_views.stream_link(account, file, now=timezone.now())
        assert client.get(link).status_code == 200
        library.rename_file(account, file.pk, "other.txt", timezone.now())
        assert client.get(link.replace("master.m3u8", "vcopy/0.m4s")).status_code == 200
        assert client.get(link).status_code == 200
