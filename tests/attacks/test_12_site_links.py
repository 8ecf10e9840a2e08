"""Row 12, at the site: a link opens its target only for its person, and only for its time."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from tests.people import PASSWORD, page, signed_in
from tests.webui.media_host import MEDIA_URL, VARIANT, behind
from webui.connection import connection
from webui.models import Share
from webui.shares import links as share_links
from webui.streams import streams
from webui.streams.playlists import TargetKind
from webui.streams.streams import StreamTarget, encrypt
from webui.v1.records import Playable

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "a louder harbour at night"
SRT = b"1\n00:00:01,000 --> 00:00:02,000\nHello\n"


@pytest.fixture
def host(foreign, monkeypatch):
    found, service = behind(foreign)
    # No setting leads to a service in the test's own process.
    monkeypatch.setattr(connection, "_service_at", lambda _place: service)
    found.files = {"/film.m3u8": VARIANT, "/one.ts": b"one"}
    return found


def playlist_for(person):
    request = RequestFactory().get("/")
    request.user = person.user
    found = Playable(f"{MEDIA_URL}/film.m3u8")
    return streams.playable(request, found, "7", "hls", timezone.now())


@pytest.fixture(params=["playlist", "segment", "subtitles", "thumb", "zip", "download"])
def address(request, gwen, foreign, host):
    """Return a path that Gwen sees, one of each kind."""
    file = foreign.file("Film.srt", SRT)
    paths = {
        "subtitles": f"/files/0/file-7/subtitles/{file.id}.vtt",
        "thumb": f"/files/file/{file.id}/thumb/abc/",
        "zip": f"/files/folder/{foreign.folder('Films').id}/zip/",
        "download": f"/files/file/{file.id}/download/",
    }
    playlist = playlist_for(gwen)
    if request.param == "playlist":
        return playlist
    if request.param == "segment":
        return "/stream/" + gwen.client.get(playlist).content.decode().splitlines()[5]
    return paths[request.param]


def is_at_the_door(answer: HttpResponse) -> bool:
    return answer.status_code == 302 and "/signin/" in answer["Location"]


def opens(answer: HttpResponse) -> bool:
    """Return whether the link opens: this service has no thumbnail and answers 404 if asked."""
    return not is_at_the_door(answer) and answer.status_code in (200, 302, 404)


class TestOfThePage:
    """Links that need the person's cookie."""

    def test_nothing_opens_without_a_cookie(self, gwen, address, mallory):
        assert opens(gwen.client.get(address))
        assert is_at_the_door(mallory.get(address))

    def test_nothing_opens_after_signing_out(self, gwen, address):
        assert opens(gwen.client.get(address))
        gwen.client.post("/signout/")
        assert is_at_the_door(gwen.client.get(address))

    def test_nothing_opens_after_a_new_password_but_where_it_was_set(self, gwen, address):
        elsewhere = signed_in(gwen.user)
        assert opens(elsewhere.get(address))
        form = {"old_password": PASSWORD, "password": NEW_PASSWORD}
        form["password_again"] = NEW_PASSWORD
        assert gwen.client.post("/account/password/", form).status_code == 302
        assert is_at_the_door(elsewhere.get(address))
        assert opens(gwen.client.get(address))

    def test_nothing_opens_for_a_removed_person(self, gwen, address):
        assert opens(gwen.client.get(address))
        gwen.user.delete()
        assert is_at_the_door(gwen.client.get(address))


class TestOfAStream:
    def test_no_one_else_can_use_the_playlist(self, gwen, alice, bob, host):
        path = playlist_for(gwen)
        assert gwen.client.get(path).status_code == 200
        for other in (alice, bob):
            assert other.client.get(path).status_code == 404

    def test_it_is_of_no_other_service(self, gwen, host):
        path = playlist_for(gwen)
        assert gwen.client.get(path).status_code == 200
        part = StreamTarget(TargetKind.PLAYLIST, f"{MEDIA_URL}/film.m3u8", 2**33)
        other = encrypt(part, [str(gwen.user.pk).encode(), b"another service"])
        assert gwen.client.get(f"/stream/{other}").status_code == 404

    @pytest.mark.parametrize(
        "tail",
        ["/../film.m3u8", "/..%2f..%2frest/user", "%2e%2e/", "/", "?url=http://127.0.0.1/", "#x"],
    )
    def test_nothing_can_be_added_to_it(self, gwen, foreign, host, tail):
        path = playlist_for(gwen)
        before = len(host.requests)
        answer = gwen.client.get(path + tail)
        assert answer.status_code in (200, 404)
        assert {found.partition("?")[0] for found in host.paths[before:]} <= {"/film.m3u8"}
        assert not foreign.calls

    @pytest.mark.parametrize(
        "line",
        [
            "../../../rest/user",
            "/rest/../../../etc/passwd",
            "https://v1.example/rest/folder/../user",
            "%2e%2e/%2e%2e/rest/user",
        ],
    )
    def test_dots_in_a_segment_stay_on_the_same_host(self, gwen, foreign, host, line):
        """To the service itself, Ferry sends no credentials with such a path."""
        host.files["/film.m3u8"] = f"#EXTM3U\n#EXTINF:1,\n{line}\n"
        address = gwen.client.get(playlist_for(gwen)).content.decode().splitlines()[2]
        sent = []
        foreign.fake.handle_request = lambda request: sent.append(request) or httpx.Response(404)
        gwen.client.get(f"/stream/{address}")
        for request in sent:
            has_dots = ".." in request.url.path
            assert not (has_dots and "authorization" in request.headers)
        assert bool(sent) == ("v1.example" in line)

    def test_a_deleted_segment_is_not_found(self, gwen, host):
        path = playlist_for(gwen)
        segment = "/stream/" + gwen.client.get(path).content.decode().splitlines()[5]
        assert gwen.client.get(segment).status_code == 200
        del host.files["/one.ts"]
        assert gwen.client.get(segment).status_code == 404


class TestOfALinkForPlayers:
    """Links that need no cookie: the link alone grants access."""

    @pytest.fixture
    def film(self, storage):
        return storage.file("Film.mkv", b"a film")

    @pytest.fixture(params=["file", "list", "folder"])
    def path(self, request, gwen, storage, film):
        entry = "0/link/" if request.param == "folder" else f"0/file-{film.id}/link/"
        answer = gwen.client.post(f"/files/{entry}")
        shown = page(answer)
        if request.param == "file":
            return urlsplit(shown.select_one(".pairing input")["value"]).path
        return shown.select_one("a.primary")["href"]

    @pytest.fixture
    def vlc(self):
        return Client(headers={"host": "localhost"})

    def is_open(self, vlc, path):
        return vlc.get(path).status_code in (200, 302)

    def test_it_outlives_the_session_that_made_it(self, gwen, path, vlc):
        gwen.client.post("/signout/")
        assert self.is_open(vlc, path)

    @pytest.mark.parametrize("what", ["password", "person", "link", "file", "time", "service"])
    def test_a_link_ends_when_its_basis_ends(  # noqa: PLR0917  Fixtures.
        self, gwen, storage, film, path, vlc, what
    ):
        assert self.is_open(vlc, path)
        if what == "password":
            gwen.user.set_password(NEW_PASSWORD)
            gwen.user.save()
        elif what == "person":
            gwen.user.delete()
        elif what == "link":
            assert share_links.revoke(Share.objects.get())
        elif what == "file":
            del storage.fake.items[film.id]
            storage.fake.revision += 1
            if "/playlist/Film" in path:
                path = re.findall(r"/s/\S+", vlc.get(path).content.decode())[0]
        elif what == "time":
            Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        else:
            Share.objects.update(service="another")
        assert vlc.get(path).status_code == 404

    def test_a_guessed_link_opens_nothing(self, path, vlc):
        token = path.split("/")[2]
        assert self.is_open(vlc, path)
        for guess in (token[:-1], token + "A", token.lower(), token[::-1], "x", "%00", "..", "é"):
            assert vlc.get(path.replace(token, guess)).status_code in (301, 404)

    def test_it_opens_no_other_file(self, storage, film, path, vlc):
        other = storage.file("Secret.pdf", b"x")
        token = path.split("/")[2]
        assert self.is_open(vlc, f"/s/{token}/{film.id}/x")
        for guess in (
            str(other.id),
            str(10**6),
            "0",
            "..",
            "%2e%2e",
            f"{film.id}%2f..%2f{other.id}",
        ):
            assert vlc.get(f"/s/{token}/{guess}/x").status_code == 404

    def test_a_link_opens_only_its_own_items(self, path, vlc):
        assert self.is_open(vlc, path)
        for elsewhere in ("/", "/account/", "/files/0/", "/transfers/"):
            assert is_at_the_door(vlc.get(elsewhere))
        assert vlc.post(path).status_code == 405

    def test_only_signed_in_people_can_create_a_link(self, film, mallory):
        assert is_at_the_door(mallory.post(f"/files/0/file-{film.id}/link/"))
        assert not Share.objects.exists()

    def test_a_get_request_creates_no_link(self, gwen, film):
        answer = gwen.client.get(f"/files/0/file-{film.id}/link/")
        assert answer.status_code == 200
        assert not Share.objects.exists()
