"""HLS and MP4 through v1: requested with credentials, then read with signed links alone."""

import io
import re
from urllib.parse import urlsplit

import av
import pytest

from service.errors import Busy
from service.library import library
from service.media.content_folders import Content
from service.media.hls import films
from service.media.work import MediaWork
from service.models import Media
from tests.service.api.reading import word
from tests.service.builders import NOW, a_file, put
from tests.service.media import samples
from tests.service.media.waiting import wait_until
from tests.service.media.working import working

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def worker(library_folder, settings, children):
    with working(settings.DATA_DIR, children) as made:
        yield made


@pytest.fixture
def keep(account, library_folder):
    def keep(path, name=None):
        with path.open("rb") as stream:
            return a_file(account, name or path.name, blob=library_folder.put(stream))

    return keep


def path_of(answer) -> str:
    assert answer.status_code == 200, answer.text
    parts = urlsplit(answer.json()["url"])
    return parts.path + (f"?{parts.query}" if parts.query else "")


@pytest.fixture(scope="module")
def rich():
    """Return a film with two audio tracks and two subtitle tracks."""
    words = samples.place("rich.srt")
    words.write_text("1\n00:00:01,000 --> 00:00:03,000\nLand <b>in</b> sight & <script>x\n")
    path = samples.place("rich.mkv")
    samples.run(
        *samples.raw(20), "-f", "lavfi", "-i", "sine=880:r=48000:d=20", "-i", str(words),
        *("-map", "0", "-map", "1", "-map", "2", "-map", "3", "-map", "3"),
        *(*samples.X264, "-g", "50", *samples.AAC, "-c:s:0", "srt", "-c:s:1", "srt"),
        *("-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu"),
        *("-metadata:s:a:1", 'title=Von "hier"'),
        *("-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=fre", str(path)),
    )  # fmt: skip
    return path


def test_the_answer_names_the_playlist_in_its_body_and_its_head(api, keep, worker, rich):
    answer = api.get(f"/rest/file/{keep(rich).pk}/hls")
    facts = answer.json()
    assert facts == {"result": True, "code": 200, "url": answer.headers["location"]}
    assert facts["url"].startswith("http://")
    assert facts["url"].endswith("/master.m3u8")


def test_the_first_segments_are_made_before_a_player_asks(api, keep, worker, rich):
    file = keep(rich)
    api.get(f"/rest/file/{file.pk}/hls")
    folder = Content(file.sha1, file.size_bytes).folder / "hls"
    for name in ("vcopy", "a1copy"):
        wait_until((folder / name / "0.m4s").exists)
    assert not (folder / "a2copy" / "0.m4s").exists()


@pytest.mark.parametrize("kind", ["hls", "mp4"])
def test_every_client_gets_json_and_a_location(api, keep, worker, rich, kind):
    """Many clients send no `Accept`, and would follow a redirect to a playlist or a film."""
    path = f"/rest/file/{keep(rich).pk}/{kind}"
    # While a film is converted, each answer differs from the one before.
    wait_until(lambda: "converting" not in api.get(path).json())
    answers = {
        name: api.get(path, headers={"accept": name}) for name in ("*/*", "application/json")
    }
    del api.headers["accept"]
    answers["none"] = api.get(path)
    for answer in answers.values():
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert answer.json()["url"] == answer.headers["location"]
        assert answer.json().keys() == answers["*/*"].json().keys()


@pytest.mark.promise("a playlist names all tracks")
def test_the_master_playlist_says_all_there_is(api, keep, worker, rich, reader):
    answer = reader.get(path_of(api.get(f"/rest/file/{keep(rich).pk}/hls")))
    assert answer.headers["content-type"] == "application/vnd.apple.mpegurl"
    lines = answer.text.splitlines()
    assert lines[0] == "#EXTM3U"
    english, german = [line for line in lines if "TYPE=AUDIO" in line]
    assert 'NAME="English",LANGUAGE="en",DEFAULT=YES' in english
    assert 'NAME="Von  hier",LANGUAGE="de",DEFAULT=NO' in german
    assert next(line for line in lines if "TYPE=SUBTITLES" in line).endswith(
        'NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,URI="t3/index.m3u8"'
    )
    (stream,) = [line for line in lines if line.startswith("#EXT-X-STREAM-INF")]
    assert re.search(r'CODECS="avc1\.64[0-9a-f]{4},mp4a\.40\.2"', stream)
    assert "RESOLUTION=320x180,FRAME-RATE=25.000" in stream
    bits = int(re.search(r"BANDWIDTH=(\d+)", stream)[1])
    assert bits * 20 / 8 > rich.stat().st_size * 0.7
    assert lines[-1] == "vcopy/index.m3u8"


def test_a_media_playlist_is_complete_from_the_first_answer(api, keep, worker, rich, reader):
    master = path_of(api.get(f"/rest/file/{keep(rich).pk}/hls"))
    playlist = reader.get(master.replace("master", "vcopy/index"))
    durations = [float(each) for each in re.findall(r"#EXTINF:([\d.]+),", playlist.text)]
    assert sum(durations) == pytest.approx(20, abs=0.1)
    assert "#EXT-X-PLAYLIST-TYPE:VOD" in playlist.text
    assert playlist.text.endswith("#EXT-X-ENDLIST\n")
    assert max(durations) <= int(re.search(r"TARGETDURATION:(\d+)", playlist.text)[1])


@pytest.mark.promise("segments come by parts")
def test_segments_come_with_their_type_and_by_parts(api, keep, worker, rich, reader):
    master = path_of(api.get(f"/rest/file/{keep(rich).pk}/hls"))
    for name, content_type in (
        ("vcopy/init.mp4", "video/mp4"),
        ("vcopy/0.m4s", "video/mp4"),
        ("a1copy/1.m4s", "audio/mp4"),
        ("t3/0.vtt", "text/vtt; charset=utf-8"),
    ):
        answer = reader.get(master.replace("master.m3u8", name))
        assert (answer.status_code, answer.headers["content-type"]) == (200, content_type)
    part = reader.get(master.replace("master.m3u8", "vcopy/0.m4s"), headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"moof")


def test_text_is_escaped_whatever_it_contains(api, keep, worker, rich, reader):
    master = path_of(api.get(f"/rest/file/{keep(rich).pk}/hls"))
    text = reader.get(master.replace("master.m3u8", "t3/0.vtt")).text
    assert text.startswith("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:90000\n")
    assert "00:00:01.000 --> 00:00:03.000\nLand <b>in</b> sight &amp;" in text
    assert "<script" not in text


@pytest.fixture(scope="module")
def pictured(rich):
    """Return `rich` with its second subtitles labeled as those of a Blu-ray, which are pictures."""
    path, text = samples.place("pictured.mkv"), b"S_TEXT/UTF8"
    before, words, after = rich.read_bytes().split(text)[:3]
    path.write_bytes(text.join([before, words]) + b"S_HDMV/PGS\0" + after)
    return path


def test_subtitles_that_are_pictures_are_part_of_another_stream(
    api, keep, worker, reader, pictured
):
    answer = api.get(f"/rest/file/{keep(pictured).pk}/hls")
    (hidden,) = answer.json()["subtitles_not_shown"]
    burned = urlsplit(hidden.pop("url")).path
    facts = {"language": "fre", "title": "", "codec": "hdmv_pgs_subtitle", "name": "Français"}
    assert hidden == facts
    playlist = reader.get(path_of(answer)).text
    assert "## Not shown: Français, hdmv_pgs_subtitle" in playlist
    assert playlist.count("TYPE=SUBTITLES") == 1
    assert playlist.endswith("vcopy/index.m3u8\n")
    assert reader.get(burned).text.endswith("v480s4/index.m3u8\n")
    for wrong in ("burned-3.m3u8", "burned-04.m3u8", "v480s3/index.m3u8"):
        assert reader.get(burned.replace("burned-4.m3u8", wrong)).status_code == 404


def test_files_that_are_not_films_are_refused_at_once_and_permanently(
    api, account, library_folder, worker
):
    file = a_file(account, "film.mp4", blob=put(library_folder, b"no film at all"))
    assert word(api.get(f"/rest/file/{file.pk}/hls")) == (422, "cannot_convert")
    worker.stop()
    for kind in ("hls", "mp4"):
        answer = api.get(f"/rest/file/{file.pk}/{kind}")
        assert word(answer) == (422, "cannot_convert")
        assert answer.json()["message"]


def test_without_a_worker_it_says_so(api, keep):
    file = keep(samples.film("bare.mkv", seconds=2))
    answer = api.get(f"/rest/file/{file.pk}/hls")
    assert word(answer) == (503, "no_worker")
    assert answer.headers["retry-after"]


def test_existing_segments_are_served_without_a_worker(api, keep, worker, rich, reader):
    file = keep(rich)
    master = path_of(api.get(f"/rest/file/{file.pk}/hls"))
    first = master.replace("master.m3u8", "vcopy/0.m4s")
    assert reader.get(first).status_code == 200
    worker.stop()
    wait_until(lambda: reader.get(first.replace("vcopy/0", "a2copy/0")).status_code == 503)
    assert reader.get(first).status_code == 200


# MP4


def test_an_mp4_that_every_phone_plays_is_the_file_itself(api, keep, worker, reader):
    path = samples.film(
        "fast.mp4", *samples.X264, *samples.AAC, "-movflags", "+faststart", seconds=4
    )
    answer = api.get(f"/rest/file/{keep(path, 'A film.bin').pk}/mp4")
    assert set(answer.json()) == {"result", "code", "url"}
    read = reader.get(path_of(answer))
    assert read.content == path.read_bytes()
    assert read.headers["content-type"] == "video/mp4"


@pytest.mark.promise("a film becomes an MP4", cases=["slow.mp4-codecs0"])
@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("name", "codecs"),
    [
        ("slow.mp4", ()),
        ("copied.mkv", ()),
        ("half.mkv", (*samples.X264, "-c:a", "ac3")),
        ("encoded.avi", ("-c:v", "mpeg4", "-c:a", "ac3")),
    ],
)
def test_anything_else_is_converted_to_one(api, keep, reader, name, codecs):
    file = keep(samples.film(name, *codecs, seconds=4))
    answer = api.get(f"/rest/file/{file.pk}/mp4")
    facts, link = answer.json(), path_of(answer)
    assert facts["converting"] is True
    assert 0 <= facts["progress"] < 100
    waiting = reader.get(link)
    assert waiting.status_code == 200 or waiting.headers["retry-after"]
    wait_until(lambda: reader.get(link).status_code == 200)
    assert set(api.get(f"/rest/file/{file.pk}/mp4").json()) == {"result", "code", "url"}
    film = reader.get(link).content
    assert film.index(b"moov") < film.index(b"mdat")
    assert codecs_in(film) == ["h264", "aac"]
    part = reader.get(link, headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"ftyp")


def codecs_in(film: bytes) -> list[str]:
    with av.open(io.BytesIO(film)) as container:
        return [each.codec_context.codec.canonical_name for each in container.streams]


@pytest.mark.parametrize("answer", [{"is_ready": False, "progress": 99.9}, None])
def test_an_mp4_that_becomes_ready_while_the_worker_responds_is_not_refused(
    api, keep, worker, reader, answer
):
    file = keep(samples.film("almost.mkv", seconds=2))
    place = films.folder_of(Content(file.sha1, file.size_bytes)) / films.FILM

    def film(_question, _has_left):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"a film")
        if answer is None:
            raise Busy
        return answer

    worker.server.register(1, film=film)
    answer = api.get(f"/rest/file/{file.pk}/mp4")
    assert (answer.status_code, set(answer.json())) == (200, {"result", "code", "url"})
    place.unlink()
    assert reader.get(path_of(answer)).content == b"a film"


@pytest.mark.promise("a film is converted on request")
def test_a_requested_film_is_made_by_the_next_worker(api, keep, worker, settings, children):
    file = keep(samples.film("later.avi", "-c:v", "mpeg4", "-c:a", "ac3", seconds=4))
    jobs = [worker.jobs.converting() for _ in range(worker.jobs.most)]
    for each in jobs:
        each.__enter__()
    assert '"progress":0}' in api.get(f"/rest/file/{file.pk}/mp4").text
    worker.stop()
    place = films.folder_of(Content(file.sha1, file.size_bytes)) / films.FILM
    assert not place.exists()
    wait_until(lambda: not (settings.DATA_DIR / "media.sock").exists())
    with working(settings.DATA_DIR, children):
        wait_until(place.exists)


def test_a_deleted_film_is_not_found(api, account, keep, worker, reader):
    file = keep(samples.film("bare.mkv", seconds=2))
    links = [path_of(api.get(f"/rest/file/{file.pk}/{kind}")) for kind in ("hls", "mp4")]
    assert reader.get(links[0]).status_code == 200
    library.delete_file(account, file.pk, NOW)
    assert [reader.get(link).status_code for link in links] == [404, 404]


def test_new_films_are_looked_at_before_anybody_asks(keep, worker: MediaWork):
    file = keep(samples.film("new.ts", seconds=4))
    worker.probe_once()
    assert Media.objects.get().kind == "video"
    plan = Content(file.sha1, file.size_bytes).folder / "hls" / "plan.json"
    wait_until(lambda: plan.exists() and '"vcopy"' in plan.read_text())


def test_a_listing_names_the_playlist_of_a_film_that_was_looked_at(api, keep, worker, reader):
    keep(samples.film("bare.mkv", seconds=2))
    assert playlists(api) == {}
    worker.probe_once()
    stream = urlsplit(playlists(api)["hls"])
    assert f"{stream.scheme}://{stream.netloc}" == "http://localhost"
    assert reader.get(stream.path).text.startswith("#EXTM3U\n")


def playlists(api) -> dict[str, str]:
    (file,) = api.get("/rest/folder").json()["files"]
    return file["presentation_urls"]["video"]
