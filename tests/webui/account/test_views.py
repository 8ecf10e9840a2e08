import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.cases import each_case
from tests.people import PASSWORD, SignedIn, page, signed_in, words
from tests.webui.service import storage_of
from webui.connection import connection
from webui.server.pages.server import service_part
from webui.v1.connection import Health
from webui.v1.errors import Forbidden
from webui.words.formatting import ago_words

pytestmark = pytest.mark.django_db
NEW = "a louder harbour at night"
HTMX = {"hx-request": "true"}


def change(person, *, htmx=False, **fields):
    form = {"old_password": PASSWORD, "password": NEW, "password_again": NEW, **fields}
    return person.client.post("/account/password/", form, headers=HTMX if htmx else {})


def test_the_account_page_says_who_you_are(bob):
    answer = bob.client.get("/account/")
    assert "bob" in words(answer, ".page-head")
    assert "Member" in words(answer, ".page-head")


@each_case(
    ("wrong", "field"),
    [
        ({"old_password": "guess"}, "old_password"),
        ({"password_again": "other"}, "password_again"),
        ({"password": "bobbob12", "password_again": "bobbob12x"}, "password_again"),
        ({"password": "12345678", "password_again": "12345678"}, "password"),
    ],
)
@each_case("htmx", [False, True])
def test_a_refused_change_says_where_and_changes_nothing(bob, wrong, field, htmx):
    answer = change(bob, htmx=htmx, **wrong)
    assert answer.status_code == 422
    refused = page(answer).select_one(f"[name={field}][aria-invalid=true]")
    assert words(answer, f"#{refused['id']}-error")
    bob.user.refresh_from_db()
    assert bob.user.check_password(PASSWORD)


OWN = "/account/"
SHARED = "/account/server/"
PARTS = {
    ("alice", OWN): "browser language notices devices password pair ways tokens",
    ("bob", OWN): "browser language notices devices password pair ways tokens",
    ("gwen", OWN): "browser language notices devices password pair tokens",
    ("alice", SHARED): "storage traffic names people health service connection programs activity",
    ("bob", SHARED): "storage traffic service",
    ("gwen", SHARED): "storage service",
}


@each_case("case", PARTS)
def test_personal_and_shared_settings_are_on_two_pages(alice, bob, gwen, storage, case):
    person, path = case
    people = {"alice": alice, "bob": bob, "gwen": gwen}
    shown = page(people[person].client.get(path))
    parts = [(each["id"], each.h2.get_text()) for each in shown.select("main .setting")]
    assert " ".join(part for part, _title in parts) == PARTS[case]
    jumps = [(each["href"], each.get_text()) for each in shown.select(".jumps a")]
    assert jumps == [(f"#{part}", title) for part, title in parts]
    assert shown.select(".jumps details, .jumps summary") == []


@each_case("path", [OWN, SHARED])
def test_both_pages_begin_with_the_way_to_either(gwen, storage, path):
    tabs = page(gwen.client.get(path)).select("main .tabs a")
    assert [each["href"] for each in tabs] == [OWN, SHARED]
    assert [each["href"] for each in tabs if each.get("aria-current") == "page"] == [path]


@pytest.mark.slow
def test_every_link_to_a_part_leads_to_the_page_that_has_it(alice, storage):
    storage.file("song.mp3")
    alice.client.get("/")
    alice.client.post("/files/0/link/")
    invited = alice.client.post("/account/people/invite/", {"role": "guest"})
    paired = alice.client.post("/account/pair/")
    person = f"/account/people/{alice.user.pk}/"
    paths = ["/", "/add/", "/files/0/link/", OWN, SHARED, "/account/health/", "/account/activity/"]
    paths += ["/account/pair/code/", "/account/people/invite/", person]
    answers = [alice.client.get(path) for path in paths] + [invited, paired]
    ids = {
        path: {each["id"] for each in page(alice.client.get(path)).select("[id]")}
        for path in (OWN, SHARED)
    }
    links = {each["href"] for answer in answers for each in page(answer).select("a[href*='/#']")}
    assert len(links) > 6
    assert [link for link in links if link.split("#")[1] not in ids[link.split("#")[0]]] == []


WAYS_BACK = {
    "/account/look/": "/account/#browser",
    "/account/language/": "/account/#language-save",
    "/account/devices/signout/": "/account/#devices",
    "/account/tokens/7/revoke/": "/account/#tokens",
    "/account/links/7/revoke/": "/account/#shares",
    "/account/service/check/": "/account/server/#service",
    "/account/connection/forget/": "/account/server/#connection",
    "/account/people/invitations/7/": "/account/server/#people",
}


@each_case("path", WAYS_BACK)
def test_an_act_leads_back_to_its_part(alice, storage, path):
    assert alice.client.post(path)["Location"] == WAYS_BACK[path]


def test_under_htmx_only_the_form_is_returned(bob):
    answer = change(bob, htmx=True, old_password="guess")
    assert answer.status_code == 422
    assert page(answer).select_one("[name=old_password]")
    assert "This isn't your current password." in words(answer, "form")
    assert not page(answer).select_one("html")


def test_under_htmx_the_change_is_announced(bob):
    answer = change(bob, htmx=True)
    assert answer.status_code == 200
    assert "Password changed" in words(answer, ".status")


def test_without_scripts_the_page_announces_the_change(bob):
    assert change(bob).status_code == 302
    assert "Your other devices are signed out" in words(bob.client.get("/account/"), "#toasts")


@pytest.mark.promise("guesses at the current password are limited")
@pytest.mark.slow
def test_guessing_the_current_password_is_limited(bob):
    answers = [change(bob, old_password="guess") for _try in range(25)]
    assert answers[0].status_code == 422
    assert answers[-1].status_code == 429
    assert answers[-1]["Retry-After"] == "1"
    assert "Wait 1 second" in words(answers[-1], "main")


@pytest.mark.slow
def test_a_thief_of_a_session_cannot_keep_its_owner_from_a_new_password(bob):
    thief = SignedIn(bob.user, signed_in(bob.user))
    answers = [change(thief, old_password="guess").status_code for _try in range(25)]
    assert answers[-1] == 429
    assert change(bob).status_code == 302
    assert thief.client.get("/").status_code == 302


@each_case("theme", ["light", "dark"])
def test_the_color_scheme_is_saved_in_this_browser(bob, theme):
    bob.client.post("/account/look/", {"theme": theme})
    html = page(bob.client.get("/account/")).select_one("html")
    assert html["data-theme"] == theme


@each_case("theme", ["system", "", "<script>"])
def test_an_unknown_scheme_follows_the_system(bob, theme):
    bob.client.post("/account/look/", {"theme": "dark"})
    bob.client.post("/account/look/", {"theme": theme})
    assert "data-theme" not in page(bob.client.get("/account/")).select_one("html").attrs


def test_under_htmx_the_scheme_is_saved_without_content(bob):
    answer = bob.client.post("/account/look/", {"theme": "dark"}, headers=HTMX)
    assert answer.status_code == 204


def test_the_page_of_a_guest_knows_how_the_service_is_without_asking_it(gwen, storage):
    storage.file("a.txt")
    assert gwen.client.get("/account/server/").context["page"].service.state == "Not checked yet"
    gwen.client.get("/")
    well = gwen.client.get("/account/server/").context["page"].service
    assert (well.is_well, well.state) == (True, "Storage service")
    assert re.fullmatch(r"Responded in \d+ ms, (just now|\d+ seconds? ago)", well.detail)
    storage.fails("/rest/folder", 503)
    gwen.client.get("/")
    before = len(storage.calls)
    unhealthy = gwen.client.get("/account/server/").context["page"].service
    assert unhealthy.is_unhealthy
    assert "isn't responding" in unhealthy.state
    assert len(storage.calls) == before


# The storage service: Check now


def check(person, *, htmx=False):
    return person.client.post("/account/service/check/", headers=HTMX if htmx else {})


@each_case("name", ["alice", "bob", "gwen"])
def test_everyone_may_check_whether_the_service_responds(alice, bob, gwen, storage, name):
    person = {"alice": alice, "bob": bob, "gwen": gwen}[name]
    answer = check(person, htmx=True)
    assert "Responded in" in words(answer, "#service")
    assert not page(answer).select_one("html")
    assert page(answer).select_one("#service-check[autofocus]")["aria-describedby"]
    assert storage.calls == [("GET", "/rest/user")]


def test_without_scripts_a_check_leads_back_to_the_page(gwen, storage):
    form = page(gwen.client.get("/account/server/")).select_one("#service form[method=post]")
    answer = gwen.client.post(form["action"], follow=True)
    assert "Responded in" in words(answer, "#service")


@each_case(
    ("status", "reason", "said"),
    [
        (503, "", "isn't responding"),
        (401, "", "rejected Ferry's sign-in"),
        (403, "premium_required", "doesn't have a paid plan"),
        (429, "", "is limiting requests"),
    ],
)
def test_a_failed_check_is_explained(gwen, storage, status, reason, said):
    storage.fails("/rest/user", status, reason)
    answer = check(gwen, htmx=True)
    assert answer.status_code == 200
    assert said in words(answer, "#service .status.amber")
    assert "Checked" in words(answer, "#service small")
    storage.is_back()
    assert "Responded in" in words(check(gwen, htmx=True), "#service")


def test_the_page_after_a_check_may_be_another_processs(gwen, storage):
    check(gwen)
    health = storage.service.v1.health
    storage.service = storage_of(storage.service.key, is_embedded=True).service
    assert connection.health_of(storage.service) == health != storage.service.v1.health
    assert "Responded in" in words(gwen.client.get("/account/server/"), "#service")


def test_cached_checks_of_another_release_are_ignored(gwen, storage):
    key = storage.service.key
    connection.cache.set(f"health-{key}", tuple("too many facts"))
    assert "Not checked yet" in words(gwen.client.get("/account/server/"), "#service")


def test_a_check_is_shown_despite_a_full_disk(gwen, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    # Without root, a test can't fill a disk.
    monkeypatch.setattr(connection.cache, "set", full, raising=False)
    assert "Responded in" in words(check(gwen, htmx=True), "#service")


@each_case(
    ("past", "said"),
    [
        (0.4, "just now"),
        (1, "1 second ago"),
        (59, "59 seconds ago"),
        (60, "1 minute ago"),
        (7200, "2 hours ago"),
        (3 * 86_400, "3 days ago"),
        (-5, "just now"),
    ],
)
def test_elapsed_time_is_described_in_words(past, said):
    assert ago_words(timedelta(seconds=past)) == said


def test_a_slow_response_is_reported_in_seconds():
    now = datetime(2026, 9, 1, tzinfo=UTC)
    assert "1.4 s, just now" in service_part(Health(now, None, None, 1.42), now).detail


def test_a_failure_stored_without_a_kind_is_explained_too():
    now = datetime(2026, 9, 1, tzinfo=UTC)
    assert service_part(Health(last_error="cut_off"), now).is_unhealthy
    known = Health(last_error="premium_required", last_failure=Forbidden)
    assert "paid plan" in service_part(known, now).state


# Storage


def test_the_largest_files_link_shows_if_the_service_lists_them(bob, storage):
    link = page(bob.client.get("/account/server/")).select_one("#storage > div > a")
    assert link["href"] == "/files/largest/"


def test_a_foreign_service_lists_no_largest_files(bob, foreign):
    assert not page(bob.client.get("/account/server/")).select("#storage > div > a")
    answer = bob.client.get("/files/largest/")
    assert answer.status_code == 404
    assert "can't list its largest files" in words(answer, "main")
    assert ("GET", "/rest/files/largest") not in foreign.calls


def test_the_largest_things_are_named_with_their_sizes(bob, storage):
    storage.folder("Films")
    storage.file("big.bin", b"x" * 300_000)
    storage.file("small.txt", b"x" * 1_000)
    bob.client.get("/")
    answer = bob.client.get("/account/server/")
    rows = [" ".join(row.get_text(" ").split()) for row in page(answer).select("#storage li")]
    assert rows == ["big.bin 300 KB", "small.txt 1 KB"]
    bars = [bar["value"] for bar in page(answer).select("#storage progress")]
    assert bars == ["100", "1"]


def test_the_page_says_when_nothing_was_read_yet(gwen, storage):
    assert "hasn't reported its free space yet" in words(
        gwen.client.get("/account/server/"), "#storage"
    )
