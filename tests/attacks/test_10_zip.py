"""Row 10: archives of files that change, vanish, belong to others, or are requested too often.

For hostile names unpacked by other programs and by the rules of Windows and macOS, for more than
65,535 entries, and for more than 4 GiB: tests/service/content/test_archive.py,
tests/service/content/test_download_names.py.
"""

import io
import os
import socket
import time
import zipfile
from pathlib import Path

import httpx
import pytest
from django.conf import settings as ours
from django.utils import timezone

from service.content import archive_plans
from service.content.archive import ArchiveBroken
from service.errors import NotFound
from service.library import library
from service.store.blobs import library_store
from tests.service.builders import a_file, a_folder, alice, mallory, put
from tests.service.reading import reader
from tests.serving import serving

LARGE = os.urandom(2_000_000)


@pytest.fixture
def account(tmp_path, settings, db):
    settings.DATA_DIR = tmp_path
    return alice()


def pinned(account, folder_ids, file_ids):
    return archive_plans.create_link(account, folder_ids, file_ids, "Files", now=timezone.now())


def archive_of(link):
    with reader() as client:
        return zipfile.ZipFile(io.BytesIO(client.get(link).raise_for_status().content))


def test_equal_names_from_different_folders_are_all_kept(account):
    store, ids, folders = library_store(), [], []
    for place in ("A", "B"):
        folder = a_folder(account, place)
        folders.append(a_folder(account, f"{place}/Same").pk)
        content = place.encode()
        ids.append(a_file(account, "same.txt", folder=folder, blob=put(store, content)).pk)
    with archive_of(pinned(account, folders, ids)) as archive:
        assert archive.namelist() == ["Same/", "Same (2)/", "same.txt", "same (2).txt"]
        assert [archive.read(name) for name in archive.namelist()[2:]] == [b"A", b"B"]


def broken_off(account, file, harm):
    """Harm a file after the archive's first block; return whether the archive breaks off."""
    link = pinned(account, [], [file.pk])
    with reader() as client, client.stream("GET", link) as answer:
        pieces = answer.iter_raw()
        got = len(next(pieces))
        harm(library_store().path(file.blob))
        try:
            got += sum(map(len, pieces))
        except Exception as error:  # noqa: BLE001
            return isinstance(error.__cause__, ArchiveBroken)
        assert got == int(answer.headers["Content-Length"])
        return False


def test_a_file_that_shrinks_while_it_streams_breaks_the_archive_off(account):
    file = a_file(account, blob=put(library_store(), LARGE))
    assert broken_off(account, file, lambda path: os.truncate(path, 1_000_000))


def test_a_file_that_grows_while_it_streams_stays_as_it_was(account):
    file = a_file(account, blob=put(library_store(), LARGE))
    assert not broken_off(account, file, lambda path: os.truncate(path, 3_000_000))


def test_a_file_that_vanishes_while_it_streams_is_sent_to_its_end(account):
    file = a_file(account, blob=put(library_store(), LARGE))
    assert not broken_off(account, file, os.unlink)


def test_ids_of_another_account_are_not_found(account):
    other = mallory()
    theirs = a_folder(other)
    file = a_file(other, folder=theirs)
    mine = a_file(account)
    for folder_ids, file_ids in [([theirs.pk], []), ([], [file.pk]), ([], [mine.pk, file.pk])]:
        with pytest.raises(NotFound):
            pinned(account, folder_ids, file_ids)


def test_one_folder_10_000_times_is_one_folder(account):
    folder = a_folder(account)
    a_file(account, folder=folder, blob=put(library_store(), LARGE))
    link = pinned(account, [folder.pk] * 10_000 + [0] * 10_000, [])
    with archive_of(link) as archive:
        assert archive.namelist() == ["Files/", "Files/Films/", "Files/Films/film.mkv"]


def test_asking_for_one_archive_again_and_again_fills_no_disk(account, tmp_path):
    a_file(account, blob=put(library_store()))
    assert len({pinned(account, [0], []) for _ in range(100)}) == 1
    assert len(list((tmp_path / "pins").iterdir())) == 2  # the plan, and its key


def test_a_deleted_selection_is_not_pinned_again(account):
    folder = a_folder(account)
    pinned(account, [folder.pk], [])
    library.delete_folder(account, folder.pk, timezone.now())
    with pytest.raises(NotFound):
        pinned(account, [folder.pk], [])


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_500_readers_that_leave_after_a_kilobyte_leave_nothing_behind():
    owner = alice()
    files = [a_file(owner, f"{n}", blob=put(library_store(), LARGE * 4)).pk for n in range(2)]
    link = pinned(owner, [], files)
    request = f"GET {link} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with serving() as server:
        abort(server, request, 40)
        assert settled(server)
        before = server.resident_bytes()
        abort(server, request, 500)
        assert settled(server)
        assert server.descriptors() < 150  # with one connection to the database for each thread
        assert server.threads() <= 34  # as many as the setting allows, and the server's own
        assert server.resident_bytes() - before < 16 * 2**20


def abort(server, request, times):
    for _ in range(times):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(request)
            connection.recv(1024)


def settled(server, seconds=15):
    """Wait until the server holds no plan and no blob; meanwhile, it answers other requests."""
    data, deadline = Path(ours.DATA_DIR), time.monotonic() + seconds
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        while time.monotonic() < deadline:
            assert client.get("/healthz").status_code == 200
            if not server.open_below(data / "pins") + server.open_below(data / "library"):
                return True
    return False
