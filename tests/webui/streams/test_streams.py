"""Films of a foreign service, which reach the browser only through the site."""

from datetime import timedelta

import httpx
import pytest
from django.test import RequestFactory
from django.utils import timezone

from tests.webui.contents.test_relayed_files import leave
from tests.webui.media_host import MASTER, MEDIA_URL, VARIANT, behind
from tests.webui.service import EMAIL, PASSWORD
from webui.connection import connection
from webui.contents import relayed_files
from webui.http.requests import service_of
from webui.limiter import Limiter
from webui.streams import streams
from webui.streams.playlists import TargetKind
from webui.streams.streams import StreamTarget, encrypt
from webui.v1.errors import Failure, Unreadable
from webui.v1.network.address import Credentials
from webui.v1.records import Playable

pytestmark = pytest.mark.django_db
SEGMENT = bytes(range(256)) * 40


@pytest.fixture
def host(foreign, monkeypatch):
    found, service = behind(foreign)
    # For the reason that `storage` gives; this service's media come from a host of the test.
    monkeypatch.setattr(connection, "_service_at", lambda _place: service)
    found.files = {
        "/film/master.m3u8": MASTER,
        "/film/low/index.m3u8": VARIANT,
        "/film/low/one.ts": SEGMENT,
        "/film/low/key.bin": b"k" * 16,
        "/film/low/init.mp4": b"init",
        "/other/two.ts": b"two",
        "/film/film.mp4": SEGMENT,
    }
    return found


@pytest.fixture
def film(foreign):
    return foreign.file("film.mkv").id


def asking(person):
    """Return a request like the one that the player's view gets."""
    request = RequestFactory().get("/")
    request.user = person.user
    return request


def address_of(person, film, kind="hls", now=None):
    request = asking(person)
    found = getattr(service_of(request).v1, kind)(str(film))
    return streams.playable(request, found, str(film), kind, now or timezone.now())


def says(foreign, film, answer, kind="hls"):
    foreign.says(f"/rest/file/{film}/{kind}", *[answer] * 9)


def points_to(url):
    return httpx.Response(200, json={"result": True, "url": url})


def lines(answer):
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/vnd.apple.mpegurl"
    return answer.content.decode().splitlines()


def below(address, line):
    return address.rpartition("/")[0] + "/" + line


def uri_in(line):
    return line.partition('URI="')[2].partition('"')[0]


def body(answer):
    content = b"".join(answer.streaming_content)
    leave(answer)
    return content


@pytest.fixture
def playing(gwen, foreign, host, film):
    """The variant's address and its lines, found the same way as a player finds them."""
    says(foreign, film, points_to(f"{MEDIA_URL}/film/master.m3u8"))
    master = address_of(gwen, film)
    variant = below(master, lines(gwen.client.get(master))[5])
    return variant, lines(gwen.client.get(variant))


class TestAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            points_to(f"{MEDIA_URL}/film/master.m3u8"),
            httpx.Response(200, json={"data": {"video": {"url": f"{MEDIA_URL}/film/master.m3u8"}}}),
            httpx.Response(302, headers={"location": f"{MEDIA_URL}/film/master.m3u8"}),
        ],
    )
    def test_json_and_redirects_lead_to_the_playlist(self, gwen, foreign, host, film, answer):
        says(foreign, film, answer)
        found = lines(gwen.client.get(address_of(gwen, film)))
        assert len(found) == len(MASTER.splitlines())
        assert "example" not in "".join(found)

    def test_a_playlist_that_the_service_sends_itself_is_read_from_there(
        self, gwen, foreign, host, film
    ):
        says(foreign, film, httpx.Response(200, text=MASTER))
        assert "example" not in "".join(lines(gwen.client.get(address_of(gwen, film))))

    def test_an_mp4_is_streamed_with_ranges(self, gwen, foreign, host, film):
        says(foreign, film, points_to(f"{MEDIA_URL}/film/film.mp4"), "mp4")
        address = address_of(gwen, film, "mp4")
        answer = gwen.client.get(address, headers={"range": "bytes=100-199"})
        assert (answer.status_code, answer["Content-Range"]) == (206, "bytes 100-199/10240")
        assert body(answer) == SEGMENT[100:200]

    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1/x.m3u8",
            "http://10.0.0.8/x.m3u8",
            "http://[::1]/x.m3u8",
            "http://169.254.169.254/x",
            "http://router/x",
            "https://me:word@media.example/x",
        ],
    )
    def test_a_response_that_points_to_a_private_address_is_refused(
        self, gwen, foreign, host, film, url
    ):
        assert streams.playable(asking(gwen), Playable(MEDIA_URL), "7", "hls", timezone.now())
        with pytest.raises(Unreadable):
            streams.playable(asking(gwen), Playable(url), "7", "hls", timezone.now())

    def test_a_film_without_a_url_does_not_play(self, gwen, host):
        with pytest.raises(Failure):
            streams.playable(asking(gwen), Playable(), "7", "mp4", timezone.now())


class TestPlaying:
    def test_segments_keys_and_maps_come_through_the_site(self, gwen, host, playing):
        variant, found = playing
        key, begin, first, second = found[2], found[3], found[5], found[7]
        assert body(gwen.client.get(below(variant, first))) == SEGMENT
        assert body(gwen.client.get(below(variant, second))) == b"two"
        assert body(gwen.client.get(below(variant, uri_in(key)))) == b"k" * 16
        assert body(gwen.client.get(below(variant, uri_in(begin)))) == b"init"
        assert host.paths[-4:] == [
            "/film/low/one.ts",
            "/other/two.ts?sig=x%2Fy",
            "/film/low/key.bin",
            "/film/low/init.mp4",
        ]

    def test_a_range_is_passed_on(self, gwen, playing):
        variant, found = playing
        answer = gwen.client.get(below(variant, found[5]), headers={"range": "bytes=5-9"})
        assert answer.status_code == 206
        assert body(answer) == SEGMENT[5:10]

    def test_the_media_host_learns_nothing_of_anybody(self, gwen, host, playing):
        variant, found = playing
        headers = {"range": "bytes=0-9", "referer": "http://localhost/files/", "x-mine": "mine"}
        assert body(gwen.client.get(below(variant, found[5]), headers=headers))
        token = Credentials(EMAIL, PASSWORD).token
        assert host.requests
        for request in host.requests:
            assert set(request.headers) <= {
                *("host", "user-agent", "accept", "accept-encoding", "connection", "range")
            }
            assert request.headers["user-agent"] == "Ferry"
            assert token not in str(request.headers)

    def test_the_service_itself_is_sent_the_credentials_below_rest_only(
        self, gwen, foreign, host, film, monkeypatch
    ):
        asked = []
        answer = foreign.fake.handle_request
        # The fake's list of calls contains no headers.
        monkeypatch.setattr(
            foreign.fake, "handle_request", lambda request: asked.append(request) or answer(request)
        )
        text = "#EXTM3U\n#EXTINF:1,\n/rest/file/7/part\n#EXTINF:1,\n/content/file/7\n"
        says(foreign, film, httpx.Response(200, text=text))
        address = address_of(gwen, film)
        for line in lines(gwen.client.get(address))[2::2]:
            gwen.client.get(below(address, line))
        sent = {request.url.path: "authorization" in request.headers for request in asked}
        assert sent["/rest/file/7/part"]
        assert not sent["/content/file/7"]

    def test_addresses_stay_the_same_when_a_playlist_is_read_again(self, gwen, playing):
        variant, found = playing
        assert lines(gwen.client.get(variant)) == found

    def test_relative_addresses_follow_a_redirect(self, gwen, foreign, host, film):
        host.files["/old.m3u8"] = httpx.Response(302, headers={"location": "/film/low/index.m3u8"})
        says(foreign, film, points_to(f"{MEDIA_URL}/old.m3u8"))
        address = address_of(gwen, film)
        first = lines(gwen.client.get(address))[5]
        assert body(gwen.client.get(below(address, first))) == SEGMENT

    @pytest.mark.parametrize(
        "location",
        ["http://127.0.0.1/", "http://10.0.0.8/", "file:///etc/passwd", "gopher://media.example/"],
    )
    @pytest.mark.parametrize("path", ["/film/low/index.m3u8", "/film/low/one.ts"])
    def test_each_redirect_is_checked_again(self, gwen, host, playing, path, location):
        variant, found = playing
        asked = variant if path.endswith("m3u8") else below(variant, found[5])
        host.files[path] = httpx.Response(302, headers={"location": location})
        assert gwen.client.get(asked).status_code == 502

    @pytest.mark.parametrize(
        "line",
        [
            "file:///etc/passwd",
            "http://127.0.0.1:8000/x.ts",
            "http://192.168.1.1/x.ts",
            "http://2130706433/x.ts",
            "http://localhost/x.ts",
            "data:text/plain,x",
            "javascript:alert(1)",
            "//u:p@media.example/x.ts",
            "https://media.example\\@evil.example/x.ts",
            "{$host}/x.ts" + "a" * 6000,
        ],
    )
    def test_a_playlist_with_private_urls_is_refused_completely(self, gwen, host, playing, line):
        variant, _found = playing
        for content in (f"#EXTINF:1,\n{line}\n", f'#EXT-X-KEY:METHOD=AES-128,URI="{line}"\n'):
            host.files["/film/low/index.m3u8"] = VARIANT + content
            answer = gwen.client.get(variant)
            assert answer.status_code == 502
            assert b"passwd" not in answer.content

    def test_a_playlist_that_names_itself_ends_at_the_second_level(self, gwen, foreign, host, film):
        loop = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nloop.m3u8\n"
        host.files["/film/loop.m3u8"] = loop
        says(foreign, film, points_to(f"{MEDIA_URL}/film/loop.m3u8"))
        first = address_of(gwen, film)
        second = below(first, lines(gwen.client.get(first))[2])
        assert gwen.client.get(second).status_code == 502

    def test_a_part_is_never_a_page_of_ours(self, gwen, host, playing):
        variant, found = playing
        host.files["/film/low/one.ts"] = httpx.Response(
            200, html="<script>alert(1)</script>", headers={"set-cookie": "a=b", "x-more": "y"}
        )
        answer = gwen.client.get(below(variant, found[5]))
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer["Content-Disposition"].startswith("attachment")
        assert "a" not in answer.cookies
        assert "X-More" not in answer
        leave(answer)

    def test_a_playlist_of_a_gigabyte_is_not_read(self, gwen, host, playing):
        variant, _found = playing
        given = []

        def endless():
            for _piece in range(16_384):
                given.append(1)
                yield b"#" * 65_536

        host.files["/film/low/index.m3u8"] = httpx.Response(200, content=endless())
        assert gwen.client.get(variant).status_code == 502
        assert len(given) < 100

    def test_streams_hold_slots_and_playlists_give_them_back(
        self, gwen, host, playing, monkeypatch
    ):
        variant, found = playing
        # STREAMS_PER_PROCESS is read once, when the process starts.
        monkeypatch.setattr(relayed_files, "slots", Limiter(1, wait_seconds=0))
        first = gwen.client.get(below(variant, found[5]))
        assert gwen.client.get(below(variant, found[7])).status_code == 503
        assert gwen.client.get(variant).status_code == 503
        leave(first)
        assert gwen.client.get(variant).status_code == 200
        host.files.clear()
        for address in (variant, below(variant, found[5])):
            assert gwen.client.get(address).status_code in (404, 502)
        assert relayed_files.slots.take()


class TestAddresses:
    def test_an_address_is_for_one_person(self, gwen, bob, playing):
        variant, _found = playing
        assert gwen.client.get(variant).status_code == 200
        assert bob.client.get(variant).status_code == 404

    def test_an_address_dies_with_its_time(self, gwen, foreign, host, film):
        says(foreign, film, points_to(f"{MEDIA_URL}/film/master.m3u8"))
        late = timezone.now() - streams.LIFETIME + timedelta(seconds=60)
        assert gwen.client.get(address_of(gwen, film, now=late)).status_code == 200
        gone = timezone.now() - streams.LIFETIME - timedelta(seconds=1)
        assert gwen.client.get(address_of(gwen, film, now=gone)).status_code == 404

    def test_addresses_in_a_playlist_end_with_it(self, gwen, foreign, host, film):
        says(foreign, film, points_to(f"{MEDIA_URL}/film/master.m3u8"))
        request = asking(gwen)
        master = address_of(gwen, film)
        line = lines(gwen.client.get(master))[5]
        reader, now = streams.reader_of(request), timezone.now()
        ends = {streams.decrypt(word, reader, now).expires_at for word in (line, master[8:])}
        assert len(ends) == 1

    def test_a_tampered_link_belongs_to_no_one(self, gwen, playing):
        variant, _found = playing
        for place in range(8, len(variant), 7):
            # Change a high bit: the lowest bits of the last letter encode nothing.
            other = "A" if variant[place] != "A" else "Q"
            assert (
                gwen.client.get(variant[:place] + other + variant[place + 1 :]).status_code == 404
            )

    @pytest.mark.parametrize("token", ["x", "..", "%2e%2e", "%00", "é", "A" * 4000, "AAAA="])
    def test_unknown_streams_are_not_found(self, gwen, token):
        assert gwen.client.get(f"/stream/{token}").status_code in (301, 404)

    def test_an_address_says_nothing_of_where_it_leads(self, gwen):
        token = encrypt(
            StreamTarget(TargetKind.PART, "https://media.example/secret", 2**33),
            [b"1", b"s"],
        )
        assert "media" not in token
        assert token.isascii()
