"""The Server screen as owners see it, and the settings that they change there."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from django.conf import settings as django_settings

from common.health import Finding, Report
from common.host import host
from host.web import front
from service.accounts import accounts
from service.library import deleted_items
from tests.cases import each_case
from tests.people import page, words
from tests.running import BASE
from tests.webui.server.test_connection_views import other_environment
from webui.models import OwnerSetting, Role, User

pytestmark = pytest.mark.django_db
STORAGE, NAMES = "/account/server/storage/", "/account/server/names/"
LIMITS = {"space_gb": "2000", "deleted_days": "7"}
CALLED = {"server_name": "Our harbor", "host_names": "https://Ferry.Example.org/, tv.lan:8000"}


def toast(answer) -> str:
    return words(answer, "#toasts")


def test_an_owner_changes_the_space_and_the_days(alice, own_service):
    answer = alice.client.post(STORAGE, LIMITS, follow=True)
    assert answer.redirect_chain == [("/account/server/#storage", 302)]
    assert toast(answer) == "Saved"
    own_service.refresh_from_db()
    assert own_service.space_max_bytes == 2 * 10**12
    assert deleted_items.kept_days() == 7
    fields = page(answer).select("#storage input.input")
    assert [field["value"] for field in fields] == ["2000", "7"]
    assert "of 2 TB used" in words(answer, "#storage")
    assert words(answer, "#meter").endswith("free of 2 TB")
    assert "for 7 days" in words(alice.client.get("/files/deleted/"), "main")


def test_changes_are_listed_in_activity_and_equal_values_are_not(alice, own_service):
    alice.client.post(STORAGE, {**LIMITS, "space_gb": "50"})
    alice.client.post(NAMES, CALLED)
    alice.client.post(NAMES, {"server_name": "", "host_names": ""})
    events = [row.get_text() for row in page(alice.client.get("/account/activity/")).select("bdi")]
    assert [event for event in events if "alice" in event] == [
        "alice changed the names of this server: \N{EN DASH}",
        "alice named this server “Ferry”",
        "alice changed the names of this server: ferry.example.org, tv.lan",
        "alice named this server “Our harbor”",
        "alice changed for how many days deleted items can be restored: 7",
    ]


def test_programs_that_list_deleted_items_learn_the_days(alice, own_service):
    alice.client.post(STORAGE, LIMITS)
    answer = alice.client.get("/files/deleted/")
    assert "7 days" in words(answer, "main")


@each_case(
    ("field", "value"),
    [("space_gb", "0"), ("space_gb", "much"), ("space_gb", "9" * 30), ("deleted_days", "-1")],
)
def test_an_impossible_limit_is_refused_at_its_field(alice, own_service, field, value):
    answer = alice.client.post(STORAGE, {**LIMITS, field: value})
    assert answer.status_code == 422
    wrong = page(answer).select_one(f"#storage [name={field}][aria-invalid=true]")
    assert wrong["value"] == value
    assert not OwnerSetting.objects.exists()


def test_a_server_is_called_what_its_owner_calls_it(alice, mallory, own_service):
    assert words(mallory.get("/signin/"), ".brand") == "Ferry"
    answer = alice.client.post(NAMES, CALLED, follow=True)
    assert words(answer, ".brand") == "Our harbor"
    assert words(mallory.get("/signin/"), ".brand") == "Our harbor"
    assert words(alice.client.get("/"), "title") == "Files · Our harbor"
    assert words(alice.client.get("/transfers/"), "title") == "Transfers · Our harbor"
    assert mallory.get("/manifest.webmanifest").json()["short_name"] == "Our harbor"


def test_ferry_answers_to_the_names_that_an_owner_adds(alice, mallory, own_service):
    assert mallory.get("/signin/", headers={"host": "ferry.example.org"}).status_code == 400
    alice.client.post(NAMES, CALLED)
    assert mallory.get("/signin/", headers={"host": "ferry.example.org"}).status_code == 200
    assert front.is_ours("tv.lan:9000")
    assert not front.is_ours("x.tv.lan")
    alice.client.post(NAMES, {**CALLED, "host_names": "tv.lan"})
    assert not front.is_ours("ferry.example.org")


@each_case("typed", ["a b@c", "https://", ".com", "x" * 254, "ferry_example", "*.example.org"])
def test_what_is_no_host_name_is_refused(alice, own_service, typed):
    answer = alice.client.post(NAMES, {"host_names": typed})
    assert answer.status_code == 422
    assert page(answer).select_one("#names [name=host_names][aria-invalid=true]")


def test_the_name_of_the_open_page_can_not_be_removed(alice, own_service):
    alice.client.post(NAMES, CALLED)
    answer = alice.client.post(NAMES, {"host_names": ""}, headers={"host": "tv.lan"})
    assert answer.status_code == 422
    assert "You opened this page at tv.lan" in words(answer, "#names")
    assert front.is_ours("tv.lan")


def test_what_the_environment_decides_is_said_and_can_not_be_changed(alice, own_service, settings):
    alice.client.post(STORAGE, LIMITS)
    alice.client.post(NAMES, CALLED)
    settings.FIXED_SETTINGS = {"DELETED_DAYS", "ALLOWED_HOSTS"}
    settings.DELETED_DAYS, settings.TRUSTED_HOSTS = 90, ["fixed.example"]
    answer = alice.client.get("/account/server/")
    for section, name, value in (
        ("#storage", "DELETED_DAYS", "90"),
        ("#names", "ALLOWED_HOSTS", "fixed.example"),
    ):
        assert f"The setting {name} decides this." in words(answer, section)
        assert words(answer, f"{section} dd") == value
    assert not page(answer).select("[name=deleted_days], [name=host_names]")
    alice.client.post(STORAGE, {"space_gb": "50", "deleted_days": "1"})
    assert deleted_items.kept_days() == 90
    assert front.is_ours("fixed.example")
    assert not front.is_ours("ferry.example.org")


def test_a_foreign_service_has_no_limits_to_set(alice, foreign):
    assert not page(alice.client.get("/account/server/")).select("#storage form")
    assert alice.client.post(STORAGE, LIMITS).status_code == 404


def test_a_person_who_is_no_owner_anymore_changes_nothing(alice, own_service):
    User.objects.filter(pk=alice.user.pk).update(role=Role.MEMBER)
    assert alice.client.post(STORAGE, LIMITS).status_code == 403
    assert alice.client.post(NAMES, CALLED).status_code == 403
    assert not OwnerSetting.objects.exists()


def test_an_account_that_means_nothing_is_not_shown(alice, own_service):
    answer = alice.client.get("/account/server/")
    assert page(answer).select_one("#plan") is None
    assert "PRO" not in words(answer, "main")
    assert "ferry@localhost" not in words(answer, "main")
    assert "manage.py account" not in words(answer, "main")


def test_an_account_without_access_is_told(alice, own_service):
    accounts.set_kind(own_service, "free")
    answer = alice.client.get("/account/server/")
    assert words(answer, "#plan h2") == "Storage account"
    assert "doesn't have a paid plan" in words(answer, "#plan")


def unhealthy(*, is_brief: bool = False) -> Report:
    assert is_brief
    return Report({"disk": Finding("disk_read_only", "x"), "database": None}, {}, 5_000_000_000)


def test_sections_say_what_they_hold(alice, bob, own_service, monkeypatch):
    # No test can break a disk.
    changed = replace(host(), report_health=unhealthy)
    monkeypatch.setattr("common.host._make", lambda: changed)
    alice.client.post(STORAGE, LIMITS)
    answer = alice.client.get("/account/server/")
    for listed in page(answer).select(".jumps a"):
        assert page(answer).select_one(f".setting{listed['href']}")
    jumps = words(answer, ".jumps")
    assert "People 2 people" in jumps
    assert "Health 1 item needs your attention." in jumps
    assert "The disk can't be written to" in words(answer, "#health")
    assert "There's 5 GB free on this disk." in words(answer, "#storage")
    assert "alice changed the space" in words(answer, "#activity")
    assert "http://localhost/" in words(answer, "#names")


def test_others_see_only_what_concerns_them(gwen, own_service):
    answer = gwen.client.get("/account/server/")
    assert [each["id"] for each in page(answer).select(".setting")] == ["storage", "service"]
    assert not page(answer).select("#storage form")


# Two processes

OTHER = """
import json, sys
import django
django.setup()
from host.web import front
from service.library import deleted_items
for line in sys.stdin:
    print(json.dumps([deleted_items.kept_days(), front.is_ours("tv.lan")]), flush=True)
"""


@pytest.mark.slow
@pytest.mark.promise("processes share what owners set")
@pytest.mark.django_db(transaction=True)
def test_a_change_is_seen_by_the_other_process_at_once(alice, own_service):
    with subprocess.Popen(
        [sys.executable, "-c", OTHER],
        cwd=BASE,
        env=other_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:

        def seen() -> list:
            other.stdin.write("\n")
            other.stdin.flush()
            return json.loads(other.stdout.readline())

        assert seen() == [django_settings.DELETED_DAYS, False]
        alice.client.post(STORAGE, LIMITS)
        alice.client.post(NAMES, CALLED)
        assert seen() == [7, True]
        other.stdin.close()
