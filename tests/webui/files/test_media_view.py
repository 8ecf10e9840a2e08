"""A folder by season and day, and the film that is next."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words

pytestmark = pytest.mark.django_db


def media(person, path="/", **query):
    return page(person.client.get(path, {"view": "media", **query}))


def sections(shown):
    """Return the headings, and the names below each."""
    lists = {"": []}
    for each in shown.select(".grid .window > li"):
        if "section" in each["class"]:
            lists[each.get_text(strip=True)] = []
        else:
            lists[[*lists][-1]].append(each.select_one(".entry-name")["title"])
    return lists


def watch(person, film, at, of=3600):
    fields = {"at": str(at), "of": str(of), "folder": "0"}
    assert person.client.post(f"/watch/{film.id}/", fields).status_code in (200, 204)


def test_related_entries_share_one_heading(gwen, storage):
    for name in ("b.mp3", "notes.txt", "Heat 1995.mkv", "Tide S02E01.mkv", "Tide S01E10.mkv"):
        storage.file(name)
    storage.file("tide.s01e02.mkv")
    storage.folder("Extras")
    assert sections(media(gwen)) == {
        "": ["Extras"],
        "Tide, season 1": ["tide.s01e02.mkv", "Tide S01E10.mkv"],
        "Tide, season 2": ["Tide S02E01.mkv"],
        "Films": ["Heat 1995.mkv"],
        "Music": ["b.mp3"],
        "Other files": ["notes.txt"],
    }


def test_an_episode_is_called_by_its_number_and_title(gwen, storage):
    named = storage.file("Tide.S01E01.The.Boat.Arrives.1080p.WEB-DL.x264-GROUP.mkv")
    bare, film = storage.file("Tide.S01E02.1080p.mkv"), storage.file("Heat.mkv")
    shown = media(gwen)

    def name_of(file):
        name = shown.select_one(f"#file-{file.id} .entry-name")
        return " ".join(name.get_text(" ").split()), name["title"]

    assert name_of(named) == ("Episode 1 · The Boat Arrives", named.name)
    assert name_of(bare) == ("Episode 2", bare.name)
    assert name_of(film) == ("Heat .mkv", film.name)
    listed = page(gwen.client.get("/", {"view": "grid"}))
    assert "S01E01" in listed.select_one(f"#file-{named.id} .entry-name").get_text()


def test_subtitles_beside_films_are_left_out(gwen, storage):
    film = storage.file("Tide.S01E01.mkv")
    subtitles = storage.file("Tide.S01E01.en.srt")
    assert sections(media(gwen)) == {"": [], "Tide, season 1": [film.name]}
    assert page(gwen.client.get("/", {"view": "list"})).select(f"#file-{subtitles.id}")
    shown = gwen.client.get(f"/files/0/file-{subtitles.id}/view/", {"view": "media"})
    assert shown.status_code == 200


def test_a_folder_of_subtitles_shows_them(gwen, storage):
    subtitles = storage.file("Tide.S01E01.en.srt")
    assert sections(media(gwen)) == {"": [], "Other files": [subtitles.name]}


def test_pictures_are_shown_by_day_the_latest_first(gwen, storage):
    today = timezone.localtime()
    for name, days in (("a.jpg", 1), ("b.jpg", 0), ("c.jpg", 1), ("d.jpg", 800)):
        moment = datetime(today.year, today.month, today.day, 12, tzinfo=today.tzinfo)
        at = (moment - timedelta(days=days)).astimezone(UTC)
        storage.file(name).facts["last_update"] = at.strftime("%Y-%m-%d %H:%M:%S")
    shown = sections(media(gwen))
    del shown[""]
    titles = list(shown)
    assert titles[:2] == ["Today", "Yesterday"]
    assert titles[2].endswith(str((today - timedelta(days=800)).year))
    assert [sorted(each) for each in shown.values()] == [["b.jpg"], ["a.jpg", "c.jpg"], ["d.jpg"]]


@each_case(
    "names, heading",
    [
        (["01x02.mkv"], "Season 1"),
        (["Season 3 Episode 4.mkv"], "Season 3"),
        (["Tide Episode 4.mkv"], "Tide"),
        (["Episode 4.mkv"], "Episodes"),
        (["Tide part 2.mkv"], "Films"),
    ],
)
def test_the_heading_says_what_the_names_say(names, heading, gwen, storage):
    for name in names:
        storage.file(name)
    assert sections(media(gwen)) == {"": [], heading: names}


def test_a_section_split_across_windows_has_one_heading(gwen, storage):
    storage.many(150)
    first = media(gwen)
    more = page(gwen.client.get(first.select_one("[hx-get*='/rows/']")["hx-get"]))
    assert len(first.select(".section")) == 1
    assert not more.select(".section")
    assert len(more.select(".tile[id]")) == 50


def test_the_next_film_is_the_one_begun_or_the_episode_after_the_last_one_watched(gwen, storage):
    films = [storage.file(f"Tide S01E0{number}.mkv") for number in (1, 2, 3)]
    other = storage.file("Heat.mkv")
    assert not media(gwen).select(".next-up")
    watch(gwen, films[0], 3590)
    assert "Tide S01E02" in words(gwen.client.get("/?view=media"), ".next-up")
    watch(gwen, films[1], 1200)
    assert "40 min left" in words(gwen.client.get("/?view=media"), ".next-up")
    link = media(gwen).select_one(".next-up a")["href"]
    assert link.startswith(f"/files/0/file-{films[1].id}/view/")
    watch(gwen, films[1], 3590)
    watch(gwen, films[2], 3590)
    assert not media(gwen).select(".next-up")
    watch(gwen, other, 600)
    assert "Heat" in words(gwen.client.get("/?view=media"), ".next-up")
    assert not media(gwen, q="tide").select(".next-up")


def test_a_series_that_is_over_hides_no_other(gwen, storage):
    begun = storage.file("Alpha S01E01.mkv")
    over = storage.file("Zeta S01E01.mkv")
    media(gwen)
    watch(gwen, begun, 1200)
    watch(gwen, over, 3590)
    assert "Alpha" in words(gwen.client.get("/?view=media"), ".next-up")


def test_a_preview_steps_in_the_same_order(gwen, storage):
    second, first = storage.file("A S01E02.mkv"), storage.file("b s01e01.mkv")
    early = storage.file("A S01E01.mkv")
    link = media(gwen).select_one(f"#file-{early.id} .entry")["href"]
    shown = page(gwen.client.get(link))
    assert f"file-{second.id}/" in shown.select_one("#next, [data-step=next]")["href"]
    assert first


def test_sections_ignore_other_sort_orders(gwen, storage):
    storage.file("a.txt")
    shown = media(gwen, sort="-size")
    assert not shown.select("[href*='sort=name']")
    back = shown.select_one("#view-list")["href"]
    assert page(gwen.client.get(back)).select_one("th.c-size")["aria-sort"] == "descending"
    answer = gwen.client.get("/files/0/listing/?view=media", headers={"HX-Request": "true"})
    assert words(answer, "#said") == "Sorted by season and day"


def test_pictures_are_on_the_day_on_which_they_were_taken(gwen, storage):
    for name, day in (("a.jpg", "2024-07-01"), ("b.jpg", "2024-07-02"), ("c.jpg", "2024-07-01")):
        storage.file(name).facts |= {"taken": f"{day} 23:59:59"}
    storage.file("odd.jpg").facts |= {"taken": "1950-01-01 00:00:00", "last_update": None}
    shown = sections(media(gwen))
    assert list(shown.values()) == [[], ["b.jpg"], ["a.jpg", "c.jpg"], ["odd.jpg"]]
    assert list(shown)[1:] == ["2 Jul 2024", "1 Jul 2024", "Pictures"]
