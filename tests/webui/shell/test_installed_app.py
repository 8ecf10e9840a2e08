"""What browsers install, what the service worker caches, and how it distinguishes versions."""

import re
from io import BytesIO
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from PIL import Image

from tests.people import page, words
from webui.shell.views import shell, version_of

pytestmark = pytest.mark.django_db
ADDRESS = re.compile(r'(?:src|href)="(/static/[^"#]+)')


def test_the_manifest_is_whole_and_its_start_lies_within_its_scope(mallory):
    url = page(mallory.get("/signin/")).select_one("link[rel=manifest]")["href"]
    facts = mallory.get(url).json()
    assert urljoin(url, facts["start_url"]).startswith(urljoin(url, facts["scope"]))
    assert facts["scope"] == facts["id"] == "/"
    assert facts["display"] == "standalone"
    acts = [facts["share_target"]["action"], facts["file_handlers"][0]["action"]]
    acts.append(facts["protocol_handlers"][0]["url"])
    assert [urlsplit(act).path for act in acts] == ["/add/share/", "/add/", "/add/"]
    for icon in facts["icons"]:
        answer = mallory.get(urljoin(url, icon["src"]))
        with Image.open(BytesIO(answer.getvalue())) as image:
            image.load()
            assert f"{image.width}x{image.height}" == icon["sizes"]
        answer.close()
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in facts["icons"]}


def test_the_manifest_shows_ferry_and_leads_to_two_of_its_screens(mallory):
    url = page(mallory.get("/signin/")).select_one("link[rel=manifest]")["href"]
    facts = mallory.get(url, headers={"accept-language": "de"}).json()
    assert (facts["lang"], facts["dir"]) == ("de", "ltr")
    assert [each["url"] for each in facts["shortcuts"]] == ["/add/", "/transfers/"]
    assert facts["launch_handler"]["client_mode"][0] == "navigate-existing"
    pictures = facts["screenshots"]
    assert {each["form_factor"] for each in pictures} == {"narrow", "wide"}
    size_bytes = 0
    for picture in [*pictures, *(each["icons"][0] for each in facts["shortcuts"])]:
        answer = mallory.get(picture["src"])
        content = answer.getvalue()
        answer.close()
        size_bytes += len(content)
        with Image.open(BytesIO(content)) as image:
            assert f"{image.width}x{image.height}" == picture["sizes"]
    assert size_bytes < 200_000


def test_the_worker_keeps_all_that_the_offline_page_shows(mallory):
    html = mallory.get("/offline/").content.decode()
    files = shell()
    wanted = set(ADDRESS.findall(html))
    assert len(wanted) > 5
    assert wanted <= set(files)
    worker = mallory.get("/sw.js").content.decode()
    assert all(f'"{file}"' in worker for file in files)


def test_the_offline_cache_is_small_and_named_by_its_content():
    files = shell()
    assert all(re.search(r"\.[0-9a-f]{12}\.\w+$", file) for file in files)
    names = [file.removeprefix("/static/") for file in files]
    assert sum(staticfiles_storage.size(name) for name in names) < 400_000


def test_any_other_static_file_makes_another_version(monkeypatch):
    before = version_of(shell())
    assert version_of(shell()) == before
    # The static files are collected once and serve all tests.
    monkeypatch.setattr(staticfiles_storage, "manifest_hash", "another")
    assert version_of(shell()) != before


def test_the_offline_page_is_in_the_language_of_the_installed_app(bob, mallory):
    bob.client.post("/account/language/", {"language": "de"})
    worker = bob.client.get("/sw.js").content.decode()
    assert "offline/?language=de" in worker
    assert page(mallory.get("/offline/?language=de")).select_one("html")["lang"] == "de"
    assert page(mallory.get("/offline/?language=xx")).select_one("html")["lang"] == "en"


def test_the_offline_page_claims_nothing_about_a_server_that_may_be_stopped(mallory):
    text = words(mallory.get("/offline/"), "main")
    assert "or Ferry isn't running" in text
    assert "transfers" not in text


def test_only_pages_for_people_name_them_and_by_a_key_that_says_nothing(alice, bob, mallory):
    """By this, the service worker keeps each person's lists from all others."""
    keys = {each.client.get(path)["X-Person"] for each in (alice, bob) for path in ("/", "/add/")}
    assert len(keys) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", key) for key in keys)
    for answer in (mallory.get("/signin/"), mallory.get("/", follow=True)):
        assert answer.status_code == 200
        assert "X-Person" not in answer


def test_the_offline_page_names_no_one(bob):
    answer = bob.client.get("/offline/")
    assert "Can't reach Ferry" in words(answer, "h1")
    assert "bob" not in answer.content.decode()
