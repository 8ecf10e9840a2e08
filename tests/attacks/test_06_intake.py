"""Row 6: other sites may open Ferry's pages for adding; only a person's own click adds anything.

For a double click that began on another page, see tests/browser/test_sending.py.
"""

import pytest
from django.test import Client

from tests.cases import each_case
from tests.people import page
from tests.webui.add.test_views import magnet, titles
from tests.webui.uploads.test_form import Untouchable, send
from webui.models import Sent, Throttle, Token

pytestmark = pytest.mark.django_db
LINK = {"magnet": magnet(1)}
HEAD = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.torrent"'
FILE = f"{HEAD}\r\n\r\nd4:infodee\r\n--x--\r\n"


@pytest.fixture
def victim(alice) -> Client:
    """Return Alice's browser, which sends her cookies with requests that any site causes."""
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(alice.user)
    return browser


def posted(storage) -> list[tuple[str, str]]:
    return [call for call in storage.calls if call[0] != "GET"]


@each_case("query", [LINK, {"url": "http://a.example/x"}, {"text": magnet(1)}])
@each_case("more", [{}, {"submit": "1", "add": "1", "confirm": "yes"}])
def test_opening_the_page_adds_nothing(victim, storage, query, more):
    answer = victim.get("/add/", query | more)
    assert page(answer).select("#picks input[name=line]")
    assert posted(storage) == []
    assert Sent.objects.count() == 0


@each_case("path", ["/add/", "/transfers/", "/account/", "/account/server/"])
def test_it_cannot_be_framed(victim, storage, path):
    answer = victim.get(path, LINK)
    assert answer.status_code == 200
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_a_popup_of_another_site_is_cut_off_from_its_opener(victim, storage):
    answer = victim.get("/add/", LINK, secure=True)
    if answer.status_code == 302:  # Cookies of http aren't those of https.
        answer = victim.get("/signin/", secure=True)
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_the_button_is_off_until_the_page_was_seen(victim, storage):
    shown = page(victim.get("/add/", LINK))
    assert shown.select_one("#go").has_attr("disabled")
    plain = shown.select_one("#ask noscript button")
    assert plain is not None


@each_case("path", ["/add/", "/transfers/send/"])
@each_case(
    ("kind", "body"),
    [
        ("text/plain", f"text={magnet(1)}"),
        ("application/x-www-form-urlencoded", "text=magnet%3A%3Fxt%3Durn%3Abtih%3A" + "1" * 40),
        ("application/json", '{"text": "magnet:?xt=urn:btih:' + "1" * 40 + '"}'),
        (
            "multipart/form-data; boundary=x",
            f'--x\r\nContent-Disposition: form-data; name="line"\r\n\r\n{magnet(1)}\r\n--x--\r\n',
        ),
        (
            "multipart/form-data; boundary=x",
            FILE,
        ),
    ],
)
def test_no_form_of_another_site_adds_anything(victim, storage, path, kind, body):
    victim.get("/add/")
    before = len(posted(storage))
    for headers in ({}, {"origin": "https://evil.example"}, {"origin": "null"}):
        answer = victim.generic("POST", path, body, content_type=kind, headers=headers)
        assert answer.status_code in (400, 403)
    assert posted(storage)[before:] == []
    assert titles(storage) == []


@pytest.mark.slow
def test_a_stolen_token_is_no_use_from_another_origin(victim, storage):
    shown = page(victim.get("/add/"))
    token = shown.select_one("#send [name=csrfmiddlewaretoken]")["value"]
    form = {"csrfmiddlewaretoken": token, "text": magnet(1)}
    for origin in ("null", "https://evil.example", "http://localhost:8001"):
        assert victim.post("/add/", form, headers={"origin": origin}).status_code == 403
    assert titles(storage) == []
    assert victim.post("/add/", form).status_code == 200
    assert titles(storage) == ["Sintel"]


def test_a_share_of_another_site_is_dropped(victim, storage):
    answer = victim.post("/add/share/", {"text": magnet(1)})
    assert answer["Location"] == "/add/?shared=none"
    assert "Sintel" not in victim.get(answer["Location"]).content.decode()
    assert posted(storage) == []


def test_the_way_of_scripts_reads_no_cookie(victim, storage):
    for headers in ({}, {"origin": "https://evil.example"}, {"authorization": "Bearer "}):
        assert victim.post("/send/", {"text": magnet(1)}, headers=headers).status_code == 401
    assert titles(storage) == []
    assert Throttle.objects.count() == 0


def test_no_token_is_made_by_another_site(victim):
    assert victim.post("/account/tokens/", {"name": "evil"}).status_code == 403
    assert Token.objects.count() == 0


@each_case(
    "link",
    [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "magnet:?xt=javascript:alert(1)",
        "http://a\\@localhost/",
        "http://me:secret@a.example/",
    ],
)
def test_only_links_that_lead_to_downloads_are_sent(victim, storage, link):
    shown = page(victim.get("/add/", {"url": link}))
    assert not shown.select("#picks input")
    token = shown.select_one("#ask [name=csrfmiddlewaretoken]")["value"]
    victim.post("/add/", {"csrfmiddlewaretoken": token, "line": link})
    assert posted(storage) == []


def test_a_torrent_of_two_gigabytes_is_refused_or_streamed_never_held(bob, storage):
    """tests.webui.uploads.test_form measures uploads relayed in pieces, at 10 GiB."""
    bob.client.get("/")
    answer = send(
        bob.client,
        Untouchable(),
        path="/transfers/send/",
        length=2 * 2**30,
        x_requested_with="ferry",
        x_file_size=str(2 * 2**30),
    )
    assert answer.status_code == 413
