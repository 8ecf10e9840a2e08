"""The owner's page about Ferry's health."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from common.health import Finding, Report
from common.host import host
from config.embedded.upstream import EMBEDDED_ACCOUNT
from service.library import space
from tests.people import page, words
from tests.running import BASE
from tests.service.builders import an_account
from tests.webui.uploads.test_resumable import begin_upload, put
from webui.health import page as health_page
from webui.models import ResumableUpload

pytestmark = pytest.mark.django_db

UNHEALTHY = {
    "database": None,
    "disk": Finding("disk_read_only", "The disk can't be written to."),
    "content": Finding("content_missing", "Some.", ("<b>film.mkv</b>",), is_blocking=False),
    "tide": Finding("tide", "The tide is out."),
    "versions": Finding("version_hole", "x", ("FFmpeg 1.0: a film.",), is_blocking=False),
}
VERSIONS = {"Ferry": "0.1.0", "FFmpeg": "1.0"}
SPACE = {"library": 2_000_000_000, "orphans": 0, "previews": 3_000_000}


def unhealthy(*, is_brief: bool = False) -> Report:
    measured_at = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)
    return Report(UNHEALTHY, SPACE, 5_000_000_000, measured_at, versions=VERSIONS)


def test_an_owner_sees_problems_remedies_and_space_use(alice, monkeypatch):
    # No test can break a disk and the tide at once.
    changed = replace(host(), report_health=unhealthy)
    monkeypatch.setattr("common.host._make", lambda: changed)
    answer = alice.client.get("/account/health/")
    assert words(answer, ".page-sub") == "4 items need your attention."
    disk, content, tide, old, database = [
        " ".join(row.get_text(" ").split()) for row in page(answer).select("#parts li")
    ]
    assert disk.startswith("Disk The disk can't be written to Check its cable")
    assert content.endswith("<b>film.mkv</b>")
    assert tide == "tide This can't be checked right now The log says why."
    assert old.startswith("Versions A program that Ferry runs has a known security hole Update it")
    assert old.endswith("FFmpeg 1.0: a film. Ferry 0.1.0 FFmpeg 1.0")
    assert database == "Database Works"
    assert words(answer, "#space") == (
        "Files in the library 2 GB Previews Ferry makes them again when needed 3 MB"
    )
    assert "There's 5 GB free on this disk." in words(answer, "main")
    icons = page(answer).select("#parts use")
    assert len(icons) == 5
    assert all(urlsplit(icon["href"]).path.endswith(".svg") for icon in icons)


def test_the_real_one_is_shown_from_the_server_page_to_owners_alone(alice, bob):
    link = page(alice.client.get("/account/server/")).select_one("#health a")
    answer = alice.client.get(link["href"])
    assert "Database Works" in words(answer, "#parts")
    assert page(bob.client.get("/account/server/")).select_one("#health") is None


def test_owners_see_whose_uploads_are_unfinished(alice, bob, storage):
    assert page(alice.client.get("/account/health/")).select_one("#uploads") is None
    begin_upload(bob, size=3 * 10**8)
    put(bob, begin_upload(bob, size=2 * 10**8), bytes(10**6))
    expired = {"expires_at": timezone.now()}
    begin_upload(alice)
    ResumableUpload.objects.filter(user=alice.user).update(**expired)
    for email in (EMBEDDED_ACCOUNT, "program@example.org"):
        account = an_account(email)
        space.Promise(account, 10**8).cover(10**8)
    rows = page(alice.client.get("/account/health/")).select("#uploads li")
    assert [" ".join(row.get_text(" ").split()) for row in rows] == [
        "bob 2 uploads 1 MB of 500 MB arrived",
        "Being saved now 1 upload 100 MB",
        "program@example.org 1 upload 100 MB",
    ]


def test_every_finding_of_ferry_has_its_own_words():
    other = health_page.finding_words(Finding("nothing", ""))
    found = set(re_words())
    assert len(found) > 8
    assert {word for word in found if health_page.finding_words(Finding(word, "")) == other} == {
        "unknown"
    }


def re_words() -> list[str]:
    source = (BASE / "host" / "health.py").read_text()
    return re.findall(r'Finding\("(\w+)"', source)
