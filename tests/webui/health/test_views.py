"""The owner's page about Ferry's health."""

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from tests.people import page, words
from tests.running import BASE
from webui.health import page as health_page
from webui.health.report import Finding, Report

pytestmark = pytest.mark.django_db

UNHEALTHY = {
    "database": None,
    "disk": Finding("disk_read_only", "The disk can't be written to."),
    "content": Finding("content_missing", "Some.", ("<b>film.mkv</b>",), is_blocking=False),
    "tide": Finding("tide", "The tide is out."),
}
SPACE = {"library": 2_000_000_000, "orphans": 0, "previews": 3_000_000}


def unhealthy() -> Report:
    return Report(UNHEALTHY, SPACE, 5_000_000_000, datetime(2026, 11, 23, 12, 30, tzinfo=UTC))


def test_an_owner_sees_problems_remedies_and_space_use(alice, settings):
    settings.HEALTH = "tests.webui.health.test_views.unhealthy"
    answer = alice.client.get("/account/health/")
    assert words(answer, ".page-sub") == "3 items need your attention."
    disk, content, tide, database = [
        " ".join(row.get_text(" ").split()) for row in page(answer).select("#parts li")
    ]
    assert disk.startswith("Disk The disk can't be written to Check its cable")
    assert content.endswith("<b>film.mkv</b>")
    assert tide == "tide This can't be checked right now The log says why."
    assert database == "Database Works"
    assert words(answer, "#space") == (
        "Files in the library 2 GB Previews Ferry makes them again when needed 3 MB"
    )
    assert "There's 5 GB free on this disk." in words(answer, "main")
    icons = page(answer).select("#parts use")
    assert len(icons) == 4
    assert all(urlsplit(icon["href"]).path.endswith(".svg") for icon in icons)


def test_the_real_one_is_shown_from_the_server_page_to_owners_alone(alice, bob):
    link = page(alice.client.get("/account/server/")).select_one("#health a")
    answer = alice.client.get(link["href"])
    assert "Database Works" in words(answer, "#parts")
    assert page(bob.client.get("/account/server/")).select_one("#health") is None


def test_every_finding_of_ferry_has_its_own_words():
    other = health_page.finding_words(Finding("nothing", ""))
    found = set(re_words())
    assert len(found) > 8
    assert {word for word in found if health_page.finding_words(Finding(word, "")) == other} == {
        "unknown"
    }


def re_words() -> list[str]:
    source = (BASE / "config" / "health.py").read_text()
    return re.findall(r'Finding\("(\w+)"', source)
