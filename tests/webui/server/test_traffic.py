"""The page about traffic, and the curve on Transfers: who sees what, and what it says."""

import httpx
import pytest
from django.utils import timezone

from tests.people import page, words
from webui.models import Sent

pytestmark = pytest.mark.django_db
HOURS = [
    {"start": f"2026-09-01 {hour:02}:00:00", "received": hour * 1_000_000, "sent": 500_000}
    for hour in range(24)
]


@pytest.fixture
def traffic(alice, bob, storage):
    """Have Alice and Bob add a transfer each, and another program a third."""
    made = [storage.transfer(name) for name in ("One", "Two", "Three")]
    for one, person in zip(made, (alice, bob), strict=False):
        Sent.record(
            storage.service.key,
            transfer_id=str(one.id),
            title=one.title,
            source_kind=Sent.MAGNET,
            added_by=person.user,
            added_at=timezone.now(),
        )
    sums = [
        {"id": one.id, "received": (number + 1) * 10**9, "sent": 10**6}
        for number, one in enumerate(made)
    ]
    storage.fake.traffic["day"] = {"parts": HOURS, "transfers": sums}
    return storage


def rows(answer, label):
    table = page(answer).select_one(f"table[aria-labelledby={label}]")
    return (
        [" ".join(row.get_text(" ").split()) for row in table.select("tbody tr")] if table else []
    )


def test_owners_see_each_person(alice, traffic):
    shown = alice.client.get("/account/traffic/")
    assert rows(shown, "people-title") == [
        "Others 3 GB 1 MB",
        "bob 2 GB 1 MB",
        "alice 1 GB 1 MB",
    ]
    assert words(shown, ".page-sub") == "276 MB received, 12 MB sent"


def test_members_see_their_own(bob, traffic):
    shown = bob.client.get("/account/traffic/")
    assert rows(shown, "people-title") == ["bob 2 GB 1 MB"]
    assert b"alice" not in shown.content


def test_each_part_is_in_a_table_beside_the_curve(alice, traffic):
    shown = alice.client.get("/account/traffic/?period=day")
    assert len(rows(shown, "times-title")) == 24
    assert rows(shown, "times-title")[0].endswith("23 MB 500 KB")
    assert page(shown).select_one(".curve[aria-hidden=true] .received")["d"].startswith("M0 100")
    assert words(shown, "nav [aria-current=page][href='?period=day']") == "24 hours"


def test_without_traffic_there_is_no_curve(alice, traffic):
    shown = alice.client.get("/account/traffic/?period=year")
    assert not page(shown).select(".curve")
    assert words(shown, ".page-sub") == "0 bytes received, 0 bytes sent"
    assert alice.client.get("/account/traffic/?period=decade").status_code == 200


def test_server_leads_to_it(alice, traffic):
    assert page(alice.client.get("/account/server/")).select("a[href='/account/traffic/']")


def test_a_foreign_service_has_none(alice, foreign):
    assert alice.client.get("/account/traffic/").status_code == 404
    assert alice.client.get("/transfers/speeds/").status_code == 404
    assert b"traffic" not in alice.client.get("/account/server/").content
    assert not page(alice.client.get("/transfers/")).select("#speeds")


# The curve


def test_the_last_ten_minutes_are_a_curve_with_words(alice, traffic):
    parts = [{"start": "2026-09-01 12:00:00", "received": 0, "sent": 0}] * 59
    parts += [{"start": "2026-09-01 12:10:00", "received": 30_000_000, "sent": 2_000_000}]
    traffic.fake.traffic["minutes"] = {"parts": parts, "transfers": []}
    shown = alice.client.get("/transfers/speeds/")
    assert words(shown, "p") == ("Peak in the last 10 minutes: receiving 3 MB/s, sending 200 KB/s")
    assert len(shown.content) < 1_500
    assert page(shown).select_one("#speeds")["data-poll"]


def test_an_idle_curve_is_nothing(alice, traffic):
    shown = alice.client.get("/transfers/speeds/")
    assert words(shown, "#speeds") == ""
    assert not page(shown).select("svg")


def test_the_page_shows_the_curve_at_once_and_without_it_if_the_service_fails(alice, traffic):
    traffic.fake.traffic["minutes"] = {"parts": HOURS, "transfers": []}
    assert page(alice.client.get("/transfers/")).select("#speeds .curve")
    traffic.fake.answers["/rest/traffic"] = [httpx.Response(503)] * 3
    shown = alice.client.get("/transfers/")
    assert shown.status_code == 200
    assert not page(shown).select("#speeds")
