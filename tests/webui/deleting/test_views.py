"""Recently deleted: undo, restore, and delete for good."""

import httpx
import pytest

from tests.people import page, words
from webui.models import Activity

pytestmark = pytest.mark.django_db
PATH = "/files/deleted/"
HTMX = {"HX-Request": "true"}


def names(answer) -> list[str]:
    return [each.get_text() for each in page(answer).select("#deleted bdi[id]")]


def delete(person, *items, **headers):
    chosen = [f"{'file' if item.content is not None else 'folder'}-{item.id}" for item in items]
    return person.client.post("/files/0/delete/", {"entry": chosen}, headers=headers)


def test_a_deletion_offers_its_undo_with_scripts_and_without(bob, storage):
    file, folder = storage.file("a.txt"), storage.folder("Films")
    inner = storage.file("b.mkv", parent=folder.id)
    for headers in (HTMX, {}):
        answer = delete(bob, file, folder, **headers)
        answer = answer if headers else bob.client.get(answer["Location"])
        assert "2 items deleted" in words(answer, ".toast")
        (undo,) = page(answer).select(".toast form")
        assert storage.fake.items.keys().isdisjoint({file.id, folder.id, inner.id})
        fields = {each["name"]: each["value"] for each in undo.select("input")}
        came = {"Referer": "http://localhost/?sort=size"}
        back = bob.client.post(undo["action"], fields, headers=came, follow=True)
        assert back.redirect_chain[-1][0] == "/?sort=size"
        assert "2 items restored" in words(back, "#toasts")
        assert storage.fake.items.keys() >= {file.id, folder.id, inner.id}
        assert page(back).select("#listing [title='a.txt']")


def test_the_question_says_for_how_long(bob, storage, settings):
    file = storage.file("a.txt")
    path = f"/files/0/delete/?entry=file-{file.id}"
    assert "You can restore deleted items for 30 days." in words(
        bob.client.get(path), "#delete-text"
    )
    settings.DELETED_DAYS = 1
    assert "You can restore deleted items for 1 day." in words(bob.client.get(path), "#delete-text")
    settings.DELETED_DAYS = 0
    assert "undo it for 10 seconds, but not later" in words(bob.client.get(path), "#delete-text")


def test_deleted_items_are_listed_and_selected_ones_restored(bob, storage):
    folder = storage.folder("Films")
    files = [storage.file(name, parent=folder.id) for name in ("a.txt", "b.txt")]
    bob.client.post(f"/files/{folder.id}/delete/", {"entry": [f"file-{each.id}" for each in files]})
    answer = bob.client.get(PATH)
    assert sorted(names(answer)) == ["a.txt", "b.txt"]
    assert "Folder: Films" in words(answer, "#deleted")
    assert "for 30 days. They take 14 bytes of your space." in words(answer, "main")
    (row,) = [each for each in page(answer).select("#deleted li") if "a.txt" in each.get_text()]
    chosen = {"id": row.select_one("input")["value"]}
    back = bob.client.post(f"{PATH}restore/", chosen, follow=True)
    assert "1 item restored" in words(back, "#toasts")
    assert names(back) == ["b.txt"]
    there = bob.client.get(f"/files/{folder.id}/")
    assert page(there).select("#listing [title='a.txt']")


def test_items_are_deleted_for_good_after_a_question(bob, storage):
    delete(bob, storage.file("a.txt"), storage.file("b.txt"), storage.file("c.txt"))
    boxes = page(bob.client.get(PATH)).select("#deleted input")
    dialog = bob.client.post(f"{PATH}delete/", {"id": boxes[0]["value"]})
    assert "Delete 1 item for good?" in words(dialog, "h1")
    assert len(storage.fake.deleted) == 3
    form = {each["name"]: each["value"] for each in page(dialog).select("main form input")}
    back = bob.client.post(f"{PATH}delete/", form, follow=True)
    assert "1 item deleted for good" in words(back, "#toasts")
    assert len(storage.fake.deleted) == 2
    dialog = bob.client.post(f"{PATH}delete/", {"all": "1"})
    assert "Delete all items for good?" in words(dialog, "h1")
    form = {each["name"]: each["value"] for each in page(dialog).select("main form input")}
    back = bob.client.post(f"{PATH}delete/", form, follow=True)
    assert storage.fake.deleted == {}
    assert "Nothing can be restored." in words(back, "main")


def test_without_a_choice_nothing_happens(bob, storage):
    delete(bob, storage.file("a.txt"))
    for action in ("restore", "delete"):
        back = bob.client.post(f"{PATH}{action}/", follow=True)
        assert "Choose what you want" in words(back, "#toasts")
    assert len(storage.fake.deleted) == 1


def test_a_forged_list_of_batches_causes_few_calls(bob, storage):
    delete(bob, storage.file("a.txt"))
    (batch, *_rest), *_others = storage.fake.deleted.values()
    before = len(storage.calls)
    for many in ([str(batch)] * 201, ["x", str(batch)], map(str, range(9_999))):
        answer = bob.client.post("/files/undo/", {"undo": f"deleted:{','.join(many)}"})
        assert answer.status_code == 404
    assert len(storage.calls) == before
    bob.client.post("/files/undo/", {"undo": f"deleted:{','.join([str(batch)] * 200)}"})
    assert len(storage.calls) - before == 1
    assert storage.fake.deleted == {}


def test_restorations_before_a_failure_are_recorded(bob, storage):
    delete(bob, storage.file("a.txt"))
    (batch, *_rest), *_others = storage.fake.deleted.values()
    fine = httpx.Response(
        200, json={"items": [{"entry_id": 1, "folder_id": 0, "name": "a.txt"}], "result": True}
    )
    storage.says("/rest/deleted/restore", fine, *[httpx.Response(503)] * 9)
    form = {"undo": f"deleted:{batch},{batch + 1}"}
    assert bob.client.post("/files/undo/", form).status_code == 503
    assert Activity.objects.filter(kind="undeleted").get().subject == "a.txt"


def test_a_file_and_a_folder_may_share_an_id(storage):
    rows = [{"type": kind, "entry_id": 7, "folder_id": 1, "name": kind} for kind in ("file", "x")]
    storage.says("/rest/deleted/restore", httpx.Response(200, json={"items": [*rows, None]}))
    assert len(storage.service.v1.restore({"all": "1"})) == 2


def test_films_below_a_deleted_folder_are_not_continued(bob, storage):
    outer = storage.folder("Series")
    inner = storage.folder("Season 1", outer.id)
    film = storage.file("a.mkv", parent=inner.id)
    for path in ("/", f"/files/{outer.id}/", f"/files/{inner.id}/"):
        bob.client.get(path)
    form = {"folder": inner.id, "at": "600", "of": "6000"}
    bob.client.post(f"/watch/{film.id}/", form)
    assert page(bob.client.get("/")).select("#continue")
    delete(bob, outer)
    assert not page(bob.client.get("/")).select("#continue")


def test_a_deletion_that_stops_half_way_offers_to_undo_that_half(bob, storage, monkeypatch):
    # A test can't delete 500 files.
    monkeypatch.setattr("webui.files.views.actions.MOST_TOGETHER", 1)
    files = [storage.file(name) for name in ("a.txt", "b.txt")]
    fine = httpx.Response(200, json={"batch": 7, "count": 1, "result": True})
    storage.says("/rest/deleted", fine, *[httpx.Response(503)] * 9)
    answer = delete(bob, *files, **HTMX)
    assert "deleted 1 of 2" in words(answer, ".toast")
    assert page(answer).select_one(".toast [name=undo]")["value"] == "deleted:7"
    assert Activity.objects.filter(kind="deleted").get().count == 1


def test_items_deleted_after_the_confirmation_opened_can_still_be_restored(bob, storage):
    delete(bob, storage.file("a.txt"))
    dialog = bob.client.post(f"{PATH}delete/", {"all": "1"})
    form = {each["name"]: each["value"] for each in page(dialog).select("main form input")}
    delete(bob, storage.file("b.txt"))
    bob.client.post(f"{PATH}delete/", form)
    assert names(bob.client.get(PATH)) == ["b.txt"]


def test_activity_records_who_did_it(bob, alice, storage):
    delete(bob, storage.file("a.txt"), storage.file("b.txt"))
    boxes = page(bob.client.get(PATH)).select("#deleted input")
    bob.client.post(f"{PATH}restore/", {"id": [each["value"] for each in boxes]})
    delete(bob, storage.file("c.txt"))
    dialog = bob.client.post(f"{PATH}delete/", {"all": "1"})
    form = {each["name"]: each["value"] for each in page(dialog).select("main form input")}
    bob.client.post(f"{PATH}delete/", form)
    text = words(alice.client.get("/account/activity/"), "main")
    for sentence in (
        "bob deleted “a.txt” and 1 more",
        "bob deleted “c.txt” for good",
        "bob deleted “c.txt”",
    ):
        assert sentence in text
    assert "bob restored “" in text
    assert Activity.objects.filter(kind="undeleted").get().count == 2


def test_a_foreign_service_restores_nothing(bob, foreign):
    assert bob.client.get(PATH).status_code == 404
    for action in ("restore", "delete"):
        assert bob.client.post(f"{PATH}{action}/", {"all": "1"}).status_code == 404
    assert PATH not in bob.client.get("/").content.decode()


def test_the_way_there_is_on_files_and_on_server(bob, gwen, storage):
    storage.file("a.txt")
    for path in ("/", "/account/server/"):
        assert page(bob.client.get(path)).select(f"a[href='{PATH}']")
        assert not page(gwen.client.get(path)).select(f"a[href='{PATH}']")


def test_an_undo_redirects_to_our_own_pages_only(bob, storage):
    delete(bob, storage.file("a.txt"))
    boxes = page(bob.client.get(PATH)).select("#deleted input")
    came = {"Referer": "https://evil.example/"}
    answer = bob.client.post(f"{PATH}restore/", {"id": boxes[0]["value"]}, headers=came)
    assert answer["Location"] == PATH
