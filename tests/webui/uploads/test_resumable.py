"""Resumable uploads, by the tus protocol."""

import fcntl
import io
import os
import socket
from base64 import b64encode
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.contract.fake import SPACE
from tests.people import SignedIn, page, words
from tests.webui.uploads.test_form import Filling, Full, Untouchable, content_of, send
from webui.models import ResumableUpload
from webui.uploads import resumable as resumable_uploads
from webui.uploads.resumable import MOST_UPLOADS, Overtaken, State

pytestmark = pytest.mark.django_db
SPOKEN = {"HTTP_TUS_RESUMABLE": "1.0.0"}
PIECE = "application/offset+octet-stream"
FILM = bytes(range(256)) * 40
SIZE = len(FILM)


def begin(person, name="Der Film.mkv", size=SIZE, folder="0", **headers):
    metadata = f"filename {b64encode(name.encode()).decode()},filetype dmlkZW8="
    sent = {"HTTP_UPLOAD_LENGTH": str(size), "HTTP_UPLOAD_METADATA": metadata, **SPOKEN, **headers}
    return person.client.post(f"/files/{folder}/uploads/", **sent)


def begin_upload(person, **more):
    answer = begin(person, **more)
    assert answer.status_code == 201, answer.content
    return answer["Location"]


def put(person, url, content, offset=0, length=None, **headers):
    """Send a piece, of which less may arrive than its length says."""
    payload = io.BytesIO(content) if isinstance(content, bytes) else content
    sent = {
        "CONTENT_TYPE": PIECE,
        "CONTENT_LENGTH": str(len(content) if length is None else length),
        "wsgi.input": payload,
        "HTTP_UPLOAD_OFFSET": str(offset),
        **SPOKEN,
        **headers,
    }
    return person.client.generic("PATCH", url, b"", **sent)


def look(person, url):
    return person.client.head(url, **SPOKEN)


@pytest.fixture(autouse=True)
def _no_parts():
    """Remove what earlier tests left: their rows are gone."""
    for part in resumable_uploads.parts_folder().glob("*"):
        part.unlink()


def parts():
    return list(resumable_uploads.parts_folder().iterdir())


def test_a_file_arrives_in_pieces(bob, storage):
    url = begin_upload(bob)
    first = put(bob, url, FILM[:1000])
    assert (first.status_code, first["Upload-Offset"]) == (204, "1000")
    there = look(bob, url)
    assert (there["Upload-Offset"], there["Upload-Length"]) == ("1000", str(len(FILM)))
    assert there["Cache-Control"] == "no-store"
    last = put(bob, url, FILM[1000:], offset=1000)
    assert (last.status_code, last["Upload-Offset"]) == (204, str(len(FILM)))
    assert content_of(storage, "Der Film.mkv") == FILM
    assert look(bob, url)["Upload-Offset"] == str(len(FILM))
    assert put(bob, url, b"", offset=len(FILM)).status_code == 204
    assert [item.name for item in storage.fake.items.values()].count("Der Film.mkv") == 1


def test_bytes_received_before_an_interruption_stay(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:700], length=len(FILM))
    assert look(bob, url)["Upload-Offset"] == "700"
    put(bob, url, FILM[700:], offset=700)
    assert content_of(storage, "Der Film.mkv") == FILM


def test_an_empty_file_arrives(bob, storage):
    url = begin_upload(bob, name="empty", size=0)
    assert put(bob, url, b"").status_code == 204
    assert content_of(storage, "empty") == b""


def test_a_piece_that_belongs_elsewhere_is_refused(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:1000])
    for offset in (0, 999, 1001):
        assert put(bob, url, Untouchable(), offset=offset, length=10).status_code == 409
    assert put(bob, url, Untouchable(), offset=1000, length=len(FILM)).status_code == 413
    assert look(bob, url)["Upload-Offset"] == "1000"


def test_a_request_on_a_dead_connection_overwrites_nothing(bob, storage):
    """It received its last bytes after another request had gone on."""
    url = begin_upload(bob)
    upload = ResumableUpload.objects.get()

    class Slow(io.BytesIO):
        def read(self, size=-1):
            piece = super().read(500)
            if self.tell() == 1000:
                put(bob, url, FILM[500:2000], offset=500, length=1500)
            return piece

    with pytest.raises(Overtaken):
        resumable_uploads.append(upload, Slow(b"x" * 1500), 0)
    assert look(bob, url)["Upload-Offset"] == "2000"
    put(bob, url, FILM[2000:], offset=2000)
    assert content_of(storage, "Der Film.mkv")[500:] == FILM[500:]


def test_after_a_restart_of_the_machine_only_what_is_safe_counts(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:1000])
    upload = ResumableUpload.objects.get()
    with open(resumable_uploads.path_of(upload), "ab") as file:
        file.write(b"bytes that the disk only announced")
    ResumableUpload.objects.update(boot="an earlier one")
    assert look(bob, url)["Upload-Offset"] == "1000"
    put(bob, url, FILM[1000:], offset=1000)
    assert content_of(storage, "Der Film.mkv") == FILM


def test_another_machine_says_where_an_upload_is(bob, storage, settings, tmp_path, monkeypatch):
    url = begin_upload(bob)
    put(bob, url, FILM[:1000])
    here, elsewhere = settings.DATA_DIR, tmp_path
    # Only a cluster has several machines.
    monkeypatch.setattr(socket, "gethostname", lambda: "web-2")
    settings.DATA_DIR = elsewhere
    for answer in (look(bob, url), put(bob, url, FILM[1000:], offset=1000)):
        assert answer.status_code == 421
    assert ResumableUpload.objects.get().machine in answer.json()["reason"]
    settings.DATA_DIR = here
    assert look(bob, url)["Upload-Offset"] == "1000"
    put(bob, url, FILM[1000:], offset=1000)
    assert content_of(storage, "Der Film.mkv") == FILM


def test_another_machine_cancels_an_upload(bob, storage, settings, tmp_path, monkeypatch):
    url = begin_upload(bob)
    # Only a cluster has several machines.
    monkeypatch.setattr(socket, "gethostname", lambda: "web-2")
    settings.DATA_DIR = tmp_path
    assert bob.client.delete(url, **SPOKEN).status_code == 204
    assert not ResumableUpload.objects.exists()


def test_an_upload_lost_by_the_disk_restarts(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:1000])
    for part in parts():
        part.unlink()
    assert look(bob, url).status_code == 404


def test_if_the_service_refuses_it_the_bytes_wait_for_another_try(bob, storage):
    url = begin_upload(bob)
    storage.fails("/rest/transfer/file", 413, "not_enough_space")
    answer = put(bob, url, FILM)
    assert answer.status_code == 413
    assert "enough space" in answer.json()["reason"]
    storage.is_back()
    assert look(bob, url)["Upload-Offset"] == str(len(FILM))
    assert put(bob, url, b"", offset=len(FILM)).status_code == 204
    assert content_of(storage, "Der Film.mkv") == FILM
    assert parts() == []


def test_an_upload_is_not_reported_done_while_the_service_receives_it(bob, storage, monkeypatch):
    """The browser lost its connection, and asks again; the service may still refuse the file."""
    url = begin_upload(bob)
    answers = []
    add_file = storage.service.v1.add_file

    def ask_meanwhile(*given, **options):
        # As if it had taken an hour so far.
        ResumableUpload.objects.update(expires_at=F("expires_at") - timedelta(hours=1))
        answers.append(put(bob, url, b"", offset=SIZE))
        return add_file(*given, **options)

    # Only here is the file on its way.
    monkeypatch.setattr(storage.service.v1, "add_file", ask_meanwhile)
    assert put(bob, url, FILM).status_code == 204
    assert [answer.status_code for answer in answers] == [409]
    assert put(bob, url, b"", offset=SIZE).status_code == 204


def test_an_upload_is_sent_again_if_its_process_died(bob, storage):
    url = begin_upload(bob)
    storage.fails("/rest/transfer/file", 503)
    put(bob, url, FILM)
    storage.is_back()
    ResumableUpload.objects.update(state=State.MOVING)
    assert put(bob, url, b"", offset=SIZE).status_code == 204
    assert content_of(storage, "Der Film.mkv") == FILM
    assert parts() == []


def test_a_canceled_upload_leaves_nothing(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:10])
    assert bob.client.delete(url, **SPOKEN).status_code == 204
    assert parts() == []
    assert look(bob, url).status_code == 404


def test_only_the_person_who_began_an_upload_can_continue_it(alice, bob, gwen, storage):
    url = begin_upload(bob)
    for method in (look, lambda person, url: put(person, url, Untouchable(), length=5)):
        assert method(alice, url).status_code == 404
        assert method(gwen, url).status_code == 403


def test_strangers_and_guests_cannot_begin_an_upload(gwen, mallory, storage):
    assert begin(gwen).status_code == 403
    assert mallory.post("/files/0/uploads/", **SPOKEN).status_code == 302
    assert not ResumableUpload.objects.exists()


def test_forged_requests_are_refused_unread(bob, storage):
    url = begin_upload(bob)
    client = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    client.force_login(bob.user)
    browser = SignedIn(bob.user, client)
    assert begin(browser).status_code == 403
    refused = put(browser, url, Untouchable(), length=5)
    assert refused.status_code == 403
    assert refused.json()["token"]
    assert browser.client.delete(url, **SPOKEN).status_code == 403
    assert look(browser, url)["Upload-Offset"] == "0"


@each_case(
    "headers",
    [
        {"HTTP_TUS_RESUMABLE": "0.2.2"},
        {"HTTP_UPLOAD_LENGTH": ""},
        {"HTTP_UPLOAD_LENGTH": "-1"},
        {"HTTP_UPLOAD_LENGTH": "٣"},
        {"HTTP_UPLOAD_METADATA": "filetype dmlkZW8="},
        {"HTTP_UPLOAD_METADATA": "filename !!!"},
        {"HTTP_UPLOAD_METADATA": f"filename {b64encode(b'../a').decode()}"},
    ],
)
def test_invalid_requests_are_refused(bob, storage, headers):
    assert 400 <= begin(bob, **headers).status_code < 500
    assert not ResumableUpload.objects.exists()


def test_pieces_of_another_kind_are_refused(bob, storage):
    url = begin_upload(bob)
    assert put(bob, url, Untouchable(), length=5, CONTENT_TYPE="text/plain").status_code == 415


def test_an_upload_that_does_not_fit_does_not_start(bob, storage):
    bob.client.get("/")
    assert begin(bob, size=2 * SPACE).status_code == 413


def test_what_unfinished_uploads_promise_is_taken(alice, bob, storage):
    bob.client.get("/")
    assert begin(bob, size=SPACE * 6 // 10).status_code == 201
    refused = begin(alice, size=SPACE * 6 // 10)
    assert refused.status_code == 413
    assert "unfinished uploads need 600 MB" in refused.json()["reason"]
    assert ResumableUpload.objects.count() == len(parts()) == 1
    assert begin(alice, size=SPACE * 2 // 10).status_code == 201
    ResumableUpload.objects.filter(user=bob.user).update(expires_at=timezone.now())
    assert begin(alice, size=SPACE * 6 // 10).status_code == 201


def test_a_finished_or_canceled_upload_promises_nothing(bob, storage):
    bob.client.get("/")
    for _time in range(3):
        url = begin_upload(bob, size=SPACE * 6 // 10)
        assert bob.client.delete(url, **SPOKEN).status_code == 204
    put(bob, begin_upload(bob), FILM)
    ResumableUpload.objects.update(size_bytes=SPACE)
    begin_upload(bob, size=SPACE * 6 // 10)


def test_other_uploads_leave_what_an_unfinished_one_promises(bob, storage):
    bob.client.get("/")
    begin_upload(bob, size=SPACE * 9 // 10)
    size = SPACE * 2 // 10
    answer = send(bob.client, Untouchable(), length=size, x_requested_with="ferry")
    assert answer.status_code == 413


def test_unfinished_uploads_promise_no_more_than_the_disk_has(bob, foreign, monkeypatch):
    class Disk:
        free = 64 * 2**20 + 10_000

    # No test can fill the disk.
    monkeypatch.setattr("webui.uploads.receiving.shutil.disk_usage", lambda _path: Disk)
    url = begin_upload(bob, size=6000)
    assert begin(bob, size=6000).status_code == 503
    assert len(parts()) == 1
    put(bob, url, FILM[:3000], length=3000)
    assert begin(bob, size=6000).status_code == 201


def test_a_removed_persons_uploads_are_deleted(
    alice, bob, storage, django_capture_on_commit_callbacks
):
    put(bob, begin_upload(bob), FILM[:1000])
    put(alice, begin_upload(alice), FILM[:1000])
    assert len(parts()) == 4
    with django_capture_on_commit_callbacks(execute=True):
        alice.client.post(f"/account/people/{bob.user.pk}/remove/")
    assert not ResumableUpload.objects.filter(user=bob.user.pk).exists()
    assert len(parts()) == 2


def test_an_upload_that_is_deleted_while_it_arrives_is_cut_off(bob, storage, monkeypatch):
    # Otherwise, the test would send 64 MiB.
    monkeypatch.setattr(resumable_uploads, "SAFE_EVERY_BYTES", 500)
    url = begin_upload(bob)

    class Removing(io.BytesIO):
        def read(self, size=-1):
            ResumableUpload.objects.all().delete()
            return super().read(min(size, 500))

    body = Removing(FILM)
    assert put(bob, url, body, length=SIZE).status_code == 409
    assert body.tell() < 2000


def test_a_fetch_larger_than_the_disk_does_not_start(bob, storage, monkeypatch):
    # No test can fill the disk.
    monkeypatch.setattr("webui.uploads.receiving.shutil.disk_usage", lambda _path: Full)
    assert begin(bob).status_code == 503


def test_an_upload_stops_when_the_disk_is_nearly_full(bob, storage, monkeypatch):
    url = begin_upload(bob)
    answer = put(bob, url, Filling(FILM, monkeypatch), length=SIZE)
    assert answer.status_code == 507
    assert "disk doesn't have enough space" in answer.json()["reason"]
    assert look(bob, url)["Upload-Offset"] == "1000"


def test_a_disk_on_which_the_database_is_full_too_is_reported(bob, storage, monkeypatch):
    url = begin_upload(bob)

    def refuse(execute, sql, *given):
        if "safe_bytes" in sql and sql.startswith("UPDATE"):
            raise OperationalError("database or disk is full")
        return execute(sql, *given)

    with connection.execute_wrapper(refuse):
        answer = put(bob, url, Filling(FILM, monkeypatch), length=SIZE)
    assert answer.status_code == 507


def many_uploads(person, **facts):
    defaults = {"size_bytes": 1, "expires_at": timezone.now() + timedelta(days=1)}
    ResumableUpload.objects.bulk_create(
        ResumableUpload(
            key=f"{number:032x}",
            user=person.user,
            service="x",
            folder="0",
            name="a",
            **{**defaults, **facts},
        )
        for number in range(MOST_UPLOADS)
    )


def test_the_number_of_begun_uploads_is_limited(bob, storage):
    many_uploads(bob)
    assert begin(bob).status_code == 429


@each_case("facts", [{"state": State.DONE}, {"expires_at": timezone.now() - timedelta(minutes=1)}])
def test_uploads_that_are_done_or_expired_do_not_count(facts, bob, storage):
    many_uploads(bob, **facts)
    assert begin(bob).status_code == 201


def test_abandoned_uploads_are_removed_after_a_week(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:10])
    stray = resumable_uploads.parts_folder() / ("f" * 32)
    stray.write_bytes(b"of a row that was restored away")
    old = timezone.now() - resumable_uploads.LIFETIME - timedelta(days=1)
    os.utime(stray, (old.timestamp(), old.timestamp()))
    resumable_uploads.prune(timezone.now())
    assert stray not in parts()
    assert parts()
    resumable_uploads.prune(timezone.now() + resumable_uploads.LIFETIME)
    assert parts() == []
    assert look(bob, url).status_code == 404


def test_a_file_that_arrived_can_be_sent_once_more_later(bob, storage):
    url = begin_upload(bob)
    last = put(bob, url, FILM)
    assert look(bob, url)["Upload-Offset"] == str(SIZE)
    upload = ResumableUpload.objects.get()
    assert upload.expires_at < timezone.now() + timedelta(hours=1)
    ResumableUpload.objects.update(expires_at=timezone.now())
    assert last.status_code == 204
    assert look(bob, url).status_code == 404


def test_clients_can_ask_what_it_speaks(bob, storage):
    answer = bob.client.options("/files/0/uploads/")
    assert answer["Tus-Version"] == "1.0.0"
    assert answer["Tus-Extension"] == "creation,expiration,termination"


# The list of interrupted uploads


def listed(person, path="/"):
    return [each.get_text() for each in page(person.client.get(path)).select("#interrupted bdi")]


def test_an_interrupted_upload_is_listed_in_its_folder_until_it_is_whole(bob, alice, storage):
    folder = storage.folder("Films")
    url = begin_upload(bob, folder=str(folder.id))
    put(bob, url, FILM[:2560], length=SIZE)
    path = f"/files/{folder.id}/"
    assert listed(bob, path) == ["Der Film.mkv"]
    assert "25% of 10 KB uploaded" in words(bob.client.get(path), "#interrupted")
    assert listed(bob) == listed(alice, path) == []
    put(bob, url, FILM[2560:], 2560)
    assert listed(bob, path) == []


def test_an_upload_that_a_request_appends_to_is_not_interrupted(bob, storage):
    url = begin_upload(bob)
    put(bob, url, FILM[:10], length=SIZE)
    upload = ResumableUpload.objects.get()
    with open(resumable_uploads.path_of(upload, resumable_uploads.BUSY), "rb") as busy:
        fcntl.flock(busy, fcntl.LOCK_SH)
        assert listed(bob) == []
    assert listed(bob) == ["Der Film.mkv"]


def test_an_open_page_learns_of_an_interruption_and_of_its_end(bob, storage):
    """The server may notice only after a page has loaded that its reload cut an upload off."""
    url = begin_upload(bob)
    put(bob, url, FILM[:2560], length=SIZE)
    htmx = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": "http://localhost/"}
    fresh = page(bob.client.get("/files/0/listing/", **htmx)).select_one("#interrupted")
    assert fresh["hx-swap-oob"] == "true"
    assert not fresh.has_attr("hidden")
    assert "choose the same file again" in fresh.get_text()
    put(bob, url, FILM[2560:], 2560)
    over = page(bob.client.get("/files/0/listing/", **htmx)).select_one("#interrupted")
    assert over.has_attr("hidden")
    assert over.get_text().strip() == ""


def test_without_scripts_nothing_says_that_an_interrupted_upload_can_continue(bob, storage):
    put(bob, begin_upload(bob), FILM[:10], length=SIZE)
    hint = page(bob.client.get("/")).select_one("#interrupted p")
    assert "To continue" in hint.get_text()
    assert "scripted" in hint["class"]
    assert hint.select_one("a[data-upload]")


def test_after_a_power_cut_only_what_was_safe_counts(bob, storage):
    put(bob, begin_upload(bob), FILM[:2560], length=SIZE)
    ResumableUpload.objects.update(boot="an earlier one", safe_bytes=1024)
    assert "10% of 10 KB uploaded" in words(bob.client.get("/"), "#interrupted")


def test_it_is_canceled_without_scripts(bob, alice, storage):
    put(bob, begin_upload(bob), FILM[:10], length=SIZE)
    form = page(bob.client.get("/")).select_one("#interrupted form")
    assert alice.client.post(form["action"]).status_code == 404
    answer = bob.client.post(form["action"], follow=True)
    assert "Upload canceled" in words(answer, "#toasts")
    assert not ResumableUpload.objects.exists()
    assert not list(resumable_uploads.parts_folder().glob("*"))
    assert listed(bob) == []
