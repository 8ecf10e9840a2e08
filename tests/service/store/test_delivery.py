"""How files in an object store reach browsers that can reach the store."""

import os
import secrets
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from config.embedded import upstream
from service.content import signed_links
from service.content.signed_links import DIRECT_BYTES
from service.errors import StoreAway
from service.store.blobs import library_store
from service.store.objects.reader import ObjectReader
from tests.object_stores import KEYS
from tests.service.builders import a_file, alice, put

pytestmark = pytest.mark.django_db
CONTENT = os.urandom(DIRECT_BYTES)


@pytest.fixture
def library(seaweedfs, settings, tmp_path, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.DATA_DIR = tmp_path
    settings.STORE_URL = seaweedfs.url(secrets.token_hex(8))
    settings.STORE_PUBLIC_URL = seaweedfs.endpoint
    store = library_store()
    yield store
    store.close()


@pytest.fixture
def account(library):
    return alice()


@pytest.fixture
def keep(account, library):
    def keep(content, name="Größe.html"):
        return a_file(account, name, blob=put(library, content))

    return keep


def link_to(account, file, **options):
    return signed_links.file_link(account, file, now=timezone.now(), **options)


def get(link):
    return browser().get(link)


def browser():
    return Client(headers={"host": "localhost"})


def test_the_store_sends_a_large_file_by_its_name_as_one_to_save(account, keep):
    answer = get(link_to(account, keep(CONTENT)))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (302, "private, no-store")
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    sent = httpx.get(answer.headers["Location"], headers={"Range": "bytes=5-"})
    assert (sent.status_code, sent.content) == (206, CONTENT[5:])
    assert sent.headers["Content-Type"] == "application/octet-stream"
    assert sent.headers["Content-Disposition"] == (
        "attachment; filename=\"Gr__e.html\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.html"
    )


def test_a_question_without_a_body_is_answered_by_the_same_store(account, keep):
    link = link_to(account, keep(CONTENT))
    url = browser().head(link).headers["Location"]
    tags = [httpx.head(url).headers["ETag"], httpx.get(get(link).headers["Location"])]
    assert tags[0] == tags[1].headers["ETag"]


def test_signed_values_cannot_be_changed(account, keep, library):
    mine, other = keep(CONTENT), keep(CONTENT[::-1], "other")
    url = get(link_to(account, mine)).headers["Location"]
    for changed in (
        url.replace(mine.blob, other.blob),
        url.replace("attachment", "inline"),
        url.replace("application%2Foctet-stream", "text%2Fhtml"),
        url.replace("X-Amz-Expires=600", "X-Amz-Expires=6000"),
        url.partition("?")[0],
    ):
        assert changed != url
        assert httpx.get(changed).status_code == 403
    assert httpx.delete(url).status_code == 403
    assert library.size(mine.blob) == len(CONTENT)
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["600"]


@pytest.mark.parametrize("inline", [True, False])
def test_ferry_sends_what_is_small_or_shown_in_the_page(account, keep, inline):
    content = CONTENT if inline else CONTENT[1:]
    answer = get(link_to(account, keep(content, "film.mp4"), inline=inline))
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == content


def test_a_link_keeps_its_way(account, keep, settings, seaweedfs):
    """A download that resumed elsewhere would find another ETag, and start over."""
    file = keep(CONTENT)
    direct = link_to(account, file)
    settings.STORE_PUBLIC_URL = ""
    through = link_to(account, file)
    settings.STORE_PUBLIC_URL = seaweedfs.endpoint
    assert get(direct).status_code == 302
    assert get(through).status_code == 200
    assert get(through + "&d=1").status_code == 403
    assert get(direct.replace("d=1", "d=0")).status_code == 403
    settings.STORE_PUBLIC_URL = ""
    assert get(direct).status_code == 200


def test_the_site_itself_reads_through_the_service(account, keep):
    link = link_to(account, keep(CONTENT))
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL) as site:
        assert site.get(link).content == CONTENT


def test_an_expired_link_leads_nowhere(account, keep):
    file = keep(CONTENT)
    before = timezone.now() - signed_links.LIFETIME - timedelta(hours=2)
    assert get(signed_links.file_link(account, file, now=before)).status_code == 403


@pytest.mark.parametrize("ranges", ["bytes=0-", "bytes=0-9,300000-"])
def test_a_download_that_has_begun_ends_with_the_store(account, keep, ranges, monkeypatch):
    """Its connection is aborted, since its length is announced; nothing is an error of Ferry's."""
    link = link_to(account, keep(CONTENT, "film.mp4"), inline=True)
    answer = browser().get(link, headers={"range": ranges})
    assert answer.status_code == 206
    chunks = iter(answer.streaming_content)
    next(chunks)

    def fail(_reader):
        raise StoreAway

    # A store that is stopped at this moment would be missed by the tests beside this one.
    monkeypatch.setattr(ObjectReader, "_read_block", fail)
    with pytest.raises(ConnectionResetError):
        list(chunks)
