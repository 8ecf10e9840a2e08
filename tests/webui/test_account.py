import pytest

from tests.people import PASSWORD, page, words

pytestmark = pytest.mark.django_db
NEW = "a louder harbour at night"
HTMX = {"hx-request": "true"}


def change(person, *, htmx=False, **fields):
    form = {"old_password": PASSWORD, "password": NEW, "password_again": NEW, **fields}
    return person.client.post("/account/password/", form, headers=HTMX if htmx else {})


def test_the_account_page_says_who_one_is(bob):
    answer = bob.client.get("/account/")
    assert "bob" in words(answer, ".page-head")
    assert "Member" in words(answer, ".page-head")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"old_password": "guess"}, "old_password"),
        ({"password_again": "other"}, "password_again"),
        ({"password": "bobbob12", "password_again": "bobbob12x"}, "password_again"),
        ({"password": "12345678", "password_again": "12345678"}, "password"),
    ],
)
def test_a_refused_change_says_where_and_changes_nothing(bob, wrong, field):
    answer = change(bob, **wrong)
    assert answer.status_code == 422
    assert page(answer).select_one(f"[name={field}][aria-invalid=true]")
    bob.user.refresh_from_db()
    assert bob.user.check_password(PASSWORD)


def test_under_htmx_only_the_form_comes_back(bob):
    answer = change(bob, htmx=True, old_password="guess")
    assert answer.status_code == 422
    assert page(answer).select_one("[name=old_password]")
    assert not page(answer).select_one("html")


def test_under_htmx_the_change_is_told(bob):
    answer = change(bob, htmx=True)
    assert answer.status_code == 200
    assert "Password changed" in words(answer, ".status")


def test_without_scripts_the_change_is_told_on_the_page(bob):
    assert change(bob).status_code == 302
    assert "Every other device is signed out" in words(bob.client.get("/account/"), "#toasts")


def test_guessing_the_present_password_is_limited(bob):
    statuses = [change(bob, old_password="guess").status_code for _try in range(25)]
    assert statuses[0] == 422
    assert statuses[-1] == 429


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colour_scheme_is_kept_in_this_browser(bob, theme):
    bob.client.post("/account/look/", {"theme": theme})
    html = page(bob.client.get("/account/")).select_one("html")
    assert html["data-theme"] == theme


@pytest.mark.parametrize("theme", ["system", "", "<script>"])
def test_an_unknown_scheme_follows_the_system(bob, theme):
    bob.client.post("/account/look/", {"theme": "dark"})
    bob.client.post("/account/look/", {"theme": theme})
    assert "data-theme" not in page(bob.client.get("/account/")).select_one("html").attrs


def test_under_htmx_the_scheme_is_kept_without_an_answer_to_show(bob):
    answer = bob.client.post("/account/look/", {"theme": "dark"}, headers=HTMX)
    assert answer.status_code == 204


def test_the_page_knows_how_the_service_is_without_asking_it(bob, storage):
    storage.file("a.txt")
    assert bob.client.get("/account/").context["page"].service.state == "Not asked yet"
    bob.client.get("/")
    well = bob.client.get("/account/").context["page"].service
    assert (well.is_well, well.state, well.place) == (True, "Connected", "In Ferry itself")
    assert well.last_ok
    assert well.latency.endswith(" ms")
    storage.fails("/rest/folder", 503)
    bob.client.get("/")
    before = len(storage.calls)
    ill = bob.client.get("/account/").context["page"].service
    assert not ill.is_well
    assert "isn't answering" in ill.state
    assert len(storage.calls) == before
