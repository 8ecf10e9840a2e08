"""Search over the whole library."""

import pytest

from tests.cases import each_case
from tests.people import page, words
from webui.search.page import parse_search

pytestmark = pytest.mark.django_db


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
    assert words(answer, "#said") == "The first 20 results"
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
