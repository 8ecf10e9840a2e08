"""The largest files of the whole library."""

import httpx
import pytest

from tests.people import page, words

pytestmark = pytest.mark.django_db
PATH = "/files/largest/"


def rows(answer) -> list[str]:
    found = page(answer).select("#largest li > span:first-of-type")
    return [each.get_text() for each in found]


def test_files_of_every_folder_are_in_one_order(gwen, storage):
    films = storage.folder("Films")
    inner = storage.folder("2024", films.id)
    storage.file("in the root.txt", b"x" * 3)
    storage.file("deep.mkv", b"x" * 900, inner.id)
    storage.file("middle.mkv", b"x" * 50, films.id)
    answer = gwen.client.get(PATH)
    assert rows(answer) == [
        "deep.mkvFolder: Films/2024",
        "middle.mkvFolder: Films",
        "in the root.txtFolder: All files",
    ]
    sizes = [each.get_text() for each in page(answer).select("#largest .num")]
    assert sizes == ["900 bytes", "50 bytes", "3 bytes"]
    assert storage.calls == [("GET", "/rest/files/largest")]


def test_a_row_leads_to_the_file_and_to_its_folder(gwen, storage):
    films = storage.folder("Films")
    deep, top = storage.file("a.txt", b"xx", films.id), storage.file("b.txt", b"x")
    links = [each["href"] for each in page(gwen.client.get(PATH)).select("#largest a")]
    assert links == [
        f"/files/{films.id}/file-{deep.id}/view/",
        f"/files/{films.id}/",
        f"/files/0/file-{top.id}/view/",
        "/",
    ]
    for link in links:
        assert gwen.client.get(link).status_code == 200


def test_largest_files_can_be_deleted_from_their_list(bob, gwen, storage):
    films = storage.folder("Films")
    file = storage.file("a.txt", parent=films.id)
    (way,) = page(bob.client.get(PATH)).select("#largest .icon-btn")
    dialog = page(bob.client.get(way["href"]))
    assert [each["value"] for each in dialog.select("[name=entry]")] == [f"file-{file.id}"]
    answer = bob.client.post(way["href"], {"entry": f"file-{file.id}"}, follow=True)
    assert "1 item deleted" in words(answer, "#toasts")
    assert rows(bob.client.get(PATH)) == []
    assert "No files yet." in words(bob.client.get(PATH), "main")
    storage.file("b.txt")
    assert not page(gwen.client.get(PATH)).select("#largest .icon-btn")


def test_an_unreachable_service_is_reported(gwen, storage):
    storage.fails("/rest/files/largest", 503)
    assert gwen.client.get(PATH).status_code == 503


def test_a_response_that_is_not_a_list_is_not_read_as_empty(gwen, storage):
    storage.says("/rest/files/largest", *[httpx.Response(200, json={"files": None})] * 3)
    assert gwen.client.get(PATH).status_code >= 500
