"""Actions in Files: new folder, rename, delete, and ZIP of a selection."""

import json
import unicodedata
from datetime import timedelta
from urllib.parse import unquote

import httpx
import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.service import ROOT
from webui.models import Selection

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true", "hx-current-url": "http://localhost/?sort=-size"}


def there(storage) -> set[str]:
    return {item.name for item in storage.fake.items.values() if item.name}


def names(answer) -> list[str]:
    return [tag["title"] for tag in page(answer).select(".entry-name")]


# New folder


def test_a_folder_is_made_and_shown(bob, storage):
    answer = bob.client.post("/files/0/new/?view=grid", {"name": " Films "}, follow=True)
    assert answer.redirect_chain == [("/?view=grid", 302)]
    assert names(answer) == ["Films"]
    assert "Folder created" in words(answer, "#toasts")


def test_under_htmx_the_fresh_listing_is_returned(bob, storage):
    answer = bob.client.post("/files/0/new/", {"name": "Films"}, headers=HTMX)
    assert answer.status_code == 200
    assert answer["HX-Retarget"] == "#listing"
    assert names(answer) == ["Films"]
    assert not page(answer).select_one("html")


def test_a_folder_is_made_inside_others_by_its_whole_path(bob, storage):
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    bob.client.post(f"/files/{old.id}/new/", {"name": "Silent"})
    made = next(item for item in storage.fake.items.values() if item.name == "Silent")
    assert made.parent == old.id


def test_the_path_is_read_from_parent_folders_if_the_service_sends_none(bob, foreign):
    films = foreign.folder("Films")
    old = foreign.folder("Old", films.id)
    foreign.fake.path_of_all = foreign.fake.path_of
    listing = foreign.fake.listing
    foreign.fake.listing = lambda here: {**listing(here), "fullname": here.name}
    bob.client.post(f"/files/{old.id}/new/", {"name": "Silent"})
    assert "Silent" in there(foreign)


UNKNOWN = {
    "404": lambda: httpx.Response(404, html="<h1>Not found</h1>"),
    "404 in JSON": lambda: httpx.Response(404, json={"result": False, "error": "not_found"}),
    "405": lambda: httpx.Response(405, json={"result": False, "error": "method_not_allowed"}),
}


@each_case("unknown", UNKNOWN)
@each_case("is_below", [False, True])
def test_a_folder_is_made_in_the_older_form_where_the_service_knows_no_other(
    bob, foreign, unknown, is_below
):
    foreign.renew()
    films = foreign.folder("Films")
    foreign.fake.unknown["POST", "/rest/folder"] = UNKNOWN[unknown]
    above = films.id if is_below else 0
    answer = bob.client.post(f"/files/{above}/new/", {"name": "Silent"}, follow=True)
    assert "Silent" in names(answer)
    made = next(item for item in foreign.fake.items.values() if item.name == "Silent")
    assert made.parent == (films.id if is_below else ROOT)
    assert foreign.calls.count(("POST", f"/rest/folder/{ROOT}/rename")) == 1


def test_nothing_is_renamed_if_the_parent_folder_is_gone(bob, foreign):
    films = foreign.folder("Films")
    bob.client.get(f"/files/{films.id}/")
    del foreign.fake.items[films.id]
    foreign.fake.revision += 1
    answer = bob.client.post(f"/files/{films.id}/new/", {"name": "Silent"})
    assert answer.status_code == 404
    assert not [path for _method, path in foreign.calls if path.endswith("/rename")]


@each_case(
    ("name", "said"),
    [
        ("", "Enter a name"),
        ("   ", "Enter a name"),
        ("a/b", "can't contain"),
        ("..", "can't be"),
        ("a\x00b", "can't contain"),
        ("a\nb", "can't contain"),
        ("x" * 256, "at most 255"),
    ],
)
def test_a_bad_name_is_refused_at_the_field_without_a_request(bob, storage, name, said):
    bob.client.get("/")
    answer = bob.client.post("/files/0/new/", {"name": name}, headers=HTMX)
    assert answer.status_code == 422
    assert said in words(answer, ".error")
    assert page(answer).select_one("[name=name][aria-invalid=true]")
    assert all(method == "GET" for method, _path in storage.calls)


def test_the_services_own_refusal_is_shown_at_the_field(bob, storage):
    storage.folder("Films")
    answer = bob.client.post("/files/0/new/", {"name": "Films"})
    assert answer.status_code == 422
    assert words(answer, "h1") == "New folder"
    assert "already has an item with this name" in words(answer, ".error[role=alert]")
    assert page(answer).select_one("[name=name]")["value"] == "Films"
    assert not page(answer).select_one("main form").has_attr("hx-post")
    storage.fails("/rest/folder", 422, "too_deep")
    storage.fake.answers["/rest/folder"].insert(0, httpx.Response(304))


def test_a_dropped_directory_is_made_or_found(bob, storage):
    made, again = (
        bob.client.post("/files/0/new/", {"name": "Films"}, headers={"x-requested-with": "ferry"})
        for _drop in range(2)
    )
    films = next(item.id for item in storage.fake.items.values() if item.name == "Films")
    wanted = {"upload_url": f"/files/{films}/upload/", "new_url": f"/files/{films}/new/"}
    assert json.loads(made.content) == json.loads(again.content) == {"ok": True} | wanted


@each_case("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_dropped_directory_is_found_in_the_other_normal_form(forms, bob, storage):
    there, dropped = (unicodedata.normalize(form, "Bücher") for form in forms)
    folder = storage.folder(there)
    script = {"x-requested-with": "ferry"}
    answer = bob.client.post("/files/0/new/", {"name": dropped}, headers=script)
    assert answer.json()["upload_url"] == f"/files/{folder.id}/upload/"
    storage.renew()


# Rename


def test_a_file_is_renamed(bob, storage):
    file = storage.file("Sintel.mkv")
    form = page(bob.client.get(f"/files/0/file-{file.id}/rename/"))
    assert form.select_one("[name=name]")["value"] == "Sintel.mkv"
    sent = {"name": "Sintel 2010.MKV"}
    answer = bob.client.post(f"/files/0/file-{file.id}/rename/", sent, follow=True)
    assert names(answer) == ["Sintel 2010.MKV"]


@each_case(
    ("old", "new", "question"),
    [
        ("notes.txt", "notes.md", "Change .txt to .md?"),
        ("notes.txt", "notes", "Remove .txt?"),
        ("notes.txt", "notes.of today", "Remove .txt?"),
    ],
)
def test_a_changed_extension_asks_once(bob, storage, old, new, question):
    file = storage.file(old)
    address = f"/files/0/file-{file.id}/rename/"
    dialog = bob.client.post(address, {"name": new})
    assert dialog.status_code == 422
    assert question in words(dialog, ".rename [role=alert]")
    assert there(storage) == {old}
    form = page(dialog).select_one(".rename")
    sent = {field["name"]: field["value"] for field in form.select("input[name]")}
    assert sent["name"] == new
    assert names(bob.client.post(address, sent, follow=True)) == [new]


def test_an_unconfirmed_extension_asks_again(bob, storage):
    file = storage.file("notes.txt")
    address = f"/files/0/file-{file.id}/rename/"
    answer = bob.client.post(address, {"name": "notes.pdf", "confirmed": ".md"})
    assert "Change .txt to .pdf?" in words(answer, ".rename [role=alert]")


def test_a_name_without_an_extension_asks_nothing(bob, storage):
    file = storage.file("README")
    answer = bob.client.post(
        f"/files/0/file-{file.id}/rename/", {"name": "README.txt"}, follow=True
    )
    assert names(answer) == ["README.txt"]


def test_under_htmx_the_row_is_returned(bob, storage):
    file = storage.file("a.txt")
    row = f"/files/0/file-{file.id}"
    assert page(bob.client.get(f"{row}/rename/form/", headers=HTMX)).select_one("[name=name]")
    answer = bob.client.post(f"{row}/rename/", {"name": "b.txt"}, headers=HTMX)
    assert names(answer) == ["b.txt"]
    grid = HTMX | {"hx-current-url": "http://localhost/?view=grid"}
    form = page(bob.client.get(f"{row}/rename/form/?view=grid", headers=grid)).select_one("form")
    tile = page(bob.client.post(form["hx-post"], {"name": "c.txt"}, headers=grid))
    assert tile.select_one(f"li.tile#file-{file.id} [title='c.txt']")
    bob.client.post(form["hx-post"], {"name": "b.txt"}, headers=grid)
    assert names(bob.client.get(f"{row}/", headers=HTMX)) == ["b.txt"]
    assert bob.client.get(f"{row}/")["Location"] == "/"


def test_a_folder_is_renamed(bob, storage):
    films = storage.folder("v1.0 of it")
    bob.client.post(f"/files/0/folder-{films.id}/rename/", {"name": "Films"})
    assert there(storage) == {"Films"}
    assert words(bob.client.get(f"/files/{films.id}/"), "h1") == "Films"


def test_the_open_folder_is_renamed_and_stays_open(bob, storage):
    inner = storage.folder("Old", storage.folder("Films").id)
    menu = page(bob.client.get(f"/files/{inner.id}/")).select_one("#folder-menu")
    (link,) = [each["href"] for each in menu.select("a") if "/rename/" in each["href"]]
    form = page(bob.client.get(link))
    assert form.select_one(".crumbs a")["href"] == f"/files/{inner.id}/"
    sent = {field["name"]: field["value"] for field in form.select(".rename input[name]")}
    refused = bob.client.post(link.partition("?")[0], sent | {"name": ""})
    sent = {field["name"]: field["value"] for field in page(refused).select(".rename input[name]")}
    shown = bob.client.post(link.partition("?")[0], sent | {"name": "Older"}, follow=True)
    assert shown.redirect_chain == [(f"/files/{inner.id}/", 302)]
    assert words(shown, "h1") == "Older"
    (undo,) = page(shown).select(".toast [name=undo]")
    bob.client.post("/files/undo/", {"undo": undo["value"]})
    assert "Old" in there(storage)


def test_a_renamed_entry_leads_to_no_other_site(bob, storage):
    file = storage.file("a.txt")
    sent = {"name": "b.txt", "next": "https://example.org/"}
    assert bob.client.post(f"/files/0/file-{file.id}/rename/", sent)["Location"] == "/"


def test_a_taken_name_is_reported_at_the_field(bob, storage):
    storage.file("a.txt")
    file = storage.file("b.txt")
    sent = {"name": "a.txt"}
    answer = bob.client.post(f"/files/0/file-{file.id}/rename/", sent, headers=HTMX)
    assert answer.status_code == 422
    assert "already has an item with this name" in words(answer, ".rename .error[role=alert]")
    field = page(answer).select_one("[name=name]")
    assert (field["value"], field["aria-invalid"]) == ("a.txt", "true")
    assert not page(answer).select("#said")


def test_a_file_deleted_in_the_meantime_is_not_found(bob, storage):
    file = storage.file("a.txt")
    bob.client.get("/")
    del storage.fake.items[file.id]
    sent = {"name": "b.txt"}
    answer = bob.client.post(f"/files/0/file-{file.id}/rename/", sent, headers=HTMX)
    assert answer.status_code == 404


@each_case(("name", "folder"), [("new", "0/new/"), ("rename", "")])
def test_a_full_disk_is_not_put_down_to_the_name(bob, storage, name, folder):
    file = storage.file("a.txt")
    path = folder or f"0/file-{file.id}/rename/"
    called = "/rest/folder" if folder else f"/rest/file/{file.id}/rename"
    bob.client.get("/")
    storage.fails(called, 413, "disk_full")
    answer = bob.client.post(f"/files/{path}", {"name": "b.txt"})
    assert "storage service's disk is full" in words(answer, "main")


# Delete


def test_the_dialog_names_exactly_what_is_lost(bob, storage):
    films = storage.folder("Films")
    inner = storage.folder("Old", films.id)
    for parent in (films.id, inner.id, inner.id):
        storage.file(f"{len(storage.fake.items)}.mkv", b"x" * 500, parent=parent)
    file = storage.file("a.txt", b"x" * 1500)
    storage.file("b.txt")
    chosen = {"entry": [f"folder-{films.id}", f"file-{file.id}", "file-999"]}
    answer = bob.client.post("/files/0/delete/loss/", chosen, headers=HTMX)
    assert "Delete 2 items?" in words(answer, "h2")
    assert "they still take 3 KB" in words(answer, "p").replace("3.0 KB", "3 KB")
    assert "folder with 3 files and 1 folder" in words(answer, ".delete-list")
    assert "b.txt" not in words(answer, ".delete-list")
    plain = bob.client.get(f"/files/0/delete/?entry=file-{file.id}")
    assert "Delete 1 item" in words(plain, "main")


def test_the_chosen_are_deleted_and_nothing_else(bob, storage):
    films = storage.folder("Films")
    file, _kept = storage.file("a.txt"), storage.file("b.txt")
    chosen = {"entry": [f"folder-{films.id}", f"file-{file.id}"]}
    answer = bob.client.post("/files/0/delete/", chosen, headers=HTMX)
    assert answer["HX-Retarget"] == "#listing"
    assert names(answer) == ["b.txt"]
    assert "2 items deleted" in words(answer, "#said")
    assert there(storage) == {"b.txt"}


def test_all_means_all_that_match_also_those_not_shown(bob, storage):
    storage.many(300)
    storage.file("kept.txt")
    answer = bob.client.post("/files/0/delete/", {"all": "1", "q": "img_"}, follow=True)
    assert there(storage) == {"kept.txt"}
    assert "300 items deleted" in words(answer, "#toasts")


@pytest.mark.slow
def test_all_but_some_spares_these(bob, storage):
    storage.many(300)
    spared = storage.file("kept.txt")
    form = {"all": "1", "q": "", "but": f"file-{spared.id}"}
    dialog = bob.client.post("/files/0/delete/loss/", form)
    assert "300 items" in words(dialog, "h1")
    field = page(dialog).select_one("[name=but]")
    assert field["value"] == form["but"]
    bob.client.post("/files/0/delete/", form)
    assert there(storage) == {"kept.txt"}


def test_nothing_is_changed_while_the_service_is_away(bob, storage):
    file = storage.file("a.txt")
    bob.client.get("/")
    storage.fails("/rest/folder", 503)
    storage.fails("/rest/deleted", 503)
    answer = bob.client.post("/files/0/delete/", {"entry": f"file-{file.id}"}, headers=HTMX)
    assert answer.status_code == 503
    assert "isn't responding" in words(answer, ".toast")


def test_the_dialog_asks_for_so_many_listings_and_no_more(bob, storage):
    chosen = [f"folder-{storage.folder(f'Folder {number}').id}" for number in range(60)]
    before = len(storage.calls)
    answer = bob.client.post("/files/0/delete/loss/", {"entry": chosen}, headers=HTMX)
    assert "and 10 more" in words(answer, ".delete-list")
    assert len(storage.calls) - before <= 25


# A selection as one ZIP


def pack(person, **chosen):
    return person.client.post("/files/0/zip/", chosen)


def test_a_selection_is_saved_and_its_page_leads_to_the_download(gwen, storage):
    one, _two = storage.file("a.txt"), storage.file("b.txt")
    films = storage.folder("Films")
    answer = pack(gwen, entry=[f"file-{one.id}", f"folder-{films.id}"])
    assert answer.status_code == 303
    shown = gwen.client.get(answer["Location"])
    assert "2 items" in words(shown, "main")
    link = page(shown).select_one("a[href$='/download/']")["href"]
    delivered = gwen.client.get(link)
    assert delivered.status_code == 302
    assert delivered["Location"] == f"/content/zip/{one.id}-{films.id}/Files.zip"


def test_a_script_gets_a_link_to_press_and_stays_on_its_page(gwen, storage):
    file = storage.file("a.txt")
    answer = gwen.client.post("/files/0/zip/", {"entry": f"file-{file.id}"}, headers=HTMX)
    assert answer.status_code == 200
    assert "HX-Redirect" not in answer
    link = page(answer).select_one("a#packed")
    assert link.get_text() == "Your ZIP download is starting"
    delivered = gwen.client.get(link["href"])
    assert delivered["Location"] == f"/content/zip/{file.id}/a.zip"


def test_a_zip_of_a_selection_is_named_after_its_folder(gwen, storage):
    papers = storage.folder("Old papers")
    files = [storage.file(name, parent=papers.id) for name in ("a.txt", "b.txt", "c.txt")]
    chosen = [f"file-{each.id}" for each in files[:2]]
    answer = gwen.client.post(f"/files/{papers.id}/zip/", {"entry": chosen})
    delivered = gwen.client.get(f"{answer['Location']}download/")
    assert unquote(delivered["Location"]).endswith("/Old papers.zip")


def test_all_of_a_folder_is_the_folders_own_zip(gwen, storage):
    films = storage.folder("Films")
    for name in "ab":
        storage.file(name, parent=films.id)
    answer = gwen.client.post(f"/files/{films.id}/zip/", {"all": "1"})
    delivered = gwen.client.get(f"{answer['Location']}download/")
    assert delivered["Location"] == f"/content/zip/{films.id}/Films.zip"


def test_the_roots_zip_is_requested_by_its_own_id(gwen, storage):
    assert "/content/zip/4000000001/" in gwen.client.get("/files/folder/0/zip/")["Location"]


def test_too_long_a_selection_at_a_foreign_service_is_explained(gwen, foreign):
    foreign.many(600)
    keys = [f"file-{number}" for number in sorted(foreign.fake.items)[1:-1]]
    answer = pack(gwen, entry=keys)
    refused = gwen.client.get(f"{answer['Location']}download/")
    assert refused.status_code == 422
    assert "too much for one ZIP" in words(refused, "h1")


def test_a_selection_is_private_and_expires(gwen, bob, storage):
    file = storage.file("a.txt")
    address = pack(gwen, entry=f"file-{file.id}")["Location"]
    assert bob.client.get(address).status_code == 404
    assert gwen.client.get(address).status_code == 200
    Selection.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert gwen.client.get(address).status_code == 404


def test_an_equal_selection_is_saved_once_and_lasts_longer(gwen, storage):
    keys = [f"file-{storage.file(name).id}" for name in ("a.txt", "b.txt", "c.txt")]
    first = pack(gwen, entry=keys[:2])["Location"]
    soon = timezone.now() + timedelta(minutes=1)
    Selection.objects.update(expires_at=soon)
    assert pack(gwen, entry=keys[:2])["Location"] == first
    assert Selection.objects.get().expires_at > soon
    assert pack(gwen, entry=keys[1:])["Location"] != first


def test_an_empty_selection_is_reported(gwen, storage):
    assert "Select an item first" in words(
        gwen.client.post("/files/0/zip/", follow=True), "#toasts"
    )


def test_the_space_a_deletion_frees_is_shown_if_known(bob, foreign):
    film = foreign.file("film.mkv")
    film.facts["size"] = None
    notes = foreign.file("notes.txt", b"x" * 2_000)

    def dialog(*files):
        chosen = {"entry": [f"file-{file.id}" for file in files]}
        return page(bob.client.get("/files/0/delete/", chosen)).get_text()

    assert "This frees at least 2 KB." in dialog(film, notes)
    assert "This frees" not in dialog(film)
    assert "You can undo this for 10 seconds, but not later." in dialog(film)


def test_a_zip_of_unknown_size_says_so(gwen, foreign):
    film = foreign.file("film.mkv")
    film.facts["size"] = None
    notes = foreign.file("notes.txt")
    chosen = [f"file-{film.id}", f"file-{notes.id}"]
    foreign.file("third.txt")
    answer = pack(gwen, entry=chosen)
    assert "2 items, size unknown" in page(gwen.client.get(answer["Location"])).get_text()
