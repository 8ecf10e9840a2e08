"""Links for players that have no cookies."""

from datetime import timedelta
from urllib.parse import quote, urlsplit

import pytest
from django.utils import timezone

from host.logs import one_line
from tests.cases import each_case
from tests.people import Stranger, page, words
from tests.webui.contents.test_relayed_files import Reader, leave, streams
from webui import pruning
from webui.contents import relayed_files
from webui.library.entries import FILE, Entry
from webui.limiter import Limiter
from webui.models import Role, Share
from webui.shares import links

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}


@pytest.fixture
def vlc():
    """A player without cookies or a sign-in."""
    return Stranger(headers={"host": "localhost", "user-agent": "VLC/3.0.21"})


@pytest.fixture
def film(storage):
    return storage.file("Das Boot.mkv", b"a film")


def make(person, path, **headers):
    return person.client.post(f"/files/{path}/link/", headers=headers)


def path_in(answer):
    """Return the path of the link on the page."""
    assert answer.status_code == 200, words(answer, "main")
    return urlsplit(page(answer).select_one(".pairing input")["value"]).path


def is_sent(client, path):
    answer = client.get(path)
    leave(answer)
    return answer.status_code == 200


def list_in(answer):
    return page(answer).select_one("a.primary")["href"]


class TestMaking:
    def test_the_page_first_says_what_a_link_does(self, gwen, film):
        answer = gwen.client.get(f"/files/0/file-{film.id}/link/")
        assert "Play Das Boot.mkv on another device" in words(answer, "h1")
        assert "24 hours" in words(answer, "#share")
        assert not Share.objects.exists()

    def test_it_is_shown_once_with_its_end_and_as_a_picture(self, gwen, film):
        answer = make(gwen, f"0/file-{film.id}")
        assert page(answer).select_one("svg.qr path")["d"]
        assert "until" in words(answer, "#share")
        token = path_in(answer).split("/")[2]
        assert len(token) == 43
        assert token not in str(Share.objects.values())
        assert token not in gwen.client.get("/account/").content.decode()

    def test_under_htmx_a_dialog_is_returned(self, gwen, film):
        answer = make(gwen, f"0/file-{film.id}", **HTMX)
        assert path_in(answer)
        assert not page(answer).select_one("html")
        assert page(answer).select_one("form[method=dialog] #share-title")

    def test_a_file_that_is_not_there_gets_none(self, gwen, storage):
        assert make(gwen, "0/file-7").status_code == 404
        assert not Share.objects.exists()

    def test_a_folder_without_anything_to_play_gets_none(self, gwen, storage):
        folder = storage.folder("Papers")
        storage.file("a.pdf", b"x", folder.id)
        answer = make(gwen, f"0/folder-{folder.id}")
        assert answer.status_code == 422
        assert "doesn't contain any films or music" in words(answer, "#share .error")

    def test_the_number_of_links_per_person_is_limited(self, gwen, film):
        entry = Entry(FILE, str(film.id), film.name, 1, None)
        for _each in range(links.MOST_EACH):
            links.make(gwen.user, "x", entry, timezone.now())
        answer = make(gwen, f"0/file-{film.id}")
        assert answer.status_code == 422
        assert "already have 100 links" in words(answer, "#share .error")


class TestOpening:
    def test_the_bytes_come_through_the_site(self, gwen, foreign, vlc):
        film = foreign.file("Das Boot.mkv", b"0123456789")
        path = path_in(make(gwen, f"0/file-{film.id}"))
        answer = vlc.get(path, headers={"range": "bytes=2-4"})
        assert answer.status_code == 206
        assert b"".join(answer.streaming_content) == b"234"
        assert answer["Content-Type"] == "video/x-matroska"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert "Set-Cookie" not in answer
        leave(answer)

    def test_they_hold_slots(self, gwen, foreign, vlc, monkeypatch):
        film = foreign.file("Das Boot.mkv", b"0123456789")
        path = path_in(make(gwen, f"0/file-{film.id}"))
        # STREAMS_PER_PROCESS is read once, when the process starts.
        monkeypatch.setattr(relayed_files, "slots", Limiter(1, wait_seconds=0))
        streams(foreign, Reader(b"x"))
        first = vlc.get(path)
        assert vlc.get(path).status_code == 503
        leave(first)
        assert vlc.get(path).status_code == 200

    def test_head_is_answered(self, gwen, film, vlc):
        answer = vlc.head(path_in(make(gwen, f"0/file-{film.id}")))
        assert answer.status_code == 200
        leave(answer)

    def test_names_stay_readable_and_break_nothing(self, gwen, storage, vlc):
        film = storage.file("Ça va?#%00\u202e.mkv", b"x")
        path = path_in(make(gwen, f"0/file-{film.id}"))
        assert path.endswith(quote("Ça va?#%00_.mkv"))
        assert is_sent(vlc, path)

    @each_case("name", ["." * 9 + "mkv", "船" * 250 + ".mkv", "\U0001f6f3" * 250])
    def test_a_camera_reads_any_name(self, gwen, storage, vlc, name):
        film = storage.file(name, b"x")
        answer = make(gwen, f"0/file-{film.id}")
        assert page(answer).select_one("svg.qr path")["d"]
        assert is_sent(vlc, path_in(answer))

    def test_a_failing_service_is_reported_to_no_one(self, gwen, foreign, vlc):
        film = foreign.file("Das Boot.mkv", b"x")
        path = path_in(make(gwen, f"0/file-{film.id}"))
        foreign.fails(f"/rest/file/{film.id}", 500, "database at 10.0.0.8 is down")
        answer = vlc.get(path)
        assert answer.status_code == 503
        assert answer["Content-Type"].startswith("text/plain")
        assert b"database" not in answer.content


class TestLists:
    def test_a_link_to_a_file_lists_one_file(self, gwen, film, vlc):
        made = make(gwen, f"0/file-{film.id}")
        answer = vlc.get(list_in(made))
        assert answer["Content-Type"] == "audio/x-mpegurl; charset=utf-8"
        assert answer["Content-Disposition"] == 'attachment; filename="Das Boot.mkv.m3u"'
        host = "http://localhost"
        lines = answer.content.decode().splitlines()
        assert lines == ["#EXTM3U", "#EXTINF:-1,Das Boot.mkv", host + path_in_list(lines[2])]
        assert is_sent(vlc, path_in_list(lines[2]))

    def test_a_folder_lists_what_plays_in_order(self, gwen, storage, vlc):
        season = storage.folder("Season 1")
        for name in ("E10.mkv", "E2.mkv", "E2.srt", "cover.jpg", "notes.txt", "theme.mp3"):
            storage.file(name, b"x", season.id)
        asked = page(gwen.client.get(f"/files/{season.id}/link/"))
        made = gwen.client.post(
            asked.select_one("#share form").get("action", f"/files/{season.id}/link/")
        )
        path = path_in(made)
        assert path.endswith("/playlist/Season%201.m3u")
        assert words(made, "a.primary") == "Open in this device's player"
        listed = vlc.get(urlsplit(list_in(made)).path)
        assert listed["Content-Disposition"] == 'attachment; filename="Season 1.m3u"'
        lines = vlc.get(path).content.decode().splitlines()
        assert [line.partition(",")[2] for line in lines[1::2]] == [
            "E2.mkv",
            "E10.mkv",
            "theme.mp3",
        ]
        for line in lines[2::2]:
            assert is_sent(vlc, path_in_list(line))

    def test_the_open_folder_and_the_root_have_lists_as_well(self, gwen, film, storage, vlc):
        assert b"Das%20Boot" in vlc.get(path_in(make(gwen, "0"))).content

    def test_a_folders_link_opens_what_plays_in_it_and_nothing_else(self, gwen, storage, vlc):
        season, other = storage.folder("Season 1"), storage.folder("Other")
        inside = storage.file("E1.mkv", b"x", season.id)
        papers = storage.file("tax.pdf", b"x", season.id)
        outside = storage.file("E1.mkv", b"x", other.id)
        token = path_in(make(gwen, f"0/folder-{season.id}")).split("/")[2]
        assert is_sent(vlc, f"/s/{token}/{inside.id}/x")
        for file in (papers, outside):
            assert vlc.get(f"/s/{token}/{file.id}/x").status_code == 404
        late = storage.file("E2.mkv", b"x", season.id)
        assert is_sent(vlc, f"/s/{token}/{late.id}/x")

    def test_a_name_never_starts_a_log_line(self, gwen, storage, vlc):
        film = storage.file("a\u2028\u2029b.mkv", b"x")
        lines = vlc.get(list_in(make(gwen, f"0/file-{film.id}"))).content.decode().splitlines()
        assert len(lines) == 3


def path_in_list(line):
    return urlsplit(line).path


class TestEnding:
    @pytest.fixture
    def path(self, gwen, film, vlc):
        path = path_in(make(gwen, f"0/file-{film.id}"))
        assert is_sent(vlc, path)
        return path

    def test_a_link_is_listed_and_can_be_revoked(self, gwen, path, vlc):
        answer = gwen.client.get("/account/")
        assert "Das Boot.mkv" in words(answer, "#shares .rows")
        assert "For other players, until" in words(answer, "#shares .rows")
        revoke = page(answer).select_one("#shares a.btn")
        revoked = gwen.client.post(revoke["href"], follow=True)
        assert "Link revoked" in words(revoked, "#toasts")
        assert vlc.get(path).status_code == 404
        assert not page(gwen.client.get("/account/")).select_one("#shares")

    def test_people_cannot_revoke_links_of_others(self, bob, path, vlc):
        row = Share.objects.get()
        bob.client.post(f"/account/links/{row.pk}/revoke/")
        assert is_sent(vlc, path)
        assert not page(bob.client.get("/account/")).select_one("#shares")

    def test_it_ends_with_its_time_and_is_forgotten(self, path, vlc):
        later = timezone.now() + links.LIFETIME
        Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert vlc.get(path).status_code == 404
        pruning.prune(later)
        assert not Share.objects.exists()

    def test_a_new_password_ends_a_link_wherever_it_is_set(self, gwen, path, vlc):
        gwen.user.set_password("another one entirely")
        gwen.user.save()
        assert vlc.get(path).status_code == 404
        assert not links.list_valid(timezone.now(), user=gwen.user)

    def test_it_ends_with_its_person(self, gwen, path, vlc):
        gwen.user.delete()
        assert vlc.get(path).status_code == 404
        assert not Share.objects.exists()

    def test_it_rests_while_its_person_is_not_active(self, gwen, path, vlc):
        gwen.user.is_active = False
        gwen.user.save()
        assert vlc.get(path).status_code == 404

    def test_it_ends_with_its_file(self, film, storage, path, vlc):
        del storage.fake.items[film.id]
        assert vlc.get(path).status_code == 404

    def test_a_link_works_for_one_service_only(self, path, vlc):
        Share.objects.update(service="another")
        assert vlc.get(path).status_code == 404

    def test_a_role_takes_none_away(self, gwen, bob, film, vlc):
        path = path_in(make(bob, f"0/file-{film.id}"))
        bob.user.role = Role.GUEST
        bob.user.save()
        assert is_sent(vlc, path)

    def test_no_log_contains_the_secret(self, path):
        token = path.split("/")[2]
        assert token not in one_line(f"Not Found: {path}")
