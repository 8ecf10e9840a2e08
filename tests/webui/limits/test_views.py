"""The Limits page, the limits of one transfer, the switch, and what Server says about both."""

from copy import copy
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.service.builders import magnet
from webui.activity import events
from webui.connection import connection
from webui.models import Activity
from webui.transfers import actions
from webui.v1.own_records import OwnLimits

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
LIMITS, SCHEDULE = "/account/limits/", "/account/limits/schedule/"
SWITCH = "/transfers/speed/switch/"
USUAL = {
    "download_bytes_per_second": "",
    "upload_bytes_per_second": "",
    "slow_download_bytes_per_second": "1",
    "slow_upload_bytes_per_second": "0.1",
    "active_transfers": "5",
    "seed_ratio": "1",
    "seed_minutes": "60",
}


def current():
    return connection.service().v1.limits()


def values(answer, form="form"):
    fields = page(answer).select(f"main {form} input.input")
    return {field["name"]: field["value"] for field in fields}


def kinds():
    return list(Activity.objects.values_list("kind", flat=True))


@pytest.fixture
def transfer(alice, own_service):
    """Add a transfer, and have the site read it. Return its id."""
    service = connection.service()
    transfer_id = service.v1.add_magnet(magnet()).id
    actions.mark_changed(service)
    alice.client.get("/transfers/")
    return transfer_id


# All transfers


def test_the_page_shows_what_applies(alice, own_service):
    answer = alice.client.get(LIMITS)
    assert values(answer) == USUAL
    assert "in the time zone UTC" in words(answer, "#schedule")


def test_a_change_applies_at_once_and_is_recorded(alice, own_service):
    sent = {**USUAL, "download_bytes_per_second": "12.5", "seed_ratio": "0,5"}
    answer = alice.client.post(LIMITS, sent, follow=True)
    assert answer.redirect_chain == [(LIMITS, 302)]
    assert words(answer, "#toasts") == "Saved"
    assert (current().download_bytes_per_second, current().seed_ratio) == (12_500_000, 0.5)
    assert kinds() == [events.Kind.LIMITS_CHANGED]
    assert "alice changed the limits of transfers" in words(
        alice.client.get("/account/activity/"), "main"
    )
    alice.client.post(LIMITS, {**sent, "download_bytes_per_second": ""})
    assert current().download_bytes_per_second == 0


def test_every_byte_survives_a_form_that_changes_something_else(alice, own_service):
    connection.service().v1.set_limits({"upload_bytes_per_second": "1234567"})
    shown = values(alice.client.get(LIMITS, headers={"accept-language": "de"}))
    assert shown["upload_bytes_per_second"] == "1,234567"
    assert shown["slow_upload_bytes_per_second"] == "0,1"
    alice.client.post(LIMITS, {**shown, "seed_minutes": "7"})
    assert (current().upload_bytes_per_second, current().seed_minutes) == (1_234_567, 7)


@pytest.mark.slow
@each_case(
    ("field", "value"),
    [
        ("download_bytes_per_second", "fast"), ("download_bytes_per_second", "-1"),
        ("download_bytes_per_second", "2001"), ("download_bytes_per_second", "0.0001"),
        ("upload_bytes_per_second", "nan"), ("upload_bytes_per_second", "1e999"),
        ("active_transfers", "0"), ("active_transfers", ""), ("active_transfers", "1.5"),
        ("seed_ratio", ""), ("seed_ratio", "1,000.5"), ("seed_minutes", "9" * 40),
    ],
)  # fmt: skip
def test_an_impossible_value_is_refused_at_its_field(alice, own_service, field, value):
    answer = alice.client.post(LIMITS, {**USUAL, "upload_bytes_per_second": "3", field: value})
    assert answer.status_code == 422
    assert page(answer).select_one(f"[name={field}][aria-invalid=true]")["value"] == value
    assert current().upload_bytes_per_second == 0
    assert kinds() == []


def test_what_the_environment_sets_is_shown_as_fixed(alice, own_service, settings):
    settings.FIXED_SETTINGS, settings.DOWNLOAD_LIMIT = {"DOWNLOAD_LIMIT", "SEED_RATIO"}, 2_000_000
    answer = alice.client.get(LIMITS)
    assert "download_bytes_per_second" not in values(answer)
    assert "The setting DOWNLOAD_LIMIT decides this." in words(answer, "main")
    assert [each.get_text() for each in page(answer).select("main dd")] == ["2 MB/s", "1"]
    alice.client.post(LIMITS, {**USUAL, "active_transfers": "3"})
    assert (current().active_transfers, current().download_bytes_per_second) == (3, 2_000_000)


def test_a_value_that_becomes_fixed_in_the_meantime_is_refused_at_its_field(
    alice, own_service, settings, monkeypatch
):
    v1 = connection.service().v1
    before = v1.limits()
    settings.FIXED_SETTINGS = {"SEED_MINUTES"}
    # A person can't be slower than a restart of Ferry in one process.
    monkeypatch.setattr(type(v1), "limits", lambda _self: before)
    answer = alice.client.post(LIMITS, {**USUAL, "seed_minutes": "5"})
    assert answer.status_code == 422
    assert "A setting of this server decides this." in words(answer, "#setting-seed_minutes-error")


# The schedule


def marked(answer):
    return [int(box["value"]) for box in page(answer).select("#schedule [name=slow][checked]")]


def test_the_table_has_a_box_for_each_half_hour_of_the_week(alice, own_service):
    boxes = page(alice.client.get(LIMITS)).select("#schedule tbody input[name=slow]")
    assert [int(box["value"]) for box in boxes] == list(range(336))
    assert [boxes[index]["aria-label"] for index in (0, 49, 335)] == [
        *("Monday, 00:00", "Tuesday, 00:30", "Sunday, 23:30"),
    ]


def test_the_marks_of_the_table_are_saved(alice, own_service):
    answer = alice.client.post(SCHEDULE, {"slow": ["3", "335", "336", "x", "-1"]}, follow=True)
    assert marked(answer) == [3, 335]
    alice.client.post(SCHEDULE, {})
    assert current().schedule == "0" * 336


@each_case(
    ("days", "times", "halves"),
    [
        ("0", (18, 20), [18, 19]), ("0", (0, 48), list(range(48))), ("6", (47, 1), [0, 335]),
        (["1", "2"], (46, 1), [94, 95, 96, 142, 143, 144]), ("5", (4, 4), list(range(244, 292))),
    ],
)  # fmt: skip
def test_hours_are_marked_without_a_script(alice, own_service, days, times, halves):
    sent = {"day": days, "start": times[0], "end": times[1]}
    assert marked(alice.client.post(SCHEDULE, {**sent, "mark": "1"}, follow=True)) == halves
    alice.client.post(SCHEDULE, {**sent, "slow": [str(each) for each in range(336)], "mark": "0"})
    assert current().schedule.count("0") == len(halves)


@each_case("wrong", [{}, {"day": "7"}, {"day": "0", "start": "48"}, {"day": "0", "end": "0"}])
def test_hours_that_mean_nothing_are_refused_and_marks_stay(alice, own_service, wrong):
    sent = {"start": "1", "end": "2", "slow": "9", "mark": "1", **wrong}
    answer = alice.client.post(SCHEDULE, sent)
    assert answer.status_code == 422
    assert marked(answer) == [9]
    assert page(answer).select("#schedule .error")
    assert current().schedule == "0" * 336


# The switch


def banner(person):
    shown = page(person.client.get("/transfers/")).select_one("#speed .banner div")
    return shown.get_text() if shown else ""


def test_an_owner_switches_for_a_time_and_back(alice, bob, own_service):
    assert banner(bob) == ""
    answer = alice.client.post(f"{SWITCH}?to=slow&until=hour", follow=True)
    until = f"{current().switched_until:%H:%M}"
    assert until in words(answer, "#toasts")
    assert "Slow speeds apply until" in banner(bob)
    assert until in banner(bob)
    assert kinds() == [events.Kind.SPEED_SWITCHED]
    alice.client.post(f"{SWITCH}?to=slow&until=tomorrow")
    assert banner(bob) == "Slow speeds apply until midnight."
    alice.client.post(f"{SWITCH}?to=slow")
    assert banner(bob) == "Slow speeds apply until an owner switches back."
    alice.client.post(f"{SWITCH}?to=schedule")
    assert (banner(bob), current().is_slow) == ("", False)


def test_slow_speeds_apply_for_as_long_as_last_chosen(alice, own_service):
    slow = page(alice.client.get("/transfers/")).select_one("#slow")["formaction"]

    def until():
        alice.client.post(slow)
        return current().switched_until

    assert until() - timezone.now() < timedelta(hours=1)
    for choice in page(alice.client.get("/transfers/")).select("#slow-menu button"):
        alice.client.post(choice["formaction"])
        chosen = current().switched_until
        alice.client.post(f"{SWITCH}?to=schedule")
        assert (until() is None) == (chosen is None)
        assert chosen is None or abs(current().switched_until - chosen) < timedelta(minutes=1)


def test_the_schedule_is_described_as_well(alice, own_service):
    connection.service().v1.set_limits({"schedule": "1" * 336})
    assert banner(alice) == "Slow speeds always apply."
    (button,) = page(alice.client.get("/transfers/")).select("#speed button")
    alice.client.post(button["formaction"])
    assert "Full speed applies until" in banner(alice)
    alice.client.post(f"{SWITCH}?to=full&until=tomorrow")
    assert banner(alice) == "Full speed applies until midnight, whatever the schedule says."
    alice.client.post(f"{SWITCH}?to=full")
    assert banner(alice) == "Full speed applies until an owner switches back."


def test_an_open_page_learns_what_has_changed(alice, gwen, own_service):
    shown = page(gwen.client.get("/transfers/")).select_one("#speed")["hx-get"]
    assert gwen.client.get(shown, headers=HTMX).status_code == 204
    alice.client.post(f"{SWITCH}?to=slow", headers=HTMX)
    fresh = gwen.client.get(shown, headers=HTMX)
    assert "Slow speeds apply" in words(fresh, "#speed")
    assert gwen.client.get(page(fresh).select_one("#speed")["hx-get"]).status_code == 204


def test_only_owners_are_offered_to_switch(alice, bob, gwen, own_service):
    alice.client.post(f"{SWITCH}?to=slow")
    offers = "#slow, .page-sub a, #slow-menu button, #speed .banner > button"
    assert len(page(alice.client.get("/transfers/")).select(offers)) == 7
    for person in (bob, gwen):
        shown = page(person.client.get("/transfers/"))
        assert not shown.select(offers)
        assert shown.select_one("#speed .banner")


def test_a_switch_that_means_nothing_is_explained(alice, own_service):
    answer = alice.client.post(f"{SWITCH}?to=fast")
    assert answer.status_code == 422
    assert "The storage service can't use this value" in words(answer, "main")
    assert current().switched_to == ""


def test_a_site_with_another_account_may_change_nothing(alice, own_service):
    first = copy(own_service)
    first.pk, first.email = own_service.pk - 1, "first@example.org"
    first.save(force_insert=True)
    answer = alice.client.get(LIMITS)
    assert "can't change the limits of this server" in words(answer, "main")
    assert not page(answer).select("main form")
    refused = alice.client.post(LIMITS, {**USUAL, "seed_minutes": "5"})
    assert refused.status_code == 502
    assert "Only the first account of the service can." in words(refused, "main")
    assert not page(alice.client.get("/transfers/")).select("#slow, .page-sub a")


# One transfer


def test_limits_of_one_transfer(bob, transfer):
    address = f"/transfers/t{transfer}/limits/"
    assert set(values(bob.client.get(address)).values()) == {""}
    answer = bob.client.post(
        address, {"download_bytes_per_second": "0.5", "seed_ratio": "0", "seed_minutes": ""}
    )
    assert answer["Location"] == "/transfers/"
    own = connection.service().v1.transfer_limits(transfer)
    assert (own.download_bytes_per_second, own.seed_ratio, own.seed_minutes) == (500_000, 0, None)
    assert values(bob.client.get(address))["seed_ratio"] == "0"
    bob.client.post(address, {})
    assert connection.service().v1.transfer_limits(transfer).seed_ratio is None
    assert kinds() == [events.Kind.TRANSFER_LIMITED] * 2


def test_a_dialog_shows_the_form_and_what_is_wrong_in_it(bob, transfer):
    address = f"/transfers/t{transfer}/limits/"
    assert not page(bob.client.get(address, headers=HTMX)).select("main")
    refused = bob.client.post(address, {"seed_minutes": "-1"}, headers=HTMX)
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#limits")
    assert page(refused).select_one("[name=seed_minutes][aria-invalid=true]")
    saved = bob.client.post(address, {"seed_minutes": "1"}, headers=HTMX)
    assert "transfers-changed" in saved["HX-Trigger"]


def test_the_menu_offers_limits_to_members_only(bob, gwen, transfer):
    shown = page(bob.client.get("/transfers/"))
    assert "limit" in shown.select_one(f"#t{transfer} .more")["data-acts"].split()
    assert shown.select_one(f"#t{transfer} noscript a[href$='limits/']")
    shown = page(gwen.client.get("/transfers/"))
    assert not shown.select("noscript a[href$='limits/'], dialog#limits")
    assert "limit" not in shown.select_one(f"#t{transfer} .more")["data-acts"].split()


def test_what_is_no_torrent_has_only_a_download_speed(bob, storage):
    one = storage.transfer("a.iso", state="downloading")
    none = dict.fromkeys(OwnLimits.__struct_fields__)
    storage.says(f"/rest/transfer/{one.id}/limits", httpx.Response(200, json=none))
    bob.client.get("/transfers/")
    shown = values(bob.client.get(f"/transfers/t{one.id}/limits/"))
    assert shown == {"download_bytes_per_second": ""}


# Server


def test_owners_see_limits_and_reachability(alice, bob, own_service):
    connection.service().v1.set_limits({"download_bytes_per_second": "5000000"})
    shown = alice.client.get("/account/server/")
    assert "Download 5 MB/s, upload no limit" in words(shown, "#limits")
    assert "Ferry isn't waiting for peers" in words(shown, "#reachability")
    assert not page(bob.client.get("/account/server/")).select("#limits, #reachability")


# Foreign services


def test_a_foreign_service_has_none_of_this(alice, foreign):
    one = foreign.transfer("Season", progress=20, size=5, hash="c" * 40)
    shown = page(alice.client.get("/transfers/"))
    assert not shown.select("#speed, #slow, noscript a[href$='limits/']")
    assert "limit" not in shown.select_one(f"#t{one.id} .more")["data-acts"].split()
    assert not page(alice.client.get("/account/server/")).select("#limits, #reachability")
    addresses = {
        "get": [LIMITS, f"/transfers/t{one.id}/limits/"],
        "post": [LIMITS, SCHEDULE, f"{SWITCH}?to=slow", f"/transfers/t{one.id}/limits/"],
    }
    for method, paths in addresses.items():
        for path in paths:
            assert getattr(alice.client, method)(path).status_code == 404, path
    assert alice.client.get("/transfers/speed/").status_code == 204
    assert not [path for _method, path in foreign.calls if "limits" in path or "reach" in path]
