"""The preview of a file: its words, its links, and its cost."""

import gzip
import re
from urllib.parse import urljoin

import httpx
import pytest

from tests.cases import each_case
from tests.people import page, words
from webui.library.entries import FILE, Entry
from webui.previews.pages import preview as preview_page

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}
IMPORT = re.compile(r"(?:import|from)\s*\(?\"(\.[^\"]+)\"")
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 50


def view(person, file, query="", folder="0"):
    return person.client.get(f"/files/{folder}/file-{file.id}/view/{query}")


def kind(answer) -> str:
    return page(answer).select_one("#viewer")["data-kind"]


def link(answer, selector) -> str:
    found = page(answer).select_one(selector)
    return found["href"] if found else ""


@pytest.mark.promise("each kind of file has its preview")
@pytest.mark.slow
@each_case(
    ("name", "content", "wanted"),
    [
        ("a.jpg", b"x", "picture"),
        ("a.SVG", b"<svg/>", "picture"),
        ("a.mp3", b"x", "audio"),
        ("a.mkv", b"x", "video"),
        ("a.pdf", b"%PDF", "pdf"),
        ("a.py", b"x = 1", "text"),
        ("a.html", b"<script>alert(1)</script>", "text"),
        ("Makefile", b"all:", "text"),
        ("README", b"Hi", "text"),
        ("a.srt", b"1", "text"),
        ("a.csv", b"a,b", "text"),
        ("a.txt", b"\0\1\2", "none"),
        ("a.txt", b"", "text"),
        ("a.mkv", b"", "empty"),
        ("a.jpg", b"", "empty"),
        ("a.bin", b"", "empty"),
        ("a.iso", b"x", "none"),
        ("a.zip", b"x", "none"),
        ("a.zip", b"", "empty"),
        ("no extension", b"x", "none"),
    ],
)
def test_each_kind_of_file_is_shown_in_its_way(gwen, storage, name, content, wanted):
    answer = view(gwen, storage.file(name, content))
    assert answer.status_code == 200
    assert kind(answer) == wanted
    assert words(answer, "h1") == name


@each_case("name", ["a.txt", "a.bin", "a.mp4", "a.png", "a.pdf"])
def test_an_empty_file_is_called_empty(gwen, storage, name):
    answer = view(gwen, storage.file(name, b""))
    assert words(answer, ".viewer-body h2") == "This file is empty"


def test_a_file_without_a_preview_offers_its_download_and_size(gwen, storage):
    file = storage.file("disk.iso", b"x" * 5000)
    answer = view(gwen, file)
    assert words(answer, ".viewer-body h2") == "No preview for .iso files"
    assert words(answer, ".viewer-body a") == "Download 5 KB"
    assert link(answer, ".viewer-body a") == link(answer, "[data-get]")
    assert link(answer, "[data-get]") == f"/files/file/{file.id}/download/?in=0"


def test_a_film_without_known_duration_is_not_called_empty():
    assert preview_page.kind_of(Entry(FILE, "1", "a.mp4", None, None), None) == "video"
    assert preview_page.kind_of(Entry(FILE, "1", "a.mp4", 0, added=1), None) == "empty"


def test_the_listing_leads_to_the_preview(gwen, storage):
    file = storage.file("a.txt")
    row = page(gwen.client.get("/?sort=-size&q=a")).select_one(f"#file-{file.id}")
    assert row.select_one(".entry")["href"] == f"/files/0/file-{file.id}/view/?sort=-size&q=a"


def test_missing_files_and_folders_have_no_preview(gwen, storage):
    folder = storage.folder("Films")
    assert gwen.client.get("/files/0/file-7/view/").status_code == 404
    assert gwen.client.get(f"/files/0/file-{folder.id}/view/").status_code == 404


def test_a_file_deleted_while_shown_has_no_more_text(gwen, storage):
    file = storage.file("a.txt")
    view(gwen, file)
    storage.fake.delete_file(None, file.id)
    storage.fake.revision += 1
    more = gwen.client.get(f"/files/0/file-{file.id}/text/?from=1", headers=HTMX)
    assert more.status_code == 404
    assert "HX-Retarget" in more


def test_next_and_previous_stay_within_a_kind_in_listing_order(gwen, storage):
    one, two, three = (storage.file(f"{name}.jpg", b"x" * size) for name, size in
                       (("1", 3), ("2", 9), ("10", 5)))  # fmt: skip
    storage.file("5.txt")
    answer = view(gwen, two)
    assert "2 of 3" in words(answer, ".viewer-title p")
    assert f"file-{one.id}" in link(answer, "[data-step=previous]")
    assert f"file-{three.id}" in link(answer, "[data-step=next]")
    by_size = view(gwen, two, "?sort=-size")
    assert link(by_size, "[data-step=previous]") == ""
    assert link(by_size, "[data-step=next]") == f"/files/0/file-{three.id}/view/?sort=-size"


@each_case(
    ("name", "facts", "shown"),
    [
        ("a.mkv", {"duration": 3840.4, "width": 1920, "height": 800}, "1080p, 1 h 4 min, 7 bytes"),
        ("a.mkv", {"duration": 40, "width": 320, "height": 180}, "180p, 40 s, 7 bytes"),
        ("a.mkv", {"duration": 251, "width": 1080, "height": 1920}, "1080p, 4 min 11 s, 7 bytes"),
        ("a.mkv", {"width": 4096, "height": 2160}, "2160p, 7 bytes"),
        ("a.mkv", {"duration": -1, "width": "wide", "height": 10**9}, "7 bytes"),
        ("a.mkv", {}, "7 bytes"),
        ("a.mp3", {"duration": 251}, "4 min 11 s, 7 bytes"),
        ("a.jpg", {"width": 4032, "height": 2520}, "7 bytes, 4032 by 2520"),
    ],
)
def test_the_services_media_details_are_shown(gwen, storage, name, facts, shown):
    file = storage.file(name)
    file.facts = facts
    assert words(view(gwen, file), ".viewer-title p") == shown


def test_a_filter_limits_next_and_previous(gwen, storage):
    files = [storage.file(f"{name}.jpg") for name in ("fjord 1", "harbour", "fjord 2")]
    assert "1 of 2" in words(view(gwen, files[0], "?q=fjord"), ".viewer-title p")
    assert "3 of 3" in words(view(gwen, files[1], "?q=fjord"), ".viewer-title p")


def test_the_way_back_leads_to_the_very_row(gwen, storage):
    storage.many(450)
    last = max(storage.fake.items.values(), key=lambda item: item.id)
    back = link(view(gwen, last, "?view=grid&from=200"), "#back")
    assert back == f"/?view=grid&from=400#file-{last.id}"
    path, key = back.split("#")
    assert page(gwen.client.get(path)).select_one(f"#{key}")


def test_people_go_to_a_preview_and_back_without_scripts(gwen, storage):
    folder = storage.folder("Things")
    for name in ["a.jpg", "a.mp3", "a.pdf", "a.iso", "a.zip", "a.mkv"]:
        file = storage.file(name, parent=folder.id)
        listing = gwen.client.get(f"/files/{folder.id}/")
        shown = gwen.client.get(link(listing, f"#file-{file.id} .entry"))
        assert words(shown, "h1") == name
        path, key = link(shown, "#back").split("#")
        assert key == f"file-{file.id}"
        assert page(gwen.client.get(path)).select_one(f"#{key}")


def test_without_scripts_the_browser_plays_a_track(gwen, storage):
    track = page(view(gwen, storage.file("a.mp3"))).select_one(".audio")
    assert track.select_one("audio[controls]")["src"] == track["data-source"]
    assert track.select_one(".controls").has_attr("hidden")


def test_a_document_opens_in_a_new_tab(gwen, storage):
    file = storage.file("a.pdf", b"%PDF-1.4")
    shown = page(view(gwen, file))
    openers = shown.select(".document-bar a, .fallback a")
    assert [each["target"] for each in openers] == ["_blank", "_blank"]
    for each in openers:
        assert each["href"] == f"/files/file/{file.id}/pdf/?in=0"
        answer = gwen.client.get(each["href"])
        assert (answer.status_code, answer["Location"][:9]) == (302, "/content/")


def test_a_strip_of_pictures_is_bounded(gwen, storage):
    storage.many(450)
    middle = sorted(storage.fake.items)[200]
    strip = page(view(gwen, storage.fake.items[middle])).select(".strip a")
    assert len(strip) == 25
    assert [each.get("aria-current") for each in strip].count("true") == 1


@pytest.mark.promise("a preview is three calls at most")
@pytest.mark.slow
@each_case("name", ["a.jpg", "a.txt", "a.py", "a.md", "a.csv", "a.mp3", "a.pdf", "a.iso"])
def test_no_preview_asks_the_service_more_than_three_times(gwen, storage, name):
    storage.many(300)
    file = storage.file(name, b"a,b\n")
    before = len(storage.calls)
    assert view(gwen, file).status_code == 200
    assert len(storage.calls) - before <= 3


def test_members_may_rename_and_delete_and_guests_may_not(bob, gwen, storage):
    file = storage.file("a.iso")
    offered = page(view(bob, file, "?sort=-size")).select_one("#viewer-menu")
    assert offered.select_one(f"a[href='/files/0/file-{file.id}/rename/?sort=-size']")
    assert offered.select_one(f"a[href='/files/0/delete/?entry=file-{file.id}']")
    for each, verb in (("a[href*=rename]", "Rename"), ("a.warn", "Delete")):
        assert verb in words(bob.client.get(offered.select_one(each)["href"]), "h1")
    assert not page(view(gwen, file)).select("[href*=rename], [href*=delete]")


def weight(person, address: str, seen: set[str]) -> int:
    """Return the gzipped size of a static file and of all modules that it imports."""
    if address in seen:
        return 0
    seen.add(address)
    content = b"".join(person.client.get(address).streaming_content)
    found = IMPORT.findall(content.decode()) if address.endswith(".js") else []
    inner = [urljoin(address, each) for each in found]
    return len(gzip.compress(content)) + sum(weight(person, each, seen) for each in inner)


def test_a_tap_to_a_picture_costs_less_than_60_kb(gwen, storage):
    storage.many(30)
    answer = view(gwen, max(storage.fake.items.values(), key=lambda item: item.id))
    shown = page(answer)
    addresses = [
        *(tag["href"] for tag in shown.select("link[rel=stylesheet]")),
        *(tag["src"] for tag in shown.select("script[src]")),
        shown.select_one("#viewer")["data-script"],
        shown.select_one("use")["href"].split("#")[0],
    ]
    seen: set[str] = set()
    total = sum(weight(gwen, address, seen) for address in addresses)
    assert len(seen) > 15
    assert total + len(gzip.compress(answer.content)) < 60_000


# Texts

DIALOGUE = b"Dialogue: 0,0:01:47.25,0:01:49.00,Default,,0,0,0,,{\\i1}A blade.\n"


def text(answer) -> str:
    return "\n".join(each.get_text() for each in page(answer).select(".code code"))


def test_text_is_shown_as_text_whatever_it_contains(gwen, storage):
    hostile = "<script>alert(1)</script>\n{{ 7*7 }}\n'\" onload=x"
    for name in ("a.txt", "a.html", "a.js", "a.unknown.log"):
        answer = view(gwen, storage.file(name, hostile.encode()))
        assert text(answer) == hostile
        assert not page(answer).select(".viewer-body script")


@each_case(
    ("name", "content", "found"),
    [
        ("a.csv", b"name,size\n" + b"Sintel,9.8 GB\n" * 100, {"tbody tr": 100}),
        ("a.srt", b"1\n00:01:47,250 --> 00:01:49,000\nA blade.\n\n" * 30, {".cues li": 30}),
        ("a.ass", b"[Script Info]\n[Events]\n" + DIALOGUE * 30, {".cues li": 30}),
        ("a.json", b'{"a":[1,2,{"b":"x"}]}', {".code code": 9}),
        ("a.py", b"import re\n", {".code .k": 1}),
        (
            "a.md",
            b"# Spring\n\n![A fjord](http://evil.example/x.png)\n",
            {".prose h2": 1, "[src]": 0},
        ),
        ("a.nfo", "╔══╗ ░▒▓".encode("cp437"), {".code code": 1}),
    ],
)
def test_text_is_laid_out_by_its_kind(gwen, storage, name, content, found):
    shown = page(view(gwen, storage.file(name, content)))
    assert {each: len(shown.select(f".viewer-body {each}")) for each in found} == found
    assert {"a.md": "A fjord", "a.nfo": "╔══╗ ░▒▓"}.get(name, "") in shown.main.get_text()


def test_the_rest_of_a_long_text_is_a_fragment_or_a_page(gwen, storage):
    file = storage.file("a.log", b"".join(b"line %d\n" % number for number in range(5000)))
    answer = view(gwen, file)
    assert len(page(answer).select(".code code")) == 4000
    more = page(answer).select_one(".rest a")
    rest = gwen.client.get(more["hx-get"], headers=HTMX)
    assert not page(rest).select("#viewer, .rest")
    assert text(rest).startswith("line 4000\n")
    assert text(rest).endswith("line 4999")
    alone = gwen.client.get(more["href"])
    assert text(alone) == text(rest)
    assert page(alone).select_one(".later")


@each_case("query", ["from=x", "from=-1", "from=" + "9" * 15, "from=9999&enc=rot13", "enc=utf-7"])
def test_nonsense_in_the_address_of_a_piece_harms_nothing(gwen, storage, query):
    file = storage.file("a.txt", b"words")
    answer = gwen.client.get(f"/files/0/file-{file.id}/text/?{query}", headers=HTMX)
    assert answer.status_code == 200


def test_a_picture_has_no_pieces_of_text(gwen, storage):
    file = storage.file("a.jpg")
    assert gwen.client.get(f"/files/0/file-{file.id}/text/").status_code == 404


def test_a_failure_of_the_service_leaves_the_pages_links(gwen, foreign):
    file = foreign.file("a.txt")
    gwen.client.get("/")
    foreign.fails(f"/rest/file/{file.id}", 503)
    answer = view(gwen, file)
    assert answer.status_code == 200
    assert page(answer).select_one(".fallback")
    assert link(answer, "[data-get]") == f"/files/file/{file.id}/download/?in=0"


# Bytes inside our pages


def test_our_own_service_shows_the_file_itself(gwen, storage):
    file = storage.file("a.jpg")
    answer = gwen.client.get(f"/files/file/{file.id}/raw/?in=0")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/content/")


@each_case(
    ("name", "kind", "manner"),
    [
        ("a.jpg", "image/jpeg", "inline"),
        ("a.mp3", "audio/mpeg", "inline"),
        ("a.mkv", "video/x-matroska", "inline"),
        ("a.txt", "text/plain; charset=utf-8", "inline"),
        ("a.svg", "image/svg+xml", "inline"),
        ("a.html", "application/octet-stream", "attachment"),
        ("a.xhtml", "application/octet-stream", "attachment"),
        ("a.mht", "application/octet-stream", "attachment"),
        ("a.js", "application/octet-stream", "attachment"),
        ("a.jpg.html", "application/octet-stream", "attachment"),
        ("a", "application/octet-stream", "attachment"),
    ],
)
def test_a_foreign_file_is_relayed_with_the_type_of_its_name(gwen, foreign, name, kind, manner):
    file = foreign.file(name, b"<script>alert(1)</script>")
    gwen.client.get("/")
    answer = gwen.client.get(f"/files/file/{file.id}/raw/?in=0", headers={"range": "bytes=1-6"})
    assert answer.status_code == 206
    assert answer["Content-Type"] == kind
    assert answer["Content-Disposition"].startswith(manner)
    assert answer["Content-Security-Policy"].startswith("sandbox;")
    assert "allow" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert b"".join(answer.streaming_content) == b"script"


def test_a_foreign_pdf_opens_in_a_sandbox(gwen, foreign):
    file = foreign.file("a.pdf", b"%PDF-1.4")
    gwen.client.get("/")
    answer = gwen.client.get(f"/files/file/{file.id}/pdf/?in=0")
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Security-Policy"].startswith("sandbox; script-src 'none'")
    assert b"".join(answer.streaming_content) == b"%PDF-1.4"


@each_case("what", ["raw", "pdf"])
def test_a_link_of_a_foreign_service_into_the_house_is_not_followed(gwen, foreign, what):
    file = foreign.file("a.jpg")
    gwen.client.get("/")
    inside = {"location": "http://169.254.169.254/latest"}
    foreign.says(f"/rest/file/{file.id}", httpx.Response(302, headers=inside))
    assert gwen.client.get(f"/files/file/{file.id}/{what}/?in=0").status_code == 502


# Large pictures


def test_a_large_picture_is_fetched_once_and_cached(gwen, storage):
    file = storage.file("a.heic")
    storage.says(f"/rest/file/{file.id}/image", httpx.Response(200, content=PNG))
    address = page(view(gwen, file)).select_one(".picture-frame img")["src"]
    for _time in range(3):
        answer = gwen.client.get(address)
        assert (answer.status_code, answer.content) == (200, PNG)
        assert "immutable" in answer["Cache-Control"]
    assert [path for _method, path in storage.calls].count(f"/rest/file/{file.id}/image") == 1


def test_without_one_the_picture_itself_is_shown(gwen, storage):
    file = storage.file("a.jpg")
    address = page(view(gwen, file)).select_one(".picture-frame img")["src"]
    assert gwen.client.get(address)["Location"] == f"/files/file/{file.id}/raw/?in=0"


def test_formats_that_no_browser_shows_are_not_found(gwen, storage):
    file = storage.file("a.tiff")
    address = page(view(gwen, file)).select_one(".picture-frame img")["src"]
    assert gwen.client.get(address).status_code == 404


def test_pictures_too_large_for_a_browser_are_not_shown():
    large = Entry("file", "7", "a.jpg", 65 * 2**20, None)
    assert not large.is_showable_picture
    assert large._replace(size_bytes=2**20).is_showable_picture


@each_case(
    ("names", "cover"),
    [
        (["a.jpg", "Tide - Front.jpg"], "Tide - Front.jpg"),
        (["Tide (front).jpg", "folder.png"], "folder.png"),
        (["scan.jpg"], "scan.jpg"),
        (["scan 1.jpg", "scan 2.jpg"], ""),
    ],
)
def test_a_picture_beside_the_music_is_its_cover(gwen, storage, names, cover):
    album = storage.folder("Tide")
    pictures = {name: storage.file(name, parent=album.id) for name in names}
    track = storage.file("01.mp3", parent=album.id)
    shown = page(gwen.client.get(f"/files/{album.id}/file-{track.id}/view/"))
    url = shown.select_one("[data-cover]")["data-cover"]
    assert url == "" if not cover else f"/file/{pictures[cover].id}/image/" in url


def test_an_audio_file_has_the_cover_of_its_folder_and_the_others_as_a_queue(gwen, storage):
    cover = storage.file("Cover.jpg")
    tracks = [storage.file(f"{number}.mp3") for number in (1, 2, 10)]
    answer = view(gwen, tracks[1])
    assert f"/file/{cover.id}/image/" in page(answer).select_one("img.cover")["src"]
    assert [each.get_text() for each in page(answer).select(".queue a span")] == [
        "1",
        "2",
        "10",
    ]
    assert "track 2 of 3" in words(answer, ".audio")


def test_the_queue_has_all_tracks_and_their_pages_only_those_around(gwen, storage):
    cover = storage.file("Cover.jpg")
    tracks = [storage.file(f"{number}.mp3") for number in range(1, 601)]
    answer = view(gwen, tracks[0])
    assert len(answer.content) < 25_000
    assert [each.get_text() for each in page(answer).select(".queue a span")][-1] == "51"
    player = page(answer).select_one(".audio")
    queue = gwen.client.get(player["data-queue"]).json()
    assert [each["name"] for each in queue["tracks"]] == [str(n) for n in range(1, 601)]
    first = queue["tracks"][0]["id"]
    assert queue["url"].format(id=first) == page(answer).select_one("#viewer")["data-url"]
    assert queue["source"].format(id=first) == player["data-source"]
    assert queue["tagsUrl"].format(id=first) == player["data-tags-url"]
    assert f"/file/{cover.id}/image/" in queue["cover"]
    assert queue["cover"] == player["data-cover"]


def test_the_queue_follows_filter_and_order(gwen, storage):
    kept = [storage.file(f"kept {number}.mp3") for number in (1, 2)]
    storage.file("other.mp3")
    address = f"/files/0/file-{kept[0].id}/queue/?sort=-name&q=kept"
    names = [each["name"] for each in gwen.client.get(address).json()["tracks"]]
    assert names == ["kept 2", "kept 1"]


def test_only_tracks_have_a_queue(gwen, storage):
    file = storage.file("a.txt")
    assert gwen.client.get(f"/files/0/file-{file.id}/queue/").status_code == 404
