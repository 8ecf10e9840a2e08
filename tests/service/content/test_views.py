import io
import json
import os
import zipfile
from datetime import timedelta
from email.parser import BytesParser
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.utils import timezone
from django.utils.http import http_date
from hypothesis import given
from hypothesis import settings as checking
from hypothesis import strategies as st

from service.content import archive_plans, signed_links
from service.content.archive import ArchiveBroken
from service.content.playback_views import MediaFile
from service.content.range_responses import answer
from service.errors import DiskFull, NotFound
from service.library import library
from service.models import Account, File
from service.store.disk_store import DiskStore
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, put
from tests.service.reading import browser_gets

pytestmark = pytest.mark.django_db
CONTENT = bytes(range(256)) * 40


@pytest.fixture
def account(library_folder):
    return alice()


@pytest.fixture
def file(account, library_folder):
    return a_file(account, blob=put(library_folder, CONTENT))


@pytest.fixture
def link(account, file):
    return signed_links.file_link(account, file, now=timezone.now())


@pytest.fixture
def zip_link(account, file):
    return archive_plans.create_link(account, [0], [], "Everything", now=timezone.now())


@pytest.fixture(params=["file", "zip"])
def any_link(request):
    return request.getfixturevalue("link" if request.param == "file" else "zip_link")


def refusal_of(answer):
    facts = json.loads(answer.content)
    assert facts["result"] is False
    assert facts["status_code"] == answer.status_code
    assert answer.headers["Content-Type"] == "application/json"
    return answer.status_code, facts["reason_phrase"]


def test_a_link_sends_the_whole_file(reader, link):
    answer = reader.get(link)
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["Content-Length"] == str(len(CONTENT))
    assert answer.headers["Content-Type"] == "video/x-matroska"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="film.mkv"'
    assert answer.headers["Last-Modified"] == http_date(NOW.timestamp())
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "Set-Cookie" not in answer.headers


def test_a_zip_link_sends_the_archive_under_its_exact_length(reader, zip_link):
    answer = reader.get(zip_link)
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Everything.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["Everything/", "Everything/film.mkv"]


def test_head_tells_what_get_would(reader, any_link):
    whole, head = reader.get(any_link), reader.head(any_link, headers={"Range": "bytes=0-1"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == whole.headers


@pytest.mark.slow
@checking(max_examples=30)
@given(first=st.integers(0, 12_000), length=st.integers(1, 12_000))
def test_any_range_is_that_slice_of_the_whole(reader, any_link, first, length):
    whole = reader.get(any_link).content
    answer = reader.get(any_link, headers={"Range": f"bytes={first}-{first + length - 1}"})
    if first >= len(whole):
        assert refusal_of(answer) == (416, "range_not_satisfiable")
        assert answer.headers["Content-Range"] == f"bytes */{len(whole)}"
        return
    stop = min(first + length, len(whole))
    assert (answer.status_code, answer.content) == (206, whole[first:stop])
    assert answer.headers["Content-Range"] == f"bytes {first}-{stop - 1}/{len(whole)}"
    assert answer.headers["Content-Length"] == str(stop - first)


def test_several_ranges_come_as_parts(reader, any_link):
    whole = reader.get(any_link).content
    answer = reader.get(any_link, headers={"Range": "bytes=0-9, 500-599, -7"})
    assert answer.status_code == 206
    assert answer.headers["Content-Length"] == str(len(answer.content))
    head = f"Content-Type: {answer.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + answer.content).get_payload()
    size = len(whole)
    ranges = [part["Content-Range"] for part in parts]
    assert ranges == [
        f"bytes 0-9/{size}",
        f"bytes 500-599/{size}",
        f"bytes {size - 7}-{size - 1}/{size}",
    ]
    for part in (whole[:10], whole[500:600], whole[-7:]):
        assert b"\r\n\r\n" + part + b"\r\n--" in answer.content


def test_ranges_that_overlap_come_as_one(reader, link):
    answer = reader.get(link, headers={"Range": "bytes=5-9,0-7"})
    assert (answer.status_code, answer.content) == (206, CONTENT[:10])


def test_an_empty_file_is_an_answer(reader, account, library_folder):
    empty = a_file(account, "empty.txt", blob=put(library_folder, b""))
    link = signed_links.file_link(account, empty, now=timezone.now())
    answer = reader.get(link)
    assert (answer.status_code, answer.headers["Content-Length"]) == (200, "0")
    assert reader.get(link, headers={"Range": "bytes=-5"}).status_code == 200
    refused = reader.get(link, headers={"Range": "bytes=0-"})
    assert refused.headers["Content-Range"] == "bytes */0"


@pytest.mark.slow
def test_conditions_are_answered_as_rfc_9110_says(reader, any_link):
    known = reader.get(any_link).headers
    tag, date = known["ETag"], known.get("Last-Modified")
    later, earlier = http_date(2**32), http_date(10**9)
    for headers, status in [
        ({"If-None-Match": tag}, 304),
        ({"If-None-Match": f'"other", W/{tag}'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"other"', "If-Modified-Since": later}, 200),
        ({"If-Modified-Since": earlier}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        ({"If-Match": tag}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"If-Match": f"W/{tag}"}, 412),
        ({"If-Match": tag, "If-Unmodified-Since": earlier}, 200),
        ({"Range": "bytes=0-0", "If-None-Match": tag}, 304),
        ({"Range": "bytes=0-0", "If-Match": '"other"'}, 412),
        *([({"If-Modified-Since": date}, 304)] if date else []),
        *([({"If-Unmodified-Since": date}, 200)] if date else []),
        ({"If-Unmodified-Since": earlier}, 412 if date else 200),
    ]:
        for method in ("GET", "HEAD"):
            answer = reader.request(method, any_link, headers=headers)
            assert answer.status_code == status, (method, headers)
    unchanged = reader.get(any_link, headers={"If-None-Match": tag})
    assert (unchanged.content, unchanged.headers["ETag"]) == (b"", tag)


def test_a_download_resumes_only_what_is_still_the_same(reader, any_link):
    known = reader.get(any_link).headers
    tag, date = known["ETag"], known.get("Last-Modified")
    for validator, status in [
        (tag, 206),
        *([(date, 206)] if date else []),
        (f"W/{tag}", 200),
        ('"other"', 200),
        (http_date(10**9), 200),
        (http_date(2**32), 200),
        ("yesterday", 200),
    ]:
        answer = reader.get(any_link, headers={"Range": "bytes=5-", "If-Range": validator})
        assert answer.status_code == status, validator


def test_an_archive_resumes_after_its_link_is_requested_again(reader, account, file):
    asked_at = timezone.now()
    first = archive_plans.create_link(account, [0], [], "All", now=asked_at)
    known = reader.get(first)
    again = archive_plans.create_link(account, [0], [], "All", now=asked_at + timedelta(minutes=70))
    for link in (first, again):
        resuming = {"Range": "bytes=5-", "If-Range": known.headers["ETag"]}
        rest = reader.get(link, headers=resuming)
        assert (rest.status_code, rest.content) == (206, known.content[5:])
        assert "Last-Modified" not in rest.headers
        for moment in (asked_at, asked_at + timedelta(minutes=70)):
            dated = {"Range": "bytes=5-", "If-Range": http_date(moment.timestamp())}
            assert reader.get(link, headers=dated).status_code == 200


def test_a_segment_that_was_made_again_is_not_joined_to_its_older_version(rf, tmp_path):
    """Encoders write other bytes each time, and often as many."""
    path = tmp_path / "0.m4s"
    path.write_bytes(b"older")
    known = answer(rf.get("/"), MediaFile(path, "video/mp4", "tag"))
    known.close()
    path.write_bytes(b"newer")
    resuming = {"Range": "bytes=2-", "If-Range": known.headers["ETag"]}
    whole = answer(rf.get("/", headers=resuming), MediaFile(path, "video/mp4", "tag"))
    assert (whole.status_code, whole.getvalue()) == (200, b"newer")
    whole.close()


def test_only_reading_is_allowed(reader, any_link):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = reader.request(method, any_link)
        assert refusal_of(answer) == (405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, HEAD"


def test_an_address_that_leads_nowhere_is_json_too(reader):
    for path in ("/content/", "/content/file/1/x/y", f"/content/file/{'9' * 5000}/1/x"):
        assert refusal_of(reader.get(path)) == (404, "not_found")


def test_a_missing_or_resized_blob_is_not_found(reader, file, link, library_folder):
    library_folder.path(file.blob).write_bytes(b"other")
    assert refusal_of(reader.get(link)) == (404, "not_found")
    library_folder.delete(file.blob)
    assert refusal_of(reader.get(link)) == (404, "not_found")


def test_an_unexpected_error_is_json_without_details(reader, link, monkeypatch, caplog):
    def broken(*_ids):
        raise RuntimeError("tide")

    # No known request makes the view fail.
    monkeypatch.setattr(library, "file", broken)
    answer = reader.get(link)
    assert refusal_of(answer) == (500, "internal_error")
    assert b"tide" not in answer.content
    assert "tide" in caplog.text


def test_inline_is_granted_to_safe_types_only(reader, account, library_folder):
    for name, shown in [("a.jpg", "inline"), ("a.svg", "inline"), ("a.exe", "attachment")]:
        file = a_file(account, name, blob=put(library_folder))
        answer = reader.get(signed_links.file_link(account, file, now=timezone.now(), inline=True))
        assert answer.headers["Content-Disposition"].startswith(shown)
        assert "svg" not in answer.headers["Content-Type"]
        assert answer.headers["Content-Security-Policy"].startswith("sandbox")


def plans():
    """Return the archive plans, without the files beside them that record their selections."""
    return [
        plan for plan in (Path(settings.DATA_DIR) / "pins").iterdir() if "-key-" not in plan.name
    ]


def test_the_same_selection_is_planned_once_while_the_library_stays(
    account, file, library_folder, monkeypatch
):
    planned = []
    write_plan = archive_plans.write_plan
    # A plan that is written again has the same content; only the call shows it.
    monkeypatch.setattr(
        archive_plans, "write_plan", lambda *args: planned.append(1) or write_plan(*args)
    )

    def ask(name="All", at=NOW):
        archive_plans.create_link(account, [0], [file.pk], name, now=at)
        return len(planned)

    assert (ask(), ask(), ask(at=NOW + timedelta(minutes=59))) == (1, 1, 1)
    assert ask("Other") == 2
    library.rename_file(account, file.pk, "new.mkv", NOW)
    assert (ask(), ask()) == (3, 3)
    for plan in plans():
        plan.unlink()
    assert (ask(), ask()) == (4, 4)
    assert ask(at=NOW + timedelta(minutes=61)) == 5
    library_folder.delete(file.blob)
    assert ask(at=NOW + timedelta(hours=3)) == 6
    assert ask(at=NOW + timedelta(hours=3)) == 7  # a plan that lacks a file is made again


def test_a_plan_requested_again_lasts_as_long_as_the_new_link(account, file, reader):
    archive_plans.create_link(
        account, [], [file.pk], "Files", now=timezone.now() - timedelta(minutes=50)
    )
    link = archive_plans.create_link(account, [], [file.pk], "Files", now=timezone.now())
    archive_plans.prune(timezone.now() + timedelta(hours=25, minutes=30))
    assert reader.get(link).status_code == 200


def test_a_single_folder_keeps_its_tree_and_the_same_selection_its_pin(account, library_folder):
    folder = a_folder(account, "Films")
    below = a_folder(account, "Films/2024")
    a_file(account, "b.mkv", folder=below, blob=put(library_folder))
    a_file(account, "a.mkv", folder=folder, blob=put(library_folder))
    link = archive_plans.create_link(account, [folder.pk], [], "Films", now=NOW)
    assert archive_plans.create_link(account, [folder.pk], [], "Films", now=NOW) == link
    assert len(plans()) == 1


def test_a_blob_missing_when_the_archive_is_planned_is_named_in_it(
    reader, account, file, library_folder
):
    a_file(account, "kept.txt", blob=put(library_folder, b"kept"))
    library_folder.delete(file.blob)
    link = archive_plans.create_link(account, [0], [], "All", now=timezone.now())
    with zipfile.ZipFile(io.BytesIO(reader.get(link).content)) as archive:
        assert archive.namelist() == ["All/", "All/kept.txt", "MISSING.txt"]
        assert b"All/film.mkv" in archive.read("MISSING.txt")


@pytest.fixture
def believed(monkeypatch, library_folder):
    """Return a store that is known to be whole, and let plans check no blobs."""
    # No setting changes this limit, and making 500 files for each of these tests takes seconds.
    monkeypatch.setattr(archive_plans, "LOOKED_AT", 0)
    library_folder.record_intact(timezone.now())
    return library_folder


def everything():
    return archive_plans.create_link(Account.objects.get(), [0], [], "All", now=timezone.now())


def test_only_the_first_files_of_a_large_archive_are_checked(file, believed, monkeypatch):
    looked_at = []
    # Nothing else shows that no blob was checked.
    monkeypatch.setattr(DiskStore, "size", lambda _store, blob: looked_at.append(blob))
    link = everything()
    assert not looked_at
    believed.record_loss()
    assert everything() != link
    assert looked_at == [file.blob]


def test_small_archives_are_checked_even_in_a_complete_library(
    reader, account, file, library_folder
):
    library_folder.record_intact(timezone.now())
    library_folder.delete(file.blob)
    with zipfile.ZipFile(io.BytesIO(reader.get(everything()).content)) as archive:
        assert archive.namelist() == ["All/", "MISSING.txt"]


@pytest.mark.parametrize("harm", [os.unlink, lambda path: os.truncate(path, 9)])
def test_a_large_archive_with_missing_files_breaks_off_and_then_names_them(
    reader, file, believed, harm
):
    a_file(file.account, "a large one", blob=put(believed, bytes(10**6)))
    harm(believed.path(file.blob))
    with pytest.raises(httpx.ReadError) as broken:
        reader.get(everything())
    assert isinstance(broken.value.__cause__, ArchiveBroken | NotFound)
    with zipfile.ZipFile(io.BytesIO(reader.get(everything()).content)) as archive:
        assert archive.namelist() == ["All/", "All/a large one", "MISSING.txt"]
        assert archive.testzip() is None


def test_a_file_that_cannot_be_read_ends_the_belief(reader, file, link, believed):
    believed.delete(file.blob)
    assert reader.get(link).status_code == 404
    assert not believed.is_known_intact(timezone.now())


def test_planning_for_deleted_ids_leaves_no_plan(account, tmp_path):
    with pytest.raises(NotFound):
        archive_plans.create_link(account, [], [10**6], "Files", now=NOW)
    assert not list((tmp_path / "pins").glob("*"))


@pytest.mark.parametrize("moment", ["before", "while"])
def test_planning_on_a_full_disk_fails_and_leaves_no_plan(
    account, file, tmp_path, monkeypatch, moment
):
    def full(*_args):
        raise OSError(28, "No space left on device")

    # Only root can make a full disk.
    if moment == "before":
        monkeypatch.setattr(DiskStore, "free_bytes", lambda _store: 0)
    else:
        monkeypatch.setattr(archive_plans, "write_plan", full)
    with pytest.raises(DiskFull):
        archive_plans.create_link(account, [], [file.pk], "Files", now=NOW)
    assert not list(tmp_path.glob("pins/*"))


def test_plans_live_as_long_as_their_links(account, file, tmp_path):
    link = archive_plans.create_link(account, [], [file.pk], "Files", now=NOW)
    archive_plans.prune(NOW + timedelta(hours=25))
    assert len(plans()) == 1
    archive_plans.prune(NOW + timedelta(hours=27))
    assert not list((tmp_path / "pins").iterdir())
    assert link


def test_planning_asks_the_database_no_more_for_many_than_for_few(
    account, django_assert_max_num_queries
):
    folder = a_tree(account, "Photos", [f"{n % 7}/{n}.jpg" for n in range(300)])
    assert File.objects.count() == 300
    with django_assert_max_num_queries(6):
        archive_plans.create_link(account, [folder.pk], [], "Photos", now=NOW)


def test_nginx_is_handed_a_path_inside_and_no_bytes(file, link, settings):
    settings.ACCEL = "nginx"
    answer = browser_gets(link, range="bytes=0-1")
    inside = f"library/blobs/{file.blob[:2]}/{file.blob[2:4]}/{file.blob}"
    assert answer.headers["X-Accel-Redirect"] == f"/ferry-accel/{inside}"
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Type"] == "video/x-matroska"


def test_the_site_itself_is_sent_the_bytes_that_nginx_would_send(reader, link, settings):
    settings.ACCEL = "nginx"
    assert reader.get(link).content == CONTENT
