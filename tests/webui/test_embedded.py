"""The site with the real embedded service: one journey through all of it."""

import io
import json
import zipfile

import pytest
from django.utils import timezone

from tests.people import page
from tests.service.builders import magnet
from webui.connection import connection
from webui.models import Sent
from webui.transfers import actions
from webui.v1.errors import Rejected

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_service")]
SCRIPT = {"x-requested-with": "ferry"}


def names(answer) -> list[str]:
    return [tag["title"] for tag in page(answer).select(".entry-name")]


def keys(answer) -> list[str]:
    return [tag["value"] for tag in page(answer).select("[name=entry]")]


def send(person, path, name, content, **headers):
    file = io.BytesIO(content)
    file.name = name
    return person.client.post(path, {"file": file}, headers={**SCRIPT, **headers})


def test_records_that_no_other_service_sends_are_read():
    v1 = connection.service().v1
    films_id = v1.create_folder("Films")
    v1.add_file("a film.txt", io.BytesIO(b"abc"), 3)
    (largest,) = v1.largest_files()
    assert (largest.name, largest.size_bytes, largest.folder_path) == ("a film.txt", 3, "")
    assert abs(timezone.now() - largest.updated_at).total_seconds() < 600
    result = v1.search({"q": "film"})
    assert [each.id for each in (*result.folders, *result.files)] == [films_id, largest.id]
    assert (result.count, result.has_more, result.has_uncounted) == (2, False, False)

    file = ("file", largest.id)
    moved = v1.place("move", [file], films_id, "ask")
    assert (moved.count, moved.taken) == (1, ())
    undone = v1.undo_move(moved.id)
    assert (undone.count, set(undone.folder_ids)) == (1, {films_id, largest.folder_id})
    assert v1.place("move", [file], films_id, "ask").id
    v1.add_file("a film.txt", io.BytesIO(b"other"), 5)
    (other,) = v1.listing().files
    refused = v1.place("move", [("file", other.id)], films_id, "ask")
    assert (refused.id, refused.taken, refused.taken_count) == ("", ("a film.txt",), 1)

    deleted = v1.delete_together([("folder", films_id)])
    assert deleted.count == 1
    items = v1.deleted_items()
    (item,) = items.items
    assert (item.name, item.kind, item.folder_path) == ("Films", "folder", "")
    assert (item.size_bytes, items.size_bytes, items.has_more) == (3, 3, False)
    assert item.deleted_at.tzinfo is not None
    (place,) = v1.restore({"batch": deleted.id})
    assert (place.name, place.folder_id) == ("Films", largest.folder_id)
    v1.delete_together([("folder", films_id)])
    gone = v1.delete_for_good({"ids": v1.deleted_items().items[0].id})
    assert (gone.id, gone.count) == ("", 1)


def test_limits_are_read_and_changed():
    v1 = connection.service().v1
    before = v1.limits()
    assert (before.may_change, before.is_slow, before.schedule) == (True, False, "0" * 336)
    changed = v1.set_limits(
        {"active_transfers": "3", "schedule": "1" * 336, "switch": "full", "until": "hour"}
    )
    assert v1.limits() == changed
    assert (changed.active_transfers, changed.is_slow, changed.switched_to) == (3, False, "full")
    assert 0 < (changed.switched_until - timezone.now()).total_seconds() <= 3_600
    with pytest.raises(Rejected, match="seed_ratio_unreadable"):
        v1.set_limits({"seed_ratio": "-1"})

    transfer_id = v1.add_magnet(magnet()).id
    limited = v1.limit_transfer(transfer_id, {"download_bytes_per_second": "5", "seed_ratio": "2"})
    assert v1.transfer_limits(transfer_id) == limited
    assert (limited.download_bytes_per_second, limited.seed_ratio) == (5, 2.0)
    assert v1.limit_transfer(transfer_id, {"seed_ratio": ""}).seed_ratio is None

    seen = v1.reachability()
    assert (seen.port, seen.reachable, seen.mapping, seen.incoming_at) == (0, None, "", None)


def test_a_file_is_uploaded_listed_renamed_downloaded_and_deleted(bob):
    made = bob.client.post("/files/0/new/", {"name": "Films"}, headers=SCRIPT)
    upload_url = json.loads(made.content)["upload_url"]
    content = b"harbour " * 50_000
    for name, headers in (("a.txt", {"x-file-size": str(len(content))}), ("b.txt", {})):
        assert json.loads(send(bob, upload_url, name, content, **headers).content)["ok"]
    folder = upload_url.removesuffix("upload/")
    shown = bob.client.get(folder)
    assert names(shown) == ["a.txt", "b.txt"]
    first = keys(shown)[0]

    sent = {"name": "z.txt"}
    assert names(bob.client.post(f"{folder}{first}/rename/", sent, follow=True)) == [
        "b.txt",
        "z.txt",
    ]

    link = bob.client.get(f"/files/file/{first.removeprefix('file-')}/download/")["Location"]
    assert link.startswith("/content/")
    assert b"".join(bob.client.get(link).streaming_content) == content

    archive = bob.client.post(f"{folder}zip/", {"entry": keys(shown)})["Location"]
    zipped = bob.client.get(bob.client.get(f"{archive}download/")["Location"])
    with zipfile.ZipFile(io.BytesIO(b"".join(zipped.streaming_content))) as found:
        assert sorted(found.namelist()) == ["Films/", "Films/b.txt", "Films/z.txt"]

    bob.client.post(f"{folder}delete/", {"all": "1"})
    assert names(bob.client.get(folder)) == []
    assert names(bob.client.get("/")) == ["Films"]


def test_a_name_that_is_taken_is_refused_at_the_field(bob):
    for wanted in (302, 422):
        assert bob.client.post("/files/0/new/", {"name": "Films"}).status_code == wanted


def test_two_files_of_one_name_are_both_kept(bob):
    for content in (b"one", b"two"):
        send(bob, "/files/0/upload/", "a.txt", content)
    assert names(bob.client.get("/")) == ["a (2).txt", "a.txt"]


def test_a_transfer_of_the_real_service_is_shown_followed_and_cancelled(bob):
    v1 = connection.service().v1
    added = v1.add_magnet(f"magnet:?xt=urn:btih:{'a' * 40}&dn=Sintel")
    shown = page(bob.client.get("/transfers/"))
    assert shown.select_one(f"#t{added.id}")["data-state"] == "queued"
    content = b"x" * 500
    kept = v1.add_file("a.txt", io.BytesIO(content), len(content))
    row = Sent.record(
        connection.service().key,
        transfer_id=kept.id,
        title=kept.name,
        source_kind=Sent.FILE,
        added_at=timezone.now(),
    )
    actions.mark_changed(connection.service())
    shown = page(bob.client.get("/transfers/"))
    assert shown.select_one(f"#t{kept.id}")["data-state"] == "moved"
    row.refresh_from_db()
    assert row.created_file_id
    opened = bob.client.get(f"/transfers/t{kept.id}/open/")
    assert opened["Location"] == f"/#file-{row.created_file_id}"
    bob.client.post(f"/transfers/t{added.id}/remove/")
    assert page(bob.client.get("/transfers/")).select(f"#t{added.id}") == []
