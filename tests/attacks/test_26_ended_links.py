"""Row 26: once a link has ended, no URL that its visitors ever received opens anything.

The visitor follows everything in every response: links, forms, scripts' data, JSON, and playlists.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import pytest
from django.db.models import Model
from django.http import HttpResponseBase
from django.utils import timezone

from service.store.blobs import library_store
from tests.attacks.test_24_grants import stranger
from tests.people import PASSWORD, SignedIn, make_person, page, signed_in
from tests.service.builders import a_file, a_folder, put
from tests.service.media import samples
from tests.service.media.working import working
from tests.webui.shares.linked import make_link
from webui.models import Role, Share, User

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NEW_PASSWORD = "a louder harbour at night"
LINK_PASSWORD = "tern"
# Not of the link: what anyone may see.
PUBLIC = ("/static/", "/language/", "/signin/", "/manifest.webmanifest", "/sw.js")
MOST_OF_A_KIND = 12
# All but thumbnails, which a listing has only once the worker has made them.
PLACES = {
    *("download", "view", "image", "raw", "pdf", "hls", "mp4", "zip", "text", "listing"),
    *("rows", "queue", "stream", "subtitles", "tags"),
}


@pytest.fixture
def shelf(own_service, library_folder, settings, children):
    """Return a folder with files of each kind, and a worker that converts the film."""
    folder = a_folder(own_service, "Shelf")
    samples_of = {
        "Film.mkv": samples.film("watched.mkv", seconds=2).read_bytes(),
        "Film.en.srt": b"1\n00:00:00,000 --> 00:00:01,000\nHello\n",
        "Beach.jpg": samples.picture(),
        "Notes.txt": b"words\n" * 9000,
        "Paper.pdf": b"%PDF-1.4\n",
        "Song 1.mp3": b"ID3" + bytes(2000),
        "Song 2.mp3": b"ID3" + bytes(2000),
    }
    for name, content in samples_of.items():
        a_file(own_service, name, folder=folder, blob=put(library_store(), content))
    inner = a_folder(own_service, "Shelf/Inside")
    a_file(own_service, "Deep.txt", folder=inner, blob=put(library_store(), b"deep"))
    with working(settings.DATA_DIR, children):
        yield folder


# What a visitor receives


def everything_from(visitor, *first: str) -> dict[str, int]:
    """Return the URLs that a visitor finds from these, a few of each kind, with their status."""
    found: dict[str, int] = {}
    kinds: Counter[str] = Counter()
    waiting = list(first)
    while waiting:
        url = waiting.pop()
        kind = kind_of(url)
        if url in found or kinds[kind] == MOST_OF_A_KIND:
            continue
        kinds[kind] += 1
        with closing(visitor.get(url)) as answer:
            found[url] = answer.status_code
            waiting += urls_in(answer, url)
    return found


def kind_of(url: str) -> str:
    """Return the path without ids and tokens."""
    return re.sub(r"[\w-]{20,}|[0-9]+", "*", urlsplit(url).path)


def status(client, url: str) -> int:
    with closing(client.get(url)) as answer:
        return answer.status_code


def urls_in(answer: HttpResponseBase, url: str) -> list[str]:
    return [
        f"{parts.path}?{parts.query}" if parts.query else parts.path
        for reference in references_in(answer)
        if (parts := urlsplit(urljoin(f"http://localhost{url}", reference))).netloc == "localhost"
        and parts.path != "/"
        and not parts.path.startswith(PUBLIC)
    ]


def references_in(answer: HttpResponseBase) -> Iterator[str]:
    if location := answer.headers.get("Location"):
        yield location
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if kind == "text/html":
        for tag in page(answer).find_all(True):
            values = [value for value in tag.attrs.values() if isinstance(value, str)]
            yield from (value for value in values if value.startswith(("/", "http")))
    elif kind == "application/json":
        yield from strings_in(json.loads(answer.content))
    elif "mpegurl" in kind:
        text = answer.getvalue().decode()
        yield from re.findall(r'URI="([^"]+)"', text)
        yield from re.findall(r"^[^#\n].*", text, re.MULTILINE)


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.startswith(("/", "http")):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings_in(each)


# Links, each with a visitor who has opened it


def open_page(bob: SignedIn, folder: str):
    return stranger(), make_link(bob, folder)


def page_with_password(bob: SignedIn, folder: str):
    ida, link = stranger(), make_link(bob, folder, password=LINK_PASSWORD)
    ida.post(link, {"password": LINK_PASSWORD})
    return ida, link


def link_for_players(bob: SignedIn, folder: str):
    shown = page(bob.client.post(f"/files/{folder}/link/"))
    return stranger(), urlsplit(shown.select_one(".pairing input")["value"]).path


LINKS = {
    "page": open_page,
    "page with a password": page_with_password,
    "for players": link_for_players,
}


# Events that end links of Bob's


def revoked(bob: SignedIn, _alice: SignedIn) -> None:
    bob.client.post(f"/account/links/{Share.objects.get().pk}/revoke/")


def expired(_bob: SignedIn, _alice: SignedIn) -> None:
    Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def new_password(bob: SignedIn, _alice: SignedIn) -> None:
    form = {"old_password": PASSWORD, "password": NEW_PASSWORD, "password_again": NEW_PASSWORD}
    assert bob.client.post("/account/password/", form).status_code == 302


def signed_out_everywhere(bob: SignedIn, _alice: SignedIn) -> None:
    bob.client.post("/account/devices/signout/")


def removed(bob: SignedIn, alice: SignedIn) -> None:
    alice.client.post(f"/account/people/{bob.user.pk}/remove/")


def demoted(bob: SignedIn, alice: SignedIn) -> None:
    """Guests may make links for players, but no pages."""
    alice.client.post(f"/account/people/{bob.user.pk}/", {"role": "guest"})


EVENTS = [revoked, expired, new_password, signed_out_everywhere, removed, demoted]


@pytest.mark.promise("no URL of a visitor outlives its link", cases=["page with a password"])
@pytest.mark.parametrize("name", LINKS)
def test_no_url_outlives_the_link(name, shelf):
    alice, bob = make_person("alice", Role.OWNER), make_person("bob", Role.MEMBER)
    visitor, link = LINKS[name](bob, str(shelf.pk))
    urls = received(visitor, link, is_page=name != "for players")
    rows = [alice.user, bob.user, Share.objects.get()]
    for event in EVENTS:
        if (event, name) == (demoted, "for players"):
            continue
        event(renewed(bob), renewed(alice))
        answers = {url: {status(visitor, url), status(stranger(), url)} for url in urls}
        assert {url: each for url, each in answers.items() if each - {403, 404}} == {}, event
        put_back(rows)
        assert status(visitor, link) < 400


def renewed(person: SignedIn) -> SignedIn:
    return SignedIn(person.user, signed_in(person.user))


def put_back(rows: list[Model]) -> None:
    """Store the rows as they were before an event."""
    User.objects.all().delete()
    for row in rows:
        row.save(force_insert=True)


def received(visitor, link: str, *, is_page: bool) -> list[str]:
    """Return what the visitor received: a page must have led to every kind of URL."""
    first = [link]
    if is_page:
        folder = f"{link}files/{Share.objects.get().folder}"
        first += [visitor.post(f"{folder}/zip/", {"all": "1"})["Location"], f"{folder}/rows/"]
    urls = [url for url, status in everything_from(visitor, *first).items() if status < 400]
    if is_page:
        assert PLACES - set(re.findall(r"[a-z0-9]+", " ".join(urls))) == set()
    return urls


def test_a_link_that_is_used_up_keeps_its_visitor_and_lets_nobody_in(shelf):
    bob = make_person("bob", Role.MEMBER)
    ida, link = stranger(), make_link(bob, str(shelf.pk), most_uses="1")
    ida.post(link)
    urls = received(ida, link, is_page=True)
    assert [url for url in urls if status(ida, url) >= 400] == []
    assert {status(stranger(), url) for url in urls} == {404}
