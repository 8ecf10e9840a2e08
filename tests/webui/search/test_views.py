"""Search over the whole library."""

import pytest

from tests.cases import each_case
from tests.people import page, words
from tests.webui.service import ROOT
from webui.search.page import parse_search, total_text
from webui.v1.own_records import SearchResult

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
FIELDS = ".rename input[name]"


def names(answer) -> list[str]:
    return [each.get_text() for each in page(answer).select("#results .name")]


def test_results_lead_to_the_file_and_to_its_folder(gwen, storage):
    films = storage.folder("Films")
    inner = storage.folder("A film", films.id)
    film = storage.file("film.mkv", b"x" * 900, inner.id)
    answer = gwen.client.get("/search/?q=film")
    assert names(answer) == ["A film", "Films", "film.mkv"]
    links = [each["href"] for each in page(answer).select("#results li a")]
    assert links == [
        *(f"/files/{inner.id}/", f"/files/{films.id}/"),
        *(f"/files/{films.id}/", "/"),
        *(f"/files/{inner.id}/file-{film.id}/view/", f"/files/{inner.id}/"),
    ]
    assert "Film · " in words(answer, "#results")
    assert "900 bytes" in words(answer, "#results")
    assert storage.calls == [("GET", "/rest/search")]
    for link in links:
        assert gwen.client.get(link).status_code == 200


def test_without_a_query_the_newest_files_are_shown(gwen, storage):
    for name in ("first.txt", "second.txt"):
        storage.file(name)
    answer = gwen.client.get("/search/")
    assert names(answer) == ["second.txt", "first.txt"]
    assert "New files" in words(answer, "#results")


def test_without_scripts_a_form_searches(gwen, storage):
    storage.file("dunes.mkv")
    form = page(gwen.client.get("/search/")).select_one("#search")
    assert form["method"] == "get"
    assert form.select_one("noscript [type=submit]").get_text() == "Search"
    field = form.select_one("[type=search]")["name"]
    assert names(gwen.client.get(form["action"], {field: "dunes"})) == ["dunes.mkv"]


def test_limits_are_sent_to_the_service(gwen, storage):
    storage.file("a.mkv")
    storage.file("b.txt")
    answer = gwen.client.get("/search/?kind=film&size=100&days=7&q=%20")
    assert names(answer) == ["a.mkv"]
    chosen = [each.get_text() for each in page(answer).select("option[selected]")]
    assert chosen == ["Film", "100 MB or more", "Last 7 days"]
    search = parse_search({"kind": "film", "size": "100", "days": "7", "q": " x "})
    assert search.v1_query["types"].startswith("mkv,mp4,")
    assert {"q": "x", "min_size": "100000000", "days": "7"}.items() <= search.v1_query.items()


def test_limits_that_are_not_offered_count_as_none(gwen, storage):
    storage.file("a.mkv")
    answer = gwen.client.get("/search/?kind=x&size=-1&days=9999999999999")
    assert names(answer) == ["a.mkv"]
    assert [each["value"] for each in page(answer).select("option[selected]")] == [""] * 3


def test_folders_are_a_kind_to_look_for(gwen, storage):
    for number in range(7):
        storage.folder(f"Films {number}")
    storage.file("film.mkv")
    answer = gwen.client.get("/search/?q=film&kind=folder")
    assert names(answer) == [f"Films {number}" for number in reversed(range(7))]
    assert words(answer, "option[value=folder][selected]") == "Folder"
    assert words(answer, "#results h2") == "7 results"
    assert len(names(gwen.client.get("/search/?kind=folder"))) == 7


def test_a_search_may_stay_in_a_folder(gwen, storage):
    films = storage.folder("Films")
    inner = storage.folder("Old", films.id)
    storage.file("dune.mkv", parent=inner.id)
    storage.file("dune.txt")
    menu = page(gwen.client.get(f"/files/{films.id}/")).select_one("#folder-menu")
    (link,) = [each["href"] for each in menu.select("a") if "/search/" in each["href"]]
    answer = gwen.client.get(f"{link}&q=dune")
    assert names(answer) == ["dune.mkv"]
    choice = page(answer).select_one("#by-in")
    assert [each.get_text() for each in choice.select("option")] == ["All folders", "In Films"]
    assert choice.select_one("[selected]")["value"] == str(films.id)
    typed = gwen.client.get(f"/search/results/?q=dune&in={films.id}", headers=HTMX)
    assert typed["HX-Replace-Url"] == f"/search/?q=dune&in={films.id}"
    assert names(gwen.client.get("/search/?q=dune&in=")) == ["dune.txt", "dune.mkv"]
    found = gwen.client.get(f"/search/elsewhere/{films.id}/?q=dune")
    links = [each["href"] for each in page(found).select(".list-foot a")]
    assert links == [f"/search/?q=dune&in={films.id}", "/search/?q=dune"]


@each_case("folder", ["0", str(ROOT), "77777", "x", "..", "7" * 99])
def test_a_folder_that_is_gone_or_the_root_limits_no_search(folder, gwen, storage):
    storage.file("dune.txt")
    answer = gwen.client.get(f"/search/?q=dune&in={folder}")
    assert names(answer) == ["dune.txt"]
    assert not page(answer).select("#by-in")


def test_the_total_is_shown_also_where_only_some_are(gwen, storage):
    storage.many(34)
    answer = gwen.client.get("/search/results/?q=img", headers=HTMX)
    assert len(names(answer)) == 20
    assert words(answer, "#results h2") == "34 results"
    assert words(answer, "#said") == "34 results, the first 20 are shown"


def test_more_results_than_are_counted_say_so():
    many = SearchResult((), (), has_more=True, count=1000, has_uncounted=True)
    assert total_text(many) == "More than 1,000 results"


# The menu of a row


def row_of(answer, item):
    return page(answer).select_one(f"#results li[id$='-{item.id}']")


def test_members_have_the_menu_of_a_row_in_files(gwen, bob, storage):
    films = storage.folder("Films")
    film = storage.file("dune.mkv", parent=films.id)
    answer = bob.client.get("/search/?q=dune")
    acts = [each["data-do"] for each in page(answer).select("#entry-menu [data-do]")]
    assert acts == ["open", "get", "copy", "share", "play", "rename", "move", "delete"]
    row = row_of(answer, film)
    assert (row["id"], row["data-folder"]) == (f"file-{film.id}", str(films.id))
    dialogs = {each["id"] for each in page(answer).select("dialog")}
    assert {"move", "delete", "share", "address"} <= dialogs
    guests = gwen.client.get("/search/?q=dune")
    acts = [each["data-do"] for each in page(guests).select("#entry-menu [data-do]")]
    assert acts == ["open", "get", "copy", "play"]
    assert not row_of(guests, film).select("[formaction]")
    assert not page(guests).select("#move, #delete")


def test_a_result_is_renamed_and_the_search_shows_again(bob, storage):
    film = storage.file("dune.mkv", parent=storage.folder("Films").id)
    form = row_of(bob.client.get("/search/?q=dune"), film).select_one(".more")["formaction"]
    sent = {each["name"]: each["value"] for each in page(bob.client.get(form)).select(FIELDS)}
    shown = bob.client.post(form.partition("?")[0], sent | {"name": "dunes.mkv"}, follow=True)
    assert shown.redirect_chain == [("/search/?q=dune", 302)]
    assert names(shown) == ["dunes.mkv"]
    (undo,) = page(shown).select(".toast [name=undo]")
    bob.client.post("/files/undo/", {"undo": undo["value"]})
    assert names(bob.client.get("/search/?q=dune")) == ["dune.mkv"]


def test_a_result_is_deleted_with_a_message_and_no_listing(bob, storage):
    film = storage.file("dune.mkv", parent=storage.folder("Films").id)
    asked = {"entry": f"file-{film.id}", "shown": "search"}
    at = f"/files/{film.parent}/delete/"
    form = page(bob.client.post(f"{at}loss/", asked, headers=HTMX)).select_one("form")
    sent = {each["name"]: each["value"] for each in form.select("input[name]")}
    answer = bob.client.post(form["hx-post"], sent, headers=HTMX)
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#said", "innerHTML")
    assert answer["HX-Trigger-After-Settle"] == "entries-changed"
    assert not page(answer).select("#listing")
    assert "1 item deleted" in words(answer, "#toasts")
    assert page(answer).select("#toasts [name=undo]")
    assert names(bob.client.get("/search/?q=dune")) == []


def test_the_filter_of_a_folder_offers_the_menu_for_other_folders_too(bob, storage):
    films = storage.folder("Films")
    film = storage.file("here.mkv", parent=films.id)
    found = page(bob.client.get("/search/elsewhere/0/?q=here"))
    row = found.select_one(f"li#file-{film.id}")
    assert row["data-folder"] == str(films.id)
    assert row.select_one(".more")["formaction"].endswith("?next=%2F%3Fq%3Dhere")


def test_typing_gets_the_results_alone_and_the_address_follows(gwen, storage):
    storage.file("a film.mkv")
    answer = gwen.client.get("/search/results/?q=fil&kind=&size=", headers={"HX-Request": "true"})
    assert names(answer) == ["a film.mkv"]
    assert answer["HX-Replace-Url"] == "/search/?q=fil"
    assert "<h1" not in answer.content.decode()
    assert words(answer, "#said") == "1 result"


def test_an_empty_result_is_reported(gwen, storage):
    answer = gwen.client.get("/search/results/?q=nowhere")
    assert "No file or folder matches" in words(answer, "#results")
    assert words(answer, "#said") == "Nothing found"


def test_few_results_are_sent_at_first_and_all_on_demand(gwen, storage):
    for number in range(30):
        storage.file(f"Photo of the {number}. day, with a name of ordinary length.jpg")
        storage.folder(f"Photos {number}")
    answer = gwen.client.get("/search/results/?q=photo")
    assert len(names(answer)) == 20
    assert len(answer.content) <= 20_000
    assert words(answer, "#said") == "60 results, the first 20 are shown"
    (more,) = page(answer).select("#results .list-foot a")
    assert len(names(gwen.client.get(more["href"]))) == 60


def test_results_that_are_still_too_many_are_admitted(gwen, storage):
    for number in range(201):
        storage.file(f"photo {number}.jpg")
    answer = gwen.client.get("/search/?q=photo&all=1")
    assert len(names(answer)) == 200
    assert "Add a word to see fewer" in words(answer, "#results")


@each_case("query", ["<script>", "'\"><img src=x>", "\0", "x" * 9999, "%s %(count)s", "\u202e"])
def test_any_query_is_shown_as_it_is(query, gwen, storage):
    storage.file("a.txt")
    answer = gwen.client.get("/search/", {"q": query})
    assert answer.status_code == 200
    field = page(answer).select_one("#query")
    assert field["value"].strip("\0\ufffd") == query[:200].strip().strip("\0\ufffd")


def test_a_filter_offers_matches_in_other_folders(gwen, storage):
    films = storage.folder("Films")
    storage.file("here.txt")
    there = storage.file("and here.txt", parent=films.id)
    listing = page(gwen.client.get("/files/0/listing/?q=here"))
    (loads,) = listing.select("[hx-get^='/search/elsewhere/']")
    assert (loads["hx-trigger"], loads["hx-swap"]) == ("load", "outerHTML")
    assert loads.select_one("a")["href"] == "/search/?q=here"
    assert page(gwen.client.get("/?q=here")).select("#listing a[href='/search/?q=here']")
    found = page(gwen.client.get(loads["hx-get"]))
    assert found.select_one("#elsewhere-title").get_text() == "In other folders"
    assert [each["href"] for each in found.select(".name")] == [
        f"/files/{films.id}/file-{there.id}/view/"
    ]
    (everywhere,) = found.select(".list-foot a")
    shown = page(gwen.client.get(everywhere["href"]))
    assert shown.select_one("#query")["value"] == "here"
    for number in range(30):
        storage.file(f"here {number}.txt")
    found = page(gwen.client.get(loads["hx-get"]))
    assert len(found.select(".name")) == 1
    assert gwen.client.get("/search/elsewhere/0/?q=nowhere").content.strip() == b""
    assert "/search/" not in gwen.client.get("/files/0/listing/").content.decode()


def test_an_unreachable_service_is_reported(gwen, storage):
    storage.fails("/rest/search", 503)
    assert gwen.client.get("/search/?q=a").status_code == 503


# A folder for what is added


def chosen_places(answer) -> list[str]:
    return [each.get_text(" ", strip=True) for each in page(answer).select(".places button")]


def test_every_folder_can_be_chosen_by_way_or_by_name(bob, storage):
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    storage.folder("Silent dunes", old.id)
    shown = bob.client.get("/search/folder/")
    assert chosen_places(shown) == ["Films"]
    opened = bob.client.get("/search/folder/", {"to": "0", "open": films.id})
    assert chosen_places(opened) == ["Old"]
    assert words(opened, ".move .crumbs") == "All files / Films"
    found = bob.client.get("/search/folder/", {"to": "0", "q": "dune"})
    assert chosen_places(found) == ["Silent dunes Films/Old"]
    dialog = page(bob.client.get("/search/folder/", {"open": old.id}, headers=HTMX))
    choice = dialog.select_one("[data-destination]")
    assert (choice["data-destination"], choice["data-name"]) == (str(old.id), "Films/Old")
    box = page(bob.client.get(choice["href"]))
    assert box.select_one("#omni-folder option[selected]").get_text(strip=True) == "Films/Old"
    assert "No folder is called that." in words(bob.client.get("/search/folder/?q=zzz"), ".places")
    assert bob.client.get("/search/folder/?open=77777").status_code == 200


def test_a_folder_can_be_created_where_it_is_chosen(bob, storage):
    films = storage.folder("Films")
    made = bob.client.post("/search/folder/", {"to": films.id, "new": " New ones "})
    assert words(made, ".move .crumbs") == "All files / Films / New ones"
    choice = page(made).select_one("[data-destination]")
    assert choice["data-name"] == "Films/New ones"
    assert "New ones" in words(bob.client.get(f"/files/{films.id}/"), "main")
    bad = bob.client.post("/search/folder/", {"to": films.id, "new": "a/b"})
    assert bad.status_code == 422
    assert words(bad, "#folder-error")
    assert page(bad).select_one("#folder-new")["value"] == "a/b"
    assert words(bad, ".move .crumbs") == "All files / Films"
    in_dialog = {"to": films.id, "new": "a/b"}
    assert bob.client.post("/search/folder/", in_dialog, headers=HTMX).status_code == 200


def test_a_foreign_service_is_searched_for_folders_as_far_as_known(bob, foreign):
    foreign.fake.keeps_folder_id = True
    foreign.folder("Films")
    assert chosen_places(bob.client.get("/search/folder/")) == ["Films"]
    found = bob.client.get("/search/folder/?q=film")
    assert "Searched 0 of 1 folder so far" in words(found, ".places")
