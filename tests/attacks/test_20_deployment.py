"""Row 20: prefixes, mixed schemes, caches, default keys, and open folders.

For the service worker and its stale caches, see tests/browser/test_worker.py.
"""

import re
import stat
from urllib.parse import unquote

import httpx
import pytest
from bs4 import BeautifulSoup

from tests.cases import each_case
from tests.people import PASSWORD
from tests.running import Ferry, raw, running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def below(tmp_path_factory) -> Ferry:
    """Run Ferry below /home/ferry, behind a proxy on this machine."""
    folder = tmp_path_factory.mktemp("below") / "data"
    with running(folder, URL_PREFIX="home/ferry/", TRUSTED_PROXIES="127.0.0.1") as program:
        program.make_owner()
        yield program


def sign_in(visitor: httpx.Client, page: str) -> httpx.Response:
    form = BeautifulSoup(visitor.get(page).text, "html.parser").select_one("form")
    token = form.select_one("[name=csrfmiddlewaretoken]")["value"]
    fields = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    return visitor.post(page, data=fields)


@pytest.mark.promise("Ferry works below a prefix")
def test_below_a_prefix_every_address_keeps_the_prefix(below):
    with httpx.Client(base_url=below.url, timeout=60, trust_env=False) as visitor:
        assert visitor.get("/home/ferry/").headers["Location"].startswith("/home/ferry/signin/")
        answer = sign_in(visitor, "/home/ferry/signin/")
        assert answer.headers["Location"] == "/home/ferry/"
        html = BeautifulSoup(visitor.get("/home/ferry/account/").text, "html.parser")
        addresses = [
            tag.get("href") or tag.get("src") or tag.get("action")
            for tag in html.select("[href], script[src], form[action]")
        ]
        assert len(addresses) > 10
        bookmarks = [each for each in addresses if each.startswith("javascript:")]
        assert all("/home/ferry/add/" in unquote(each) for each in bookmarks)
        others = set(addresses) - set(bookmarks)
        assert all(each.startswith(("/home/ferry/", "#")) for each in others)
        assert all(cookie.path == "/home/ferry/" for cookie in visitor.cookies.jar)


def test_a_proxy_may_cut_the_prefix_off(below):
    answer = httpx.get(f"{below.url}/signin/", timeout=60, trust_env=False)
    assert answer.status_code == 200
    assert 'href="/home/ferry/static/' in answer.text


@each_case("path", ["//evil.example/", "/home/ferry//evil.example/", "/%2fevil.example/"])
def test_doubled_and_encoded_slashes_lead_nowhere_else(below, path):
    answer = raw(
        below.port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )
    head = answer.split(b"\r\n\r\n")[0]
    assert b"200 OK" not in head
    assert b"Location: //" not in head
    assert b"evil.example" not in head.split(b"Location: ")[-1] if b"Location: " in head else True


@pytest.mark.promise("people sign in by https and by http")
def test_https_behind_the_proxy_and_http_beside_it_both_sign_in(below):
    with httpx.Client(base_url=below.url, timeout=60, trust_env=False) as secure:
        secure.headers["X-Forwarded-Proto"] = "https"
        page = secure.get("/home/ferry/signin/")
        assert all("Secure" in line for line in page.headers.get_list("Set-Cookie"))
        assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    with httpx.Client(base_url=below.url, timeout=60, trust_env=False) as plain:
        assert sign_in(plain, "/home/ferry/signin/").status_code == 302
        assert plain.get("/home/ferry/").status_code == 200


@pytest.mark.promise("no proxy keeps private pages")
def test_private_pages_are_not_cacheable(below):
    with httpx.Client(base_url=below.url, timeout=60, trust_env=False) as visitor:
        sign_in(visitor, "/home/ferry/signin/")
        assert visitor.get("/home/ferry/account/").headers["Cache-Control"] == "private, no-store"


def test_static_folders_are_not_listed(ferry):
    for path in ("/static/", "/static/css/", "/static/../secret_key"):
        assert httpx.get(f"{ferry.url}{path}", timeout=60, trust_env=False).status_code == 404


def test_each_installation_has_its_own_key(ferry, below):
    keys = [(each.data_dir / "secret_key").read_text() for each in (ferry, below)]
    assert len(set(keys)) == 2
    assert all(len(key) > 40 for key in keys)


@pytest.mark.promise("other users can't read the data folder")
def test_the_data_folder_is_its_owners_alone(below):
    assert stat.S_IMODE(below.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((below.data_dir / "secret_key").stat().st_mode) == 0o600


def test_the_service_worker_is_scoped_to_its_folder_and_revalidated(below):
    with httpx.Client(base_url=below.url, timeout=60, trust_env=False) as visitor:
        page = BeautifulSoup(visitor.get("/home/ferry/signin/").text, "html.parser")
        manifest = visitor.get(page.select_one("link[rel=manifest]")["href"])
        worker = visitor.get("/home/ferry/sw.js")
    assert manifest.json()["scope"] == manifest.json()["start_url"] == "/home/ferry/"
    assert (worker.status_code, worker.headers["Cache-Control"]) == (200, "no-cache")
    assert "Service-Worker-Allowed" not in worker.headers
    kept = re.findall(r'^  "(.*)",$', worker.text, re.MULTILINE)
    assert kept
    assert all(path.startswith("/home/ferry/static/") for path in kept)


def test_a_data_folder_that_others_could_read_is_closed_to_them(ferry):
    """Even if someone made the folder accessible, others may read only what every page shows."""
    shown = ferry.data_dir / "static"
    found = [path for path in ferry.data_dir.rglob("*") if shown not in path.parents]
    assert any(path.name == "secret_key" for path in found)
    for path in found:
        assert not path.stat().st_mode & 0o007, path
