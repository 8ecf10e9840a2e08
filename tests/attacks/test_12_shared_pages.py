"""Row 12, at links to pages: what is beyond the link, whatever the request looks like.

What each URL of a visitor refuses is in tests/webui/shares/test_visitor_views.py; how long a link
lasts is in tests/attacks/test_24_grants.py. Names as code (row 1), forged forms (row 5), leaks by
Referer (row 13), secrets (row 18), and guesses from many networks (row 25) are tried here again.
"""

import logging
import random
from datetime import timedelta
from itertools import count
from urllib.parse import quote

import pytest
from django.test import Client

from tests.attacks.test_01_names import WORST, counts, harmless
from tests.cases import each_case
from tests.people import page
from tests.webui.shares.linked import make_link, stranger
from webui.models import Share

pytestmark = pytest.mark.django_db
GUESSES = 300
SECRET = b"the secret"


@pytest.fixture
def shelf(storage):
    shared, other = storage.folder("Shared"), storage.folder("Other")
    inside = storage.folder("Inside", shared.id)
    storage.file("Beach.jpg", b"jpg", shared.id)
    return [
        shared.id,
        inside.id,
        other.id,
        storage.file("Film.mp4", b"mp4", inside.id).id,
        storage.file("Secret.txt", SECRET, other.id).id,
        storage.file("Root.txt", SECRET).id,
    ]


@pytest.mark.slow
def test_no_mixture_of_ids_opens_entries_outside_the_share(bob, shelf, storage):
    """Join each kind of URL from ids of both sides at random."""
    link, ida = make_link(bob, shelf[0]), stranger()
    chance = random.Random(12)
    kinds = [
        *("files/{0}/", "files/{0}/listing/", "files/{0}/rows/", "files/{0}/file-{1}/view/"),
        *("files/{0}/file-{1}/text/", "files/{0}/file-{1}/queue/", "files/folder/{0}/zip/"),
        *("files/{0}/file-{1}/subtitles/{2}.vtt", "files/file/{1}/download/?in={0}"),
        *("files/file/{1}/raw/?in={0}", "files/file/{1}/pdf/?in={0}", "files/file/{1}/hls/?in={0}"),
        *("files/file/{1}/thumb/ab/?in={0}", "files/file/{1}/image/ab/?in={0}"),
        *("files/file/{1}/mp4/?in={0}", "files/file/{1}/tags/?in={0}"),
    ]
    beyond = {str(shelf[2]), str(shelf[4]), str(shelf[5]), "0"}
    opened = 0
    for _guess in range(GUESSES):
        ids = [str(chance.choice([*shelf, 0])) for _place in range(3)]
        path = chance.choice(kinds).format(*ids)
        answer = ida.get(link + path)
        content = b"" if answer.streaming else answer.content
        assert SECRET not in content
        assert b"Secret" not in content
        opened += answer.status_code in (200, 302)
        if beyond & set(path.replace("?", "/").replace("=", "/").replace("-", "/").split("/")):
            assert answer.status_code in (400, 404), path
    assert opened


@each_case("name", WORST)
def test_names_are_text(bob, storage, name):
    numbers = count()

    def views(label: str):
        folder = storage.folder(f"Folder {next(numbers)}")
        storage.file(f"{label.replace('/', '_')}.jpg", b"x", folder.id)
        link = make_link(bob, folder.id, label=label[:60])
        inbox = make_link(bob, folder.id, label=label[:60], purpose="send")
        form = bob.client.get(f"/files/{folder.id}/share/")
        return [stranger().get(link), stranger().get(f"{inbox}send/"), form]

    plain = [counts(answer) for answer in views("x" * len(name))]
    Share.objects.all().delete()
    for answer, baseline in zip(views(name), plain, strict=True):
        harmless(answer, baseline)


def test_forms_of_other_sites_do_nothing(bob, shelf):
    link = make_link(bob, shelf[0], most_uses="1", password="tern")
    forger = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    for headers in ({}, {"origin": "null"}, {"origin": "http://localhost:1"}):
        answer = forger.post(link, {"password": "tern"}, headers=headers)
        assert answer.status_code == 403
    assert Share.objects.get().uses == 0


def test_the_address_is_sent_to_no_other_site(bob, shelf):
    link = make_link(bob, shelf[0])
    answer = stranger().get(link)
    assert answer["Referrer-Policy"] == "same-origin"
    assert "no-store" in answer["Cache-Control"]
    outside = [each["href"] for each in page(answer).select("[href^=http]")]
    assert [each for each in outside if not each.startswith("http://localhost/")] == []


def test_neither_address_nor_password_is_logged(bob, shelf, caplog):
    caplog.set_level(logging.DEBUG)
    link = make_link(bob, shelf[0], password="tern on a rope")
    stranger().post(link, {"password": "tern on a rope"}, follow=True)
    stranger().post(link, {"password": "tern on a roof"})
    said = [each for each in caplog.messages if not each.startswith("(")]  # queries
    assert not [each for each in said if "tern on a" in each]
    assert not [each for each in said if link.split("/")[2] in each and "path=" not in each]


def try_password(link, password, network):
    return stranger().post(link, {"password": password}, REMOTE_ADDR=network)


FIVE = [f"203.0.113.{number}" for number in range(5)]


@pytest.mark.slow
def test_five_networks_that_guess_keep_no_visitor_out(bob, shelf, clock):
    """They guess whenever they may, and each of them before the visitor does."""
    link = make_link(bob, shelf[0], password="tern")
    for _try in range(8):
        for network in FIVE:
            try_password(link, "guess", network)
    seconds = 0
    while (answer := try_password(link, "tern", "198.51.100.7")).status_code != 302:
        assert 0 < int(answer["Retry-After"]) <= 60 - seconds
        clock.advance(timedelta(seconds=5))
        seconds += 5
        for network in FIVE:
            try_password(link, "guess", network)
    assert try_password(link, "guess", FIVE[0]).status_code == 429


@pytest.mark.slow
def test_guesses_at_a_link_delay_neither_pairing_nor_other_links(bob, shelf, clock):
    link, other = (make_link(bob, shelf[0], password=each) for each in ("tern", "gull"))
    while try_password(link, "guess", FIVE[0]).status_code == 422:
        pass
    assert stranger().post("/pair/", REMOTE_ADDR=FIVE[0]).status_code == 200
    assert stranger().get("/pair/guess/", REMOTE_ADDR=FIVE[0]).status_code == 404
    assert stranger().get("/join/guess/", REMOTE_ADDR=FIVE[0]).status_code == 404
    assert try_password(other, "gull", "198.51.100.7").status_code == 302


@pytest.mark.slow
def test_an_open_link_has_nothing_to_guess(bob, shelf, clock):
    link, other = make_link(bob, shelf[0], password="tern"), make_link(bob, shelf[0])
    while try_password(link, "guess", FIVE[0]).status_code == 422:
        pass
    assert stranger().post(other, REMOTE_ADDR=FIVE[0]).status_code == 302


def test_a_visit_ends_with_its_link(bob, shelf):
    link, ida = make_link(bob, shelf[0], password="tern"), stranger()
    ida.post(link, {"password": "tern"})
    assert ida.get(link).status_code == 200
    bob.user.set_password("a louder harbour at night")
    bob.user.save()
    assert ida.get(link).status_code == 404


def test_strange_paths_are_not_there(bob, shelf):
    link, ida = make_link(bob, shelf[0]), stranger()
    for path in ("//", "files/%00/", "files/" + "x" * 3000, quote("../../account/"), "files/７/"):
        assert ida.get(link + path).status_code in (400, 404)
