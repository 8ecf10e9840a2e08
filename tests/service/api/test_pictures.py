from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

from config.embedded import upstream
from config.wsgi import application
from service.accounts import accounts
from service.library import library
from service.media import probing
from service.media.content_folders import Content
from service.models import Media
from tests.cases import each_case
from tests.service.api.conftest import PASSWORD
from tests.service.api.reading import word
from tests.service.builders import NOW, a_file, put
from tests.service.media.samples import picture, short_film, shown
from tests.service.media.working import working

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(library_folder, settings, children):
    with working(settings.DATA_DIR, children) as made:
        yield made


@pytest.fixture
def keep(account, library_folder):
    return lambda content, name="a.jpg": a_file(account, name, blob=put(library_folder, content))


@pytest.fixture
def visitor():
    """Yield a client that has links and no credentials."""
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL) as client:
        yield client


def row(api) -> dict:
    (found,) = api.get("/rest/folder").json()["files"]
    return found


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_a_thumbnail_is_made_on_request(api, keep, worker):
    file = keep(picture(400, 300))
    for path in (f"/rest/file/{file.pk}/thumbnail", f"/rest/{file.pk}/thumbnail"):
        answer = api.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/jpeg"
        assert shown(answer.content).size == (32, 24)


def test_a_preview_is_1600_at_most(api, keep, worker):
    file = keep(picture(2000, 4000))
    assert shown(api.get(f"/rest/file/{file.pk}/image").content).size == (800, 1600)


def test_a_film_shows_a_frame(api, keep, worker):
    file = keep(short_film("mkv"), "film.mkv")
    assert shown(api.get(f"/rest/file/{file.pk}/image").content).size == (320, 240)


@each_case(
    ("content", "name"),
    [
        (b"words", "a.txt"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "a.svg"),
        (b"<html><script>alert(1)</script>", "a.jpg"),
        (b"", "empty.png"),
    ],
)
def test_a_missing_picture_is_reported(content, name, api, keep, worker):
    file = keep(content, name)
    for what in ("thumbnail", "image", "thumbnail"):
        assert word(api.get(f"/rest/file/{file.pk}/{what}")) == (404, "not_found")


def test_a_picture_is_cached_forever_by_its_content(api, keep, worker):
    path = f"/rest/file/{keep(picture()).pk}/thumbnail"
    first = api.get(path)
    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    etag = first.headers["etag"]
    assert not etag.startswith("W/")
    again = api.get(path, headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert api.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_head_describes_a_picture_without_sending_it(api, keep, worker):
    path = f"/rest/file/{keep(picture()).pk}/thumbnail"
    whole, head = api.get(path), api.head(path)
    assert head.status_code == 200
    assert head.content == b""
    for name in ("content-length", "content-type", "etag"):
        assert head.headers[name] == whole.headers[name]


def test_cached_pictures_need_no_worker_and_lost_ones_are_made_again(
    api, keep, library_folder, settings, children
):
    file = keep(picture())
    path = f"/rest/file/{file.pk}/thumbnail"
    with working(settings.DATA_DIR, children):
        first = api.get(path)
    assert api.get(path).content == first.content
    Content(file.sha1, file.size_bytes).picture("t32").unlink()
    answer = api.get(path)
    assert word(answer) == (503, "no_worker")
    assert answer.headers["retry-after"] == "5"
    with working(settings.DATA_DIR, children):
        assert api.get(path).content == first.content


def test_a_picture_that_is_damaged_on_the_disk_is_made_again(api, keep, worker):
    file = keep(picture())
    path = f"/rest/file/{file.pk}/thumbnail"
    first = api.get(path)
    for left in (b"", bytes(500), b"\xff\xd8\xff" + bytes(500), b"RIFF", b"<script>"):
        Content(file.sha1, file.size_bytes).picture("t32").write_bytes(left)
        answer = api.get(path)
        assert (answer.status_code, answer.content) == (200, first.content)


def test_a_non_media_name_is_trusted_until_the_content_is_probed(api, keep, worker):
    path = f"/rest/file/{keep(picture(), 'a.bin').pk}/thumbnail"
    assert word(api.get(path)) == (404, "not_found")
    worker.probe_once()
    assert shown(api.get(path).content).size == (32, 24)


# In listings


def test_before_the_probe_a_listing_relies_on_the_name(api, keep):
    keep(picture(), "a.PNG")
    found = row(api)
    assert found["thumb"]
    assert list(found["presentation_urls"]["image"]) == ["48", "64", "220", "720"]
    assert "width" not in found


def test_after_the_probe_a_listing_has_the_media_data(api, keep, worker):
    keep(short_film("mp4"), "no name for a film")
    assert not row(api)["is_video"]
    worker.probe_once()
    found = row(api)
    assert found["is_video"]
    assert found["stream_video"]
    assert found["video_converted"] == "100"
    assert (found["width"], found["height"]) == (320, 240)
    assert 1.9 < found["duration"] < 2.2
    assert found["thumb"]
    assert list(found["presentation_urls"]["video"]) == ["hls"]


def test_a_name_is_not_believed_against_the_content(api, keep, worker):
    keep(b"words and nothing else", "film.mp4")
    assert row(api)["is_video"]
    worker.probe_once()
    found = row(api)
    assert not found["is_video"]
    assert not found["stream_video"]
    assert found["thumb"] is None
    assert found["presentation_urls"] == {"image": {}, "video": {}}


def test_a_look_makes_another_etag(api, keep, worker):
    keep(picture())
    before = api.get("/rest/folder").headers["etag"]
    worker.probe_once()
    assert api.get("/rest/folder", headers={"if-none-match": before}).status_code == 200


def test_each_host_gets_its_own_links(account, keep):
    keep(picture())
    auth = account.email, PASSWORD
    with httpx.Client(transport=httpx.WSGITransport(application), auth=auth) as client:
        answers = [client.get(f"http://{host}/rest/folder") for host in ("localhost", "127.0.0.1")]
    assert answers[0].headers["etag"] != answers[1].headers["etag"]
    assert answers[1].json()["files"][0]["thumb"].startswith("http://127.0.0.1/content/picture/")


def test_the_pictures_of_a_listing_need_no_credentials(api, visitor, keep, worker):
    keep(picture(2000, 1000))
    found = row(api)
    assert found["thumb"].startswith("http://localhost/content/picture/")
    assert shown(visitor.get(path_of(found["thumb"])).content).size == (32, 16)
    for pixels, url in found["presentation_urls"]["image"].items():
        answer = visitor.get(path_of(url))
        assert shown(answer.content).size == (int(pixels), int(pixels) // 2)
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


def test_an_image_has_the_sizes_that_a_listing_names(api, keep, worker):
    path = f"/rest/file/{keep(picture(2000, 1000)).pk}/image"
    assert shown(api.get(path, params={"pixels": "220"}).content).size == (220, 110)
    for none in ("0", "221", "../t32", ""):
        assert shown(api.get(path, params={"pixels": none}).content).size == (1600, 800)


def test_a_listing_without_links_says_which_files_have_a_picture(api, keep):
    keep(picture())
    keep(b"words", "a.txt")
    files = api.get("/rest/folder", params={"links": 0}).json()["files"]
    assert [each["has_picture"] for each in files] == [True, False]
    assert not any({"thumb", "presentation_urls"} & each.keys() for each in files)
    with_links = api.get("/rest/folder", params={"links": 1}).json()["files"]
    assert not any("has_picture" in each for each in with_links)


def test_a_picture_says_when_and_with_which_camera_it_was_taken(api, keep, worker):
    exif = Image.Exif()
    exif[0x0110] = "X-T4"
    exif.get_ifd(0x8769).update({0x9003: "2024:07:01 11:22:33", 0x8827: 200})
    file, other = keep(picture(exif=exif)), keep(b"words", "b.txt")
    path = "/rest/file/{}/camera"
    assert api.get(path.format(file.pk)).json().keys() == {"result", "code"}
    api.get(f"/rest/file/{file.pk}/image")
    answer = api.get(path.format(file.pk)).json()
    assert {"model": "X-T4", "iso": 200}.items() <= answer.items()
    assert not {"model", "taken"} & api.get(path.format(other.pk)).json().keys()
    assert api.get(path.format(10**9)).status_code == 404
    files = api.get("/rest/folder", params={"links": 0}).json()["files"]
    assert [each.get("taken") for each in files] == ["2024-07-01 11:22:33", None]
    assert not any("taken" in each for each in api.get("/rest/folder").json()["files"])


@each_case("query, is_same", [("links=1", False), ("links=0", True)])
def test_only_a_listing_with_links_gets_another_etag_under_another_host(account, query, is_same):
    tags = set()
    for host in ("localhost", "127.0.0.1"):
        transport = upstream.InProcess(host=host)
        auth = (account.email, PASSWORD)
        with httpx.Client(transport=transport, base_url=upstream.URL, auth=auth) as api:
            tags.add(api.get(f"/rest/folder?{query}").headers["etag"])
    assert (len(tags) == 1) == is_same


def test_no_name_passes_for_the_words_of_a_listing(api, account):
    has, quoted = '"has_picture":true,"has_stream":false', r"\"has_picture\":true"
    placeholders = ["<id>", "<picture>", "<stream>"]
    shown = [f"{name}.jpg" for name in (has, quoted, *placeholders)]
    others = [has, quoted, *placeholders]
    ids = {name: a_file(account, name).pk for name in (*shown, *others)}
    rows = {each["name"]: each for each in api.get("/rest/folder").json()["files"]}
    assert {name: each["id"] for name, each in rows.items()} == ids
    assert all(rows[name]["thumb"] is None for name in others)
    for name in shown:
        urls = rows[name]["thumb"], *rows[name]["presentation_urls"]["image"].values()
        home = f"/content/picture/{account.pk}/{ids[name]}"
        assert [urlsplit(url).path for url in urls] == [
            f"{home}/{size}" for size in ("t32", "t48", "t64", "t220", "t720")
        ]


def test_a_link_shows_no_other_file_and_no_other_size(api, visitor, keep, worker, account):
    first, second = keep(picture(), "a.jpg"), keep(picture(50, 50), "b.jpg")
    urls = {each["id"]: path_of(each["thumb"]) for each in api.get("/rest/folder").json()["files"]}
    link = urls[first.pk]
    assert visitor.get(link).status_code == 200
    assert word(visitor.get(link.replace(f"/{first.pk}/", f"/{second.pk}/"))) == (403, "bad_link")
    assert word(visitor.get(link.replace("/t32?", "/t99?"))) == (404, "not_found")
    assert word(visitor.get(link.replace("/t32?", "/..?"))) == (404, "not_found")
    assert word(visitor.get(link.replace("picture", "file").replace("/t32", "/a.jpg")))[0] == 403
    library.delete_file(account, first.pk, NOW)
    assert word(visitor.get(link)) == (404, "not_found")


def test_a_link_dies_with_the_password(api, visitor, keep, worker, account):
    keep(picture())
    link = path_of(row(api)["thumb"])
    assert visitor.get(link).status_code == 200
    accounts.set_password(account, "another long password")
    assert word(visitor.get(link)) == (403, "bad_link")


def test_refused_content_is_reported_at_once(api, keep, library_folder):
    """No worker runs here: content known to have no picture needs none."""
    file = keep(picture())
    Media.objects.create(sha1=file.sha1, size_bytes=file.size_bytes, state="refused", kind="other")
    assert word(api.get(f"/rest/file/{file.pk}/thumbnail")) == (404, "not_found")
    assert row(api)["thumb"] is None
    assert probing.find_media(Content(file.sha1, file.size_bytes)).state == "refused"


def test_a_film_has_scenes_to_seek_by(api, keep, worker, visitor):
    film, photo = keep(short_film("mp4"), "a.mp4"), keep(picture())
    path = f"/rest/file/{film.pk}/scenes"
    assert api.get(path).status_code == 404
    worker.note_new(NOW)
    worker.probe_once()
    assert api.get(path).json() == {"chapters": [], "result": True, "code": 200}
    worker.filmstrips.make_next()
    strip = api.get(path).json()["filmstrip"]
    assert (strip["frames"], strip["frames_in_row"]) == (100, 10)
    answer = visitor.get(path_of(strip["url"]))
    assert answer.headers["content-type"] == "image/jpeg"
    assert shown(answer.content).size == (1200, 900)
    assert api.get(f"/rest/file/{photo.pk}/scenes").status_code == 404


def test_scenes_do_not_wait_for_a_worker(api, keep, library_folder):
    film = keep(short_film("mp4"), "a.mp4")
    Media.objects.create(sha1=film.sha1, size_bytes=film.size_bytes, kind="video", state="probed")
    assert api.get(f"/rest/file/{film.pk}/scenes").json()["chapters"] == []
