"""The player's page, and the URLs from which it plays films."""

import re

import httpx
import pytest
from bs4 import BeautifulSoup
from django.conf import settings

from host.static_files.modules import Modules
from tests.cases import each_case
from tests.people import PASSWORD, page
from webui.http.content_types import PLAYER

pytestmark = pytest.mark.django_db


@pytest.fixture
def season(storage):
    folder = storage.folder("Tide")
    names = ["Tide S01E10.mkv", "Tide S01E2.mp4", "Notes.txt", "Tide S01E1.avi"]
    return folder, {name: storage.file(name, parent=folder.id) for name in names}


def opened(person, season, name):
    folder, files = season
    return person.client.get(f"/files/{folder.id}/file-{files[name].id}/view/?sort=-size")


def hls_of(person, file):
    return person.client.get(f"/files/file/{file.id}/hls/").json()


def mp4_of(person, file):
    return person.client.get(f"/files/file/{file.id}/mp4/").json()


# The page


def test_a_film_has_a_player_and_a_text_has_none(gwen, season):
    assert page(opened(gwen, season, "Tide S01E2.mp4")).select_one("#film")
    assert not page(opened(gwen, season, "Notes.txt")).select_one("#film")


def test_only_the_players_page_allows_media_source_playback(gwen, season):
    film = opened(gwen, season, "Tide S01E2.mp4")["Content-Security-Policy"]
    text = opened(gwen, season, "Notes.txt")["Content-Security-Policy"]
    assert film == PLAYER
    assert "blob:" in film
    assert "blob:" not in text


def test_next_and_previous_are_by_name_in_any_listing_order(gwen, season):
    shown = page(opened(gwen, season, "Tide S01E2.mp4"))
    assert shown.select_one("#next")["aria-label"] == "Next: Episode 10"
    assert "Episode 1" in shown.select_one("#previous").text
    assert "sort=-size" in shown.select_one("#next")["href"]


def test_the_last_film_has_no_next(gwen, season):
    shown = page(opened(gwen, season, "Tide S01E10.mkv"))
    assert shown.select_one("#previous")
    assert not shown.select_one("#next")
    assert not shown.select_one("template#upcoming")


@pytest.fixture
def seasons(storage):
    show = storage.folder("Tide")
    folders = [storage.folder(name, show.id) for name in ("Season 10", "Season 9", "Extras")]
    names = ["Tide S10E01.mkv", "Tide S09E02.mkv", "Interview.mkv"]
    files = {
        name: storage.file(name, parent=folder.id)
        for name, folder in zip(names, folders, strict=True)
    }
    return folders, files


def test_the_last_episode_of_a_season_leads_to_the_first_of_the_next(gwen, seasons):
    (tenth, ninth, extras), files = seasons
    last = page(opened(gwen, (ninth, files), "Tide S09E02.mkv"))
    film = f"/files/{tenth.id}/file-{files['Tide S10E01.mkv'].id}/view/?sort=-size"
    assert last.select_one("#next")["href"] == film
    assert last.select_one("template#upcoming")
    next_film = page(opened(gwen, (tenth, files), "Tide S10E01.mkv"))
    assert not next_film.select_one("#next")
    assert next_film.select_one("#back")["href"].startswith(f"/files/{tenth.id}/?")
    assert not page(opened(gwen, (extras, files), "Interview.mkv")).select_one("#next")


def test_a_film_plays_although_the_next_season_cannot_be_read(gwen, seasons, storage):
    (tenth, ninth, _extras), files = seasons
    storage.fails(f"/rest/folder/{tenth.id}", 500)
    last = page(opened(gwen, (ninth, files), "Tide S09E02.mkv"))
    assert last.select_one("#film")
    assert not last.select_one("#next")


@each_case(
    ("name", "after", "runs_on"),
    [
        ("Tide S01E02.avi", "tide.s01e03.1080p.mkv", True),
        ("[Group] Name - 07 [ABCD].mkv", "[Group] Name - 08 [EF01].mkv", True),
        ("Dune (1984).mkv", "Dune (2021).mkv", False),
        ("Casablanca.mkv", "Citizen Kane.mkv", False),
    ],
)
def test_only_episodes_continue_automatically(gwen, storage, name, after, runs_on):
    folder = storage.folder(f"Before {after}")
    first, _second = (storage.file(each, parent=folder.id) for each in (name, after))
    shown = page(gwen.client.get(f"/files/{folder.id}/file-{first.id}/view/"))
    assert shown.select_one("#next")
    assert bool(shown.select_one("template#upcoming")) is runs_on
    assert bool(shown.select_one("#more-menu [role=switch]")) is runs_on


def test_without_scripts_the_browser_has_the_file_itself(gwen, season):
    video = page(opened(gwen, season, "Tide S01E2.mp4")).select_one("noscript video[controls]")
    assert "/raw/" in video["src"]


KEYS = [
    ("Space k", "Play or pause"),
    ("j l", "Back or forward 10 seconds"),
    ("← →", "Back or forward 5 seconds"),
    ("0 … 9", "Jump to a tenth of the film"),
    ("↑ ↓", "Louder, quieter"),
    ("m", "Mute"),
    ("c", "Subtitles"),
    ("< >", "Slower, faster"),
    ("f", "Full screen"),
    ("Shift n", "Next film"),
    ("d", "Download"),
    ("?", "Shortcuts"),
    ("Esc", "Close"),
]


def test_the_shortcuts_name_every_key_of_the_player(gwen, season):
    def keys_of(name):
        keys = page(opened(gwen, season, name)).select_one("#viewer-keys")
        terms = [" ".join(each.get_text(" ").split()) for each in keys.select("dt")]
        return list(zip(terms, [each.get_text() for each in keys.select("dd")], strict=True))

    assert keys_of("Tide S01E2.mp4") == KEYS
    assert keys_of("Tide S01E10.mkv") == [each for each in KEYS if each[0] != "Shift n"]


@each_case(("action", "label"), [("back", "Back 10 seconds"), ("forward", "Forward 10 seconds")])
def test_the_icons_of_ten_seconds_say_ten(gwen, season, action, label):
    button = page(opened(gwen, season, "Tide S01E2.mp4")).select_one(f"[data-do={action}]")
    assert button["aria-label"] == label
    icons = BeautifulSoup((settings.BASE_DIR / "static/icons.svg").read_text(), "html.parser")
    name = button.use["href"].partition("#")[2]
    assert icons.find(id=name).get_text() == "10"


def test_hls_js_is_named_on_no_other_page(gwen, season):
    folder, _files = season
    assert b"hls.min" in opened(gwen, season, "Tide S01E2.mp4").content
    for path in ("/", f"/files/{folder.id}/"):
        assert b"hls.min" not in gwen.client.get(path).content
    assert b"hls.min" not in opened(gwen, season, "Notes.txt").content


# Playback


def test_links_of_our_own_service_are_paths(gwen, storage):
    film = storage.file("a.mkv")
    url = f"http://ferry.lan:8000/content/1/hls/{film.id}/t.s/master.m3u8"
    storage.says(f"/rest/file/{film.id}/hls", httpx.Response(200, json={"url": url}))
    stream = hls_of(gwen, film)
    assert stream["kind"] == "hls"
    assert stream["url"] == f"/content/1/hls/{film.id}/t.s/master.m3u8"


def test_subtitles_that_are_pictures_are_other_paths(gwen, storage):
    film = storage.file("a.mkv")
    link = f"http://ferry.lan:8000/content/1/hls/{film.id}/t.s"
    hidden = [
        {"name": "Français", "language": "fre", "url": f"{link}/burned-3.m3u8"},
        {"name": "No one draws these", "language": "eng"},
        {"name": "A trap", "url": "javascript:alert(1)"},
        "none",
    ]
    facts = {"url": f"{link}/master.m3u8", "subtitles_not_shown": hidden}
    storage.says(f"/rest/file/{film.id}/hls", httpx.Response(200, json=facts))
    path = f"/content/1/hls/{film.id}/t.s/burned-3.m3u8"
    assert hls_of(gwen, film)["burned"] == [{"name": "Français", "lang": "fr", "url": path}]


def test_an_mp4_that_is_being_made_tells_how_far_it_is(gwen, storage):
    film = storage.file("a.avi")
    facts = {"url": "http://x.example/film.mp4", "converting": True, "progress": 38.4}
    storage.says(f"/rest/file/{film.id}/mp4", httpx.Response(200, json=facts))
    stream = mp4_of(gwen, film)
    assert (stream["kind"], stream["progress"], stream["url"]) == ("converting", 38.4, "")


def test_the_services_own_sentence_says_why_not(gwen, storage):
    film = storage.file("a.avi")
    facts = {"status_code": 422, "reason_phrase": "cannot_convert", "message": "No picture in it."}
    storage.says(f"/rest/file/{film.id}/hls", httpx.Response(422, json=facts))
    stream = hls_of(gwen, film)
    assert (stream["kind"], stream["reason"]) == ("none", "No picture in it.")


def scenes_of(person, film):
    answer = page(person.client.get(f"/files/0/file-{film.id}/view/"))
    return person.client.get(answer.select_one("#source")["data-scenes"]).json()


def test_a_film_says_its_chapters_and_where_its_filmstrip_is(gwen, storage):
    film = storage.file("a.mkv")
    url = f"http://ferry.lan:8000/content/picture/1/{film.id}/filmstrip?e=1&s=x"
    film.facts["scenes"] = {
        "chapters": [{"start": 0, "title": "Ebb"}, {"start": 60.5, "title": ""}],
        "filmstrip": {"url": url, "frames": 100, "frames_in_row": 10},
    }
    path = f"/content/picture/1/{film.id}/filmstrip?e=1&s=x"
    assert scenes_of(gwen, film) == {
        "chapters": [{"at": 0, "title": "Ebb"}, {"at": 60.5, "title": "Chapter 2"}],
        "filmstrip": {"url": path, "frames": 100, "columns": 10},
    }


def test_a_film_plays_without_scenes(gwen, storage):
    film = storage.file("a.mkv")
    storage.fails(f"/rest/file/{film.id}/scenes", 503)
    assert scenes_of(gwen, film) == {"chapters": [], "filmstrip": None}


def test_a_foreign_service_is_not_asked_for_scenes(gwen, foreign):
    film = foreign.file("a.mkv")
    assert scenes_of(gwen, film) == {"chapters": [], "filmstrip": None}
    assert not any("scenes" in path for _method, path in foreign.calls)


def test_a_deleted_film_says_so(gwen, storage):
    film = storage.file("a.avi")
    storage.fails(f"/rest/file/{film.id}/hls", 404, "not_found")
    assert hls_of(gwen, film)["reason"] == "This file no longer exists."


def test_an_unreachable_service_does_not_break_the_page(gwen, storage):
    film = storage.file("a.avi")
    storage.fails(f"/rest/file/{film.id}/hls", 503)
    stream = hls_of(gwen, film)
    assert stream["kind"] == "away"
    assert stream["reason"]


def test_a_person_whose_session_has_ended_is_sent_to_the_sign_in_page_and_back(gwen, season):
    folder, files = season
    film = files["Tide S01E2.mp4"]
    gwen.client.logout()
    asked = gwen.client.get(f"/files/file/{film.id}/hls/", headers={"accept": "application/json"})
    assert asked.status_code == 302
    assert asked["Location"].startswith("/signin/")
    address = f"/files/{folder.id}/file-{film.id}/view/"
    signin = gwen.client.get(address)["Location"]
    form = {"username": "gwen", "password": PASSWORD}
    assert gwen.client.post(signin, form)["Location"] == address


def test_no_foreign_address_reaches_the_page(gwen, foreign):
    film = foreign.file("a.mkv")
    url = "https://media.example/a.m3u8"
    links = (url, "http://169.254.169.254/b.m3u8")  # Ferry never opens the second.
    hidden = [{"name": "English", "url": link} for link in links]
    facts = {"url": url, "subtitles_not_shown": hidden}
    foreign.says(f"/rest/file/{film.id}/hls", httpx.Response(200, json=facts))
    stream = hls_of(gwen, film)
    assert len(stream["burned"]) == 1
    assert "media.example" not in str(stream)


def test_responses_are_not_cacheable(gwen, storage):
    film = storage.file("a.mkv")
    assert "no-store" in gwen.client.get(f"/files/file/{film.id}/hls/")["Cache-Control"]


def test_all_modules_of_the_player_are_requested_at_once(gwen, season):
    static = settings.BASE_DIR / "static"
    sources = {
        str(path.relative_to(static)): path.read_text() for path in static.glob("js/**/*.js")
    }
    joined = Modules(dict(Modules(sources).texts()))
    names = {"js/player/main.js", "js/previews/viewer.js"}
    while more := {target for name in names for target in joined.imports(name)} - names:
        names |= more
    shown = page(opened(gwen, season, "Tide S01E2.mp4"))
    early = [link["href"] for link in shown.select("link[rel=modulepreload][href*='/js/']")]
    names_of_early = {re.sub(r"\.\w+\.js$", ".js", each.partition("/static/")[2]) for each in early}
    assert names_of_early == names - {"js/base.js"}
