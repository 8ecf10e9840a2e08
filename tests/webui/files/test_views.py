"""The Files screen: listings, their order, their cache, and failures of the service."""

import json

import httpx
import pytest
from django.urls import reverse

from tests.cases import each_case
from tests.people import page, words
from tests.webui.service import ROOT
from webui.files import sort_orders
from webui.library import folders
from webui.models import SortOrder

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}


def names(answer) -> list[str]:
    return [tag["title"] for tag in page(answer).select(".entry-name")]


def listing(person, folder="0", query="", *, at="", **headers):
    address = reverse("files-listing", args=[folder]) + query
    current = {"hx-current-url": f"http://localhost{at or '/'}"}
    return person.client.get(address, headers={**HTMX, **current, **headers})


# Listings


def test_the_root_shows_folders_first_then_files_in_natural_order(gwen, storage):
    for name in ("10.txt", "2.txt", "a.txt"):
        storage.file(name)
    storage.folder("Films")
    assert names(gwen.client.get("/")) == ["Films", "2.txt", "10.txt", "a.txt"]


def test_a_folder_has_its_own_url(gwen, storage):
    films = storage.folder("Films")
    storage.file("Sintel.mkv", parent=films.id)
    answer = gwen.client.get(f"/files/{films.id}/")
    assert names(answer) == ["Sintel.mkv"]
    assert words(answer, "h1") == "Films"
    assert "Films" in words(answer, "title")


def test_the_way_up_names_each_folder_above(gwen, storage):
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    silent = storage.folder("Silent", old.id)
    answer = gwen.client.get(f"/files/{silent.id}/")
    assert words(answer, ".crumbs").split() == ["All", "files", "Films", "Old"]
    for folder in (films, old):
        gwen.client.get(f"/files/{folder.id}/")
    crumbs = page(gwen.client.get(f"/files/{silent.id}/")).select(".crumbs a")
    assert [crumb["href"] for crumb in crumbs] == ["/", f"/files/{films.id}/", f"/files/{old.id}/"]


def test_zero_and_the_roots_own_id_lead_to_the_front_page(gwen, storage):
    assert gwen.client.get("/files/0/?view=grid")["Location"] == "/?view=grid"
    assert gwen.client.get(f"/files/{ROOT}/?sort=size")["Location"] == "/?sort=size"


def test_an_empty_folder_and_a_filter_without_match_say_so(gwen, storage):
    assert page(gwen.client.get("/")).select_one(".empty")
    storage.file("a.txt")
    answer = gwen.client.get("/?q=zebra")
    assert page(answer).select_one(".none")
    assert names(answer) == []


@each_case("bad", ["abc", "..", "%2e%2e", "7%2f..", "a b", "-1", "7" * 65])
def test_invalid_ids_are_not_found(gwen, storage, bad):
    before = len(storage.calls)
    answer = gwen.client.get(f"/files/{bad}/rows/")
    assert answer.status_code in (404, 400)
    assert len(storage.calls) == before


def test_a_deleted_folder_offers_its_parent(gwen, storage):
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    gwen.client.get(f"/files/{old.id}/")
    storage.fake.delete_folder(None, old.id)
    storage.fake.revision += 1
    answer = gwen.client.get(f"/files/{old.id}/")
    assert answer.status_code == 404
    assert page(answer).select_one(f"a[href='/files/{films.id}/']")


# Sort, filter, view


@each_case(
    ("sort", "wanted"),
    [
        ("name", ["a.bin", "b.bin", "c.bin"]),
        ("-name", ["c.bin", "b.bin", "a.bin"]),
        ("size", ["b.bin", "c.bin", "a.bin"]),
        ("-size", ["a.bin", "c.bin", "b.bin"]),
        ("nonsense", ["a.bin", "b.bin", "c.bin"]),
    ],
)
def test_the_address_says_the_order(gwen, storage, sort, wanted):
    for name, size in (("a.bin", 300), ("b.bin", 100), ("c.bin", 200)):
        storage.file(name, b"x" * size)
    assert names(gwen.client.get(f"/?sort={sort}")) == wanted


def test_another_view_is_a_step_back_and_a_filter_and_an_order_are_not(gwen, storage):
    storage.file("a.txt")
    for query in ("?q=a", "?sort=-size"):
        answer = listing(gwen, query=query)
        assert answer["HX-Replace-Url"] == f"/{query}"
        assert "HX-Push-Url" not in answer
    assert listing(gwen, query="?view=grid")["HX-Push-Url"] == "/?sort=-size&view=grid"


def test_the_fragment_is_not_a_whole_page(gwen, storage):
    storage.file("a.txt")
    soup = page(listing(gwen))
    assert soup.select_one("#listing")
    assert not soup.select_one("html")


@pytest.mark.promise("many rows are sent in windows")
@pytest.mark.slow
def test_many_rows_are_sent_in_windows(gwen, storage):
    storage.many(2_000)
    first = gwen.client.get("/")
    assert len(names(first)) == 100
    assert names(first)[10] == "IMG_10.jpg"
    more = page(first).select_one("[hx-get*='/rows/']")["hx-get"]
    following = gwen.client.get(more, headers=HTMX)
    assert names(following)[0] == "IMG_100.jpg"
    assert len(names(following)) == 100
    assert len(names(gwen.client.get("/?q=199"))) == 12
    assert gwen.client.get("/?all=1").content.count(b'name="entry"') == 2_000


def test_without_scripts_a_link_leads_to_the_next_rows(gwen, storage):
    storage.many(150)
    (link,) = page(gwen.client.get("/")).select("#listing noscript a")
    assert link.get_text() == "Show next"
    following = gwen.client.get(link["href"])
    assert names(following)[0] == "IMG_100.jpg"
    assert len(names(following)) == 50


@pytest.mark.slow
def test_a_letter_leads_to_its_names_and_a_link_back_to_those_before(gwen, storage):
    storage.many(120)
    for name in ("zebra.jpg", "Zulu.jpg"):
        storage.file(name)
    initials = page(gwen.client.get("/")).select_one("nav.letters")
    assert initials["hx-target"] == "#listing"
    assert [each.get_text() for each in initials.select("a")] == ["I", "Z"]
    last = initials.select("a")[-1]
    for address, headers in ((last["hx-get"], HTMX), (last["href"], {})):
        answer = gwen.client.get(address, headers=headers)
        assert names(answer) == ["zebra.jpg", "Zulu.jpg"]
        before = page(answer).select_one("#before")
        assert before["hx-target"] == "#listing"
        assert before["hx-get"].startswith("/files/0/listing/")
        assert len(names(gwen.client.get(before["href"]))) == 100
        assert len(names(gwen.client.get(before["hx-get"], headers=HTMX))) == 100


def test_everything_on_one_page_is_offered_only_if_more_exists(gwen, storage):
    storage.many(150)
    first = gwen.client.get("/")
    assert words(first, "#shown") == "Showing 100 of 150"
    assert page(first).select_one("#show-all")["href"] == "/?all=1"
    more = page(first).select_one("[hx-get*='/rows/']")["hx-get"]
    rest = gwen.client.get(more, headers=HTMX)
    assert words(rest, "#shown") == "Showing 150 of 150"
    assert page(rest).select_one("#show-all")["hx-swap-oob"] == "delete"


def test_rows_that_are_fetched_again_dont_count_those_below_them(gwen, storage):
    storage.many(250)
    more = page(gwen.client.get("/")).select_one("[hx-get*='/rows/']")["hx-get"] + "&again=1"
    middle, last = (gwen.client.get(more.replace("100", first)) for first in ("100", "200"))
    assert not page(middle).select("#shown")
    assert words(last, "#shown") == "Showing 250 of 250"


def test_a_page_that_begins_at_a_letter_says_which_rows_it_shows(gwen, storage):
    storage.many(250)
    shown = gwen.client.get("/?from=120")
    assert words(shown, "#shown") == "Showing 121 to 220 of 250"
    more = page(shown).select_one("[hx-get*='/rows/']")["hx-get"]
    rest = gwen.client.get(more, headers=HTMX)
    assert words(rest, "#shown") == "Showing 121 to 250 of 250"
    assert not page(rest).select("#show-all")
    assert page(gwen.client.get("/?from=220")).select("#show-all")
    assert "start=" not in page(rest).select_one(".entry")["href"]


@pytest.mark.slow
def test_a_window_that_is_not_there_is_the_last_or_the_first(gwen, storage):
    storage.many(210)
    for first in ("-1", "99999", "1e9", "abc", "9" * 30):
        assert names(gwen.client.get(f"/files/0/rows/?from={first}"))


@pytest.mark.promise("a page of files is one call")
@pytest.mark.slow
@each_case("count", [5, 5_000])
@each_case("path", ["/", "/files/0/listing/", "/files/0/rows/?from=200"])
def test_a_page_of_files_asks_the_service_once(gwen, storage, count, path):
    storage.many(count)
    for _visit in range(2):
        before = len(storage.calls)
        assert gwen.client.get(path).status_code == 200
        assert storage.calls[before:] == [("GET", "/rest/folder")]


@pytest.mark.promise("a folder seen before opens at once")
@pytest.mark.slow
@each_case("count", [5, 5_000])
def test_a_foreign_folder_seen_before_asks_nothing(gwen, foreign, count):
    foreign.many(count)
    gwen.client.get("/")
    before = len(foreign.calls)
    for path in ("/", "/?sort=-size", "/files/0/rows/?from=200", "/account/server/"):
        assert gwen.client.get(path).status_code == 200
    assert foreign.calls[before:] == []


# Shown from the cache, refreshed in the background


def seen_before(foreign, gwen, monkeypatch):
    foreign.file("a.txt")
    gwen.client.get("/")
    # No setting says how long a listing stays fresh, and the view reads the real clock.
    monkeypatch.setattr(folders, "FRESH_SECONDS", -1)


def test_a_foreign_folder_is_shown_at_once_and_refreshed_in_the_background(
    gwen, foreign, monkeypatch
):
    seen_before(foreign, gwen, monkeypatch)
    foreign.file("b.txt")
    shown = gwen.client.get("/")
    assert names(shown) == ["a.txt"]
    behind = page(shown).select_one("#refresh")["hx-get"]
    fresh = gwen.client.get(behind, headers=HTMX)
    assert names(fresh) == ["a.txt", "b.txt"]
    assert "HX-Push-Url" not in fresh


def test_an_unchanged_folder_behind_answers_204(gwen, foreign, monkeypatch):
    seen_before(foreign, gwen, monkeypatch)
    behind = page(gwen.client.get("/")).select_one("#refresh")["hx-get"]
    assert gwen.client.get(behind, headers=HTMX).status_code == 204


def test_reload_asks_at_once(gwen, foreign, monkeypatch):
    seen_before(foreign, gwen, monkeypatch)
    foreign.file("b.txt")
    answer = gwen.client.get("/", headers={"cache-control": "max-age=0"})
    assert names(answer) == ["a.txt", "b.txt"]


# The service is away, refuses, or talks nonsense


def test_the_cached_folder_shows_its_age_while_the_service_is_unreachable(bob, storage):
    storage.file("a.txt")
    bob.client.get("/")
    storage.fails("/rest/folder", 503)
    answer = bob.client.get("/")
    assert answer.status_code == 200
    assert names(answer) == ["a.txt"]
    assert page(answer).select_one(".banner.amber")
    assert "as of" in words(answer, ".page-sub")
    assert not page(answer).select("#new-folder")
    storage.is_back()
    assert not page(bob.client.get("/")).select_one(".banner.amber")


def test_a_page_that_shows_an_old_folder_learns_that_the_service_is_back(
    gwen, foreign, monkeypatch
):
    seen_before(foreign, gwen, monkeypatch)
    foreign.fails("/rest/folder", 503)
    behind = page(gwen.client.get("/")).select_one("#refresh")["hx-get"]
    away = gwen.client.get(behind, headers=HTMX)
    assert page(away).select_one(".banner.amber")
    again = page(away).select_one("#refresh")["hx-get"]
    assert gwen.client.get(again, headers=HTMX).status_code == 204
    foreign.is_back()
    assert not page(gwen.client.get(again, headers=HTMX)).select_one(".banner.amber")


BROKEN = {
    "null": {"folders": [], "files": None},
    "an object": {"folders": {}, "files": {}},
    "null twice": {"folders": None, "files": None, "torrents": None},
    "a refusal": {"result": False},
    "a word": {"result": "maintenance"},
}


@each_case("broken", BROKEN)
def test_a_missing_list_leaves_the_page_unchanged(bob, foreign, broken):
    foreign.renew()
    file = foreign.file("kept.txt")
    bob.client.get("/")
    foreign.says("/rest/folder", *[httpx.Response(200, json=BROKEN[broken]) for _time in range(9)])
    answer = bob.client.get("/", headers={"cache-control": "no-cache"})
    assert names(answer) == ["kept.txt"]
    assert "can't read the storage service's response" in words(answer, ".banner.amber")
    dialog = bob.client.get("/files/0/delete/", {"entry": f"file-{file.id}"})
    assert "Delete 1 item?" in page(dialog).get_text()
    assert "Someone else has already deleted or moved these items" not in page(dialog).get_text()


@each_case("broken", BROKEN)
def test_a_missing_list_without_a_cached_one_is_not_an_empty_folder(gwen, foreign, broken):
    foreign.renew()
    foreign.says("/rest/folder", httpx.Response(200, json=BROKEN[broken]))
    answer = gwen.client.get("/")
    assert answer.status_code == 502
    assert "can't read the storage service's response" in words(answer, "h1")


def test_a_listing_is_shown_without_its_transfers_where_they_are_no_list(gwen, foreign):
    body = {"id": 1, "folders": [], "files": [{"id": 7, "name": "a.txt"}], "torrents": None}
    foreign.says("/rest/folder", httpx.Response(200, json=body))
    assert names(gwen.client.get("/")) == ["a.txt"]


@each_case("status", [401, 403, 400, 404, 409, 422, 500])
def test_a_reload_keeps_the_front_page_whatever_the_service_answers(gwen, foreign, status):
    foreign.renew()
    foreign.file("kept.txt")
    gwen.client.get("/")
    foreign.fails("/rest/folder", status)
    answer = gwen.client.get("/", headers={"cache-control": "no-cache"})
    assert (answer.status_code, names(answer)) == (200, ["kept.txt"])
    assert page(answer).select_one(".banner.amber")


def test_the_dialog_counts_as_far_as_the_service_gives_lists(bob, foreign):
    films = foreign.folder("Films")
    foreign.says(f"/rest/folder/{films.id}", httpx.Response(200, json=BROKEN["null"]))
    dialog = bob.client.get("/files/0/delete/", {"entry": f"folder-{films.id}"})
    assert "folder with all its contents" in page(dialog).get_text()


def test_the_next_page_knows_what_the_trouble_was(gwen, foreign, monkeypatch):
    seen_before(foreign, gwen, monkeypatch)
    foreign.fails("/rest/folder", 429, "rate_limit")
    behind = page(gwen.client.get("/")).select_one("#refresh")["hx-get"]
    gwen.client.get(behind, headers=HTMX)
    assert "is limiting requests" in words(gwen.client.get("/"), ".banner.amber")


@each_case(
    ("status", "reason", "answered", "said"),
    [
        (503, "", 503, "isn't responding"),
        (500, "", 503, "isn't responding"),
        (503, "disk_error", 503, "can't write to its disk"),
        (401, "access_denied", 502, "sign-in"),
        (403, "premium_required", 502, "doesn't have a paid plan"),
        (429, "Rate limit exceeded", 503, "is limiting requests"),
    ],
)
def test_each_problem_has_its_own_words(  # noqa: PLR0917
    gwen, storage, status, reason, answered, said
):
    storage.fails("/rest/folder", status, reason)
    answer = gwen.client.get("/")
    assert answer.status_code == answered
    assert said in words(answer, "h1")
    assert words(answer, "main p:last-of-type")
    assert ("Retry-After" in answer) == (answered == 503)


def test_a_pause_says_how_long(gwen, storage):
    storage.fails("/rest/folder", 429, "rate_limit", Retry_After="17")
    answer = gwen.client.get("/")
    assert answer["Retry-After"] == "17"
    assert "17 seconds" in words(answer, "main")


def test_trouble_under_htmx_is_a_toast(gwen, storage):
    storage.fails("/rest/folder", 403, "premium_required")
    answer = listing(gwen)
    assert answer.status_code == 502
    assert "doesn't have a paid plan" in words(answer, ".toast")


@each_case(
    "answer",
    [
        httpx.Response(200, html="<h1>Maintenance</h1>"),
        httpx.Response(200, content=b'{"folders": ['),
        httpx.Response(200, json=[1, 2]),
        httpx.Response(302, headers={"location": "https://elsewhere.example/"}),
    ],
)
def test_invalid_input_is_reported_as_such(gwen, storage, answer):
    storage.says("/rest/folder", answer)
    shown = gwen.client.get("/")
    assert shown.status_code == 502
    assert "can't read the storage service's response" in words(shown, "h1")


def test_a_bad_row_is_left_out_and_the_page_still_shows(gwen, storage):
    rows = [{"id": 7, "name": "good.txt"}, {"id": "../account", "name": "bad"}, 5, None]
    body = {"id": 1, "name": "", "files": rows, "folders": [], "parent_id": -1, "result": True}
    storage.says("/rest/folder", httpx.Response(200, content=json.dumps(body)))
    answer = gwen.client.get("/")
    assert names(answer) == ["good.txt"]


# Roles


def test_a_guest_sees_no_way_to_change_anything(gwen, bob, storage):
    storage.file("a.txt")
    assert page(bob.client.get("/")).select_one("#new-folder")
    guests = page(gwen.client.get("/"))
    assert not guests.select_one("#new-folder")
    assert not guests.select("[href*='/new/'], [href*='/upload/']")
    acts = guests.select("#entry-menu [data-do]")
    assert [act["data-do"] for act in acts] == ["open", "get", "copy", "play", "select"]
    assert acts[2].get_text(strip=True) == "Copy address (needs sign-in)"
    assert guests.select("#listing .tick[name=entry]")
    buttons = [button.get_text(strip=True) for button in guests.select(".actionbar [type=submit]")]
    assert buttons == ["Download ZIP"]
    assert not guests.select("#rename-chosen, #move-chosen, #delete-chosen")


def menu_of(answer, hidden: str = "narrow-only") -> list[str]:
    """Return the actions of the folder's menu that wide windows show."""
    items = page(answer).select("#folder-menu li")
    return [each.get_text(strip=True) for each in items if hidden not in each.get("class", [])]


def test_the_open_folder_has_its_own_actions_on_every_screen(gwen, bob, storage):
    films = storage.folder("Films")
    storage.file("a.mkv", parent=films.id)
    acts = bob.client.get(f"/files/{films.id}/")
    assert "narrow-only" not in page(acts).select_one("#folder-more")["class"]
    assert menu_of(acts) == [
        *("Download folder as ZIP", "Search in this folder", "Share folder", "Rename folder"),
        "Details",
    ]
    grid = bob.client.get(f"/files/{films.id}/?view=grid")
    assert "Sort by Size" in menu_of(grid)
    assert menu_of(bob.client.get("/")) == ["Download folder as ZIP", "Share folder", "Details"]
    assert menu_of(gwen.client.get(f"/files/{films.id}/")) == [
        *("Download folder as ZIP", "Search in this folder", "Details")
    ]


def test_phones_choose_the_view_in_the_menu_of_the_folder(gwen, storage):
    storage.file("a.txt")
    links = page(gwen.client.get("/")).select("#folder-menu [href*='view=']")
    assert [each.get_text(strip=True) for each in links] == [
        *("Compact list", "Grid", "By season and day")
    ]


def test_an_empty_library_shows_no_menu_without_actions(gwen, bob, storage):
    first = page(bob.client.get("/"))
    assert not first.select("#folder-more")
    assert "wide-only" not in first.select_one("#new")["class"]
    assert not page(gwen.client.get("/")).select("#folder-more")
    empty = storage.folder("Empty")
    assert "Details" in menu_of(gwen.client.get(f"/files/{empty.id}/"))


def test_details_of_a_folder_count_everything_below(gwen, storage):
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    storage.folder("Silent", old.id)
    storage.file("a.mkv", b"x" * 1500, old.id)
    link = page(gwen.client.get(f"/files/{old.id}/")).select_one("#folder-menu [hx-get*=details]")
    assert link["href"] == link["hx-get"]
    for headers in ({}, HTMX):
        facts = words(gwen.client.get(link["href"], headers=headers), ".facts-list")
        assert "Old" in facts
        assert "All files / Films" in facts
        assert "1 file, 1 folder" in facts
        assert "2 KB (1,500 bytes)" in facts
    assert page(gwen.client.get(link["href"], headers=HTMX)).select_one("#details-title")
    small = storage.folder("Smaller")
    storage.file("a.txt", b"x" * 21, small.id)
    facts = words(gwen.client.get(f"/files/{small.id}/details/"), ".facts-list")
    assert facts.endswith("Size 21 bytes")


def test_the_meter_needs_no_separate_call(gwen, storage):
    gwen.client.get("/")
    before = len(storage.calls)
    answer = gwen.client.get("/account/")
    assert storage.calls[before:] == []
    assert "1 GB" in words(answer, ".storage")


def test_a_folder_that_opens_brings_the_meter(gwen, storage):
    films = storage.folder("Films")
    shown = page(gwen.client.get("/"))
    before = shown.select_one("#meter [role=meter]")["aria-valuetext"]
    for links in (shown, page(gwen.client.get("/?view=grid"))):
        assert links.select_one("#listing .window")["hx-select-oob"] == "#meter"
    below = page(gwen.client.get(f"/files/{films.id}/"))
    assert below.select_one("nav.crumbs")["hx-select-oob"] == "#meter"
    storage.file("Grown.bin", bytes(1_000_000))
    answer = gwen.client.get(f"/files/{films.id}/", headers=HTMX)
    assert page(answer).select_one("#meter [role=meter]")["aria-valuetext"] != before


def test_the_meter_has_a_placeholder_before_its_data_arrives(gwen):
    """A fragment that brings it would find nothing to replace."""
    meter = page(gwen.client.get("/account/")).select_one("#meter")
    assert meter.has_attr("hidden")
    assert not meter.get_text(strip=True)


# Rows


def test_cached_rows_of_an_unreachable_service_offer_no_actions(gwen, foreign):
    foreign.file("a.txt")
    assert page(gwen.client.get("/")).select("[name=entry]")
    foreign.fails("/rest/folder", 503)
    answer = gwen.client.get("/", headers={"cache-control": "no-cache"})
    assert names(answer) == ["a.txt"]
    assert not page(answer).select("[name=entry]")


@each_case("size", [None, -1, "much", [], True])
def test_a_size_that_the_service_does_not_tell_is_unknown(gwen, foreign, size):
    foreign.file("film.mkv").facts["size"] = size
    foreign.file("notes.txt", b"x" * 2_000)
    answer = gwen.client.get("/?sort=size")
    assert names(answer) == ["film.mkv", "notes.txt"]
    assert [cell.get_text() for cell in page(answer).select(".c-size")[-2:]] == [
        "size unknown",
        "2 KB",
    ]
    assert "0 bytes" not in page(answer).get_text()


def test_films_and_music_are_sorted_by_their_length(gwen, storage):
    for name, seconds in (("a.mkv", 3840.4), ("b.mp3", 251), ("c.txt", None)):
        storage.file(name).facts |= {"duration": seconds} if seconds else {}
    answer = gwen.client.get("/?sort=-length")
    assert names(answer) == ["a.mkv", "b.mp3", "c.txt"]
    lengths = [cell.get_text() for cell in page(answer).select("tbody td.c-length")]
    assert [each for each in lengths if each] == ["1:04:00", "4:11"]
    assert page(answer).select_one("th.c-length")["aria-sort"] == "descending"
    assert "Sorted by length, longest first" in words(answer_to_htmx(gwen, "-length"), "#said")


def answer_to_htmx(person, sort: str):
    return person.client.get(f"/files/0/listing/?sort={sort}", headers={"HX-Request": "true"})


def test_an_empty_file_has_0_bytes_and_is_called_empty(gwen, foreign):
    file = foreign.file("film.mkv", b"")
    assert words(gwen.client.get("/"), "td.c-size") == "0 bytes"
    assert "empty" in page(gwen.client.get(f"/files/0/file-{file.id}/view/")).get_text()


def test_a_file_of_unknown_size_is_offered_for_download_without_one(gwen, foreign):
    file = foreign.file("thing.bin")
    file.facts["size"] = None
    answer = gwen.client.get(f"/files/0/file-{file.id}/view/")
    assert words(answer, ".fallback .btn") == "Download"


def test_an_address_without_a_folder_saves_no_page_as_a_file(gwen, foreign):
    file, page_sent = foreign.file("film.mkv"), httpx.Response(200, html="<html>Maintenance</html>")
    foreign.says(f"/rest/file/{file.id}", page_sent)
    answer = gwen.client.get(f"/files/file/{file.id}/download/")
    assert answer.status_code == 502
    assert "attachment" not in answer.get("Content-Disposition", "")


def test_a_folder_remembers_its_order_for_each_person(gwen, bob, storage):
    films = storage.folder("Films")
    inner = storage.folder("Inner", films.id)
    for parent in (films.id, inner.id):
        for name, size in (("a.bin", 10), ("b.bin", 20)):
            storage.file(name, b"x" * size, parent=parent)
    path, below = f"/files/{films.id}/", f"/files/{inner.id}/"
    gwen.client.get(f"{path}?sort=-size")
    assert names(gwen.client.get(path)) == ["Inner", "b.bin", "a.bin"]
    assert names(bob.client.get(path)) == ["Inner", "a.bin", "b.bin"]
    assert names(gwen.client.get(below)) == ["b.bin", "a.bin"]
    back = page(gwen.client.get(below)).select_one("#sort-name")["href"]
    assert back == f"{below}?sort=name"
    gwen.client.get(back)
    assert names(gwen.client.get(below)) == ["a.bin", "b.bin"]
    assert names(gwen.client.get(path)) == ["Inner", "b.bin", "a.bin"]
    inner_link = page(gwen.client.get(path)).select_one(f"a[href^='{below}']")
    assert inner_link["href"] == below
    assert page(gwen.client.get("/")).select_one("th.c-name")["aria-sort"] == "ascending"


def test_an_order_chosen_on_the_page_is_remembered(gwen, storage):
    films = storage.folder("Films")
    for name, size in (("a.bin", 10), ("b.bin", 20)):
        storage.file(name, b"x" * size, parent=films.id)
    column = page(gwen.client.get(f"/files/{films.id}/")).select_one("#sort-size")
    gwen.client.get(column["hx-get"], headers=HTMX)
    assert names(gwen.client.get(f"/files/{films.id}/")) == ["b.bin", "a.bin"]


def test_a_preview_steps_through_the_order_that_is_remembered(gwen, storage):
    small, large = storage.file("a.txt", b"x"), storage.file("b.txt", b"x" * 20)
    gwen.client.get("/?sort=-size")
    shown = page(gwen.client.get(f"/files/0/file-{large.id}/view/"))
    assert shown.select_one("[data-step=next]")["href"].startswith(f"/files/0/file-{small.id}/")


def test_a_page_that_refreshes_itself_changes_no_order(gwen, storage):
    storage.file("a.txt")
    gwen.client.get("/?sort=-size")
    gwen.client.get("/files/0/listing/?sort=name&seen=x", headers=HTMX)
    gwen.client.get("/files/0/listing/?sort=name", headers={**HTMX, "HX-Trigger": "look"})
    assert page(gwen.client.get("/")).select_one("th.c-size")["aria-sort"] == "descending"


def test_rows_loaded_while_scrolling_keep_their_order(gwen, storage):
    storage.many(250)
    more = page(gwen.client.get("/")).select_one("[hx-get*='/rows/']")["hx-get"]
    gwen.client.get("/?sort=-name")
    assert names(gwen.client.get(more, headers=HTMX))[0] == "IMG_100.jpg"
    refresh = gwen.client.get("/files/0/listing/?sort=name&seen=x", headers=HTMX)
    assert names(refresh)[0] == "IMG_0.jpg"
    assert names(gwen.client.get("/"))[0] == "IMG_249.jpg"


def test_an_order_that_does_not_exist_is_not_remembered(gwen, storage):
    storage.file("a.txt")
    gwen.client.get("/?sort=-size")
    gwen.client.get("/?sort=nonsense")
    assert page(gwen.client.get("/")).select_one("th.c-size")["aria-sort"] == "descending"


def test_the_oldest_of_too_many_orders_are_forgotten(gwen, storage, monkeypatch):
    # Otherwise the test needs 500 folders; no setting makes the limit smaller.
    monkeypatch.setattr(sort_orders, "MOST_ORDERS", 2)
    folders = [storage.folder(f"{number}") for number in range(3)]
    for each in folders:
        gwen.client.get(f"/files/{each.id}/?sort=-size")
    rows = SortOrder.objects.values_list("folder", flat=True)
    assert set(rows) == {str(each.id) for each in folders[1:]}


def test_a_foreign_service_unpacks_nothing(bob, foreign):
    file = foreign.file("Photos.zip", b"PK")
    assert not page(bob.client.get("/")).select("#unpacking, [data-do=unpack]")
    assert not page(bob.client.get(f"/files/0/file-{file.id}/view/")).select("#unpack")
    assert bob.client.post(f"/files/0/file-{file.id}/unpack/").status_code == 404
    assert bob.client.get("/files/0/unpacking/").status_code == 404
    assert bob.client.post("/files/undo/", {"undo": "unpacked:7"}).status_code == 404
