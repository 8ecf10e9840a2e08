"""Row 12, for playback: a link to a stream or a film opens that and nothing else."""

import io
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from service.accounts import accounts
from service.content import playback_views, signed_links
from service.library import library
from service.media.content_folders import Content
from service.store.blobs import library_store
from tests.attacks.test_12_links import answer_to
from tests.cases import each_case
from tests.service.builders import a_file, alice, mallory
from tests.service.media import samples
from tests.service.media.working import working
from tests.service.reading import reader

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(library_folder):
    return alice()


@pytest.fixture
def file(account, library_folder):
    return store_film(account, library_folder, "film.mkv")


def store_film(account, store, name):
    with samples.film("watched.mkv", seconds=2).open("rb") as stream:
        return a_file(account, name, blob=store.put(stream))


@pytest.fixture(autouse=True)
def worker(library_folder, settings, children):
    with working(settings.DATA_DIR, children) as made:
        yield made


@pytest.fixture
def home(account, file):
    """Return the URL before the name of a playlist or segment."""
    link = playback_views.stream_link(account, file, now=timezone.now())
    assert answer_to_binary(link) == 200
    return link.removesuffix("master.m3u8")


def answer_to_binary(link) -> int:
    with reader() as client:
        return client.get(link).status_code


NAMES = ("master.m3u8", "vcopy/index.m3u8", "vcopy/init.mp4", "vcopy/0.m4s", "a1copy/0.m4s")


@pytest.mark.promise("a link for players works without a session")
@pytest.mark.slow
@each_case("name", NAMES)
def test_a_link_needs_nothing_but_itself(home, name):
    assert answer_to_binary(home + name) == 200


@each_case("name", NAMES)
def test_a_changed_signature_opens_nothing(home, name):
    changed = home[:-2] + ("A" if home[-2] != "A" else "B") + "/"
    assert answer_to(changed + name) == (403, "bad_link")
    expires = urlsplit(home).path.split("/")[5].split(".")[0]
    later = home.replace(expires, str(int(expires) + 1))
    assert answer_to(later + name) == (403, "bad_link")


def test_guessed_ids_are_bad_links_whether_they_exist_or_not(account, file, home, library_folder):
    other = store_film(account, library_folder, "other.mkv")
    for guess in (other.pk, 10**6):
        guessed = home.replace(f"/{file.pk}/", f"/{guess}/")
        assert guessed != home
        assert answer_to(guessed + "master.m3u8") == (403, "bad_link")


def test_another_accounts_signature_opens_nothing(file):
    stranger = mallory()
    ticket = signed_links.signed_ticket(stranger, "hls", str(file.pk), now=timezone.now())
    path = f"/content/hls/{{}}/{file.pk}/{ticket}/master.m3u8"
    assert answer_to(path.format(file.account_id)) == (403, "bad_link")
    assert answer_to(path.format(stranger.pk)) == (404, "not_found")


@each_case(
    "name",
    [
        "../../../file/1/1/x",
        "..%2f..%2fsecret_key",
        "vcopy/../plan.json",
        "vcopy/%2e%2e/plan.json",
        "plan.json",
        "refused.json",
        "vcopy/.0.m4s",
        "vcopy/00.m4s",
        "vcopy/0.m4s%00",
        "vcopy/0.m4s/",
        "vcopy/0.vtt",
        "vcopy/-1.m4s",
        "vcopy/99.m4s",
        "vcopy/9999999.m4s",
        "v1080/0.m4s",
        "/etc/passwd",
        "a1copy/index.m3u8%0a",
    ],
)
def test_nothing_else_lies_below_a_link(home, name):
    assert answer_to_binary(home + name) in (400, 403, 404)


def test_a_folders_link_opens_no_film_and_no_file(account, file, home):
    ticket = urlsplit(home).path.split("/")[5]
    query = "?e={}&s={}".format(*ticket.split("."))
    for path in (f"film/{account.pk}/{file.pk}/x.mp4", f"file/{account.pk}/{file.pk}/x.mkv"):
        assert answer_to(f"/content/{path}{query}") == (403, "bad_link")


@pytest.mark.promise("a link for players ends")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stream", "film"])
def test_links_die_with_the_file_the_password_and_their_time(account, file, kind, monkeypatch):
    make = playback_views.stream_link if kind == "stream" else playback_views.film_link
    link = make(account, file, now=timezone.now())
    assert answer_to_binary(link) in (200, 503)
    later = timezone.now() + signed_links.LIFETIME + signed_links.WINDOW
    with monkeypatch.context() as patch:
        # A request can't choose the clock, and a link lives for days.
        patch.setattr("service.content.playback_views.timezone.now", lambda: later)
        assert answer_to(link) == (403, "link_expired")
    other = make(account, store_film(account, library_store(), "b.mkv"), now=timezone.now())
    library.delete_file(account, file.pk, timezone.now())
    assert answer_to(link) == (404, "not_found")
    accounts.set_password(account, "another one")
    assert answer_to(other) == (403, "bad_link")


def test_converted_media_end_with_their_last_link(account, file, home):
    """Segments are stored by content, but a file of another account doesn't open this one's."""
    segment = Content(file.sha1, file.size_bytes).folder / "hls" / "vcopy" / "0.m4s"
    assert answer_to_binary(home + "vcopy/0.m4s") == 200
    assert segment.exists()
    library.delete_file(account, file.pk, timezone.now())
    assert answer_to(home + "vcopy/0.m4s") == (404, "not_found")


# Row 11, for films that are played


def test_a_playlist_named_like_a_film_opens_nothing(account, library_folder, tmp_path):
    secret = tmp_path / "secret.ts"
    secret.write_bytes(samples.film("secret.ts", seconds=2).read_bytes())
    text = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://{secret}\n#EXT-X-ENDLIST\n"
    evil = a_file(account, "film.mp4", blob=library_folder.put(io.BytesIO(text.encode())))
    link = playback_views.stream_link(account, evil, now=timezone.now())
    assert answer_to(link) == (422, "cannot_convert")
