"""The password of Ferry's own service, for other programs."""

import pytest
from django.utils import timezone

from config.embedded import upstream
from service.accounts import accounts, credentials
from tests.cases import each_case
from tests.people import page, words

pytestmark = pytest.mark.django_db
EMAIL = upstream.EMBEDDED_ACCOUNT
HTMX = {"hx-request": "true"}


@pytest.fixture(autouse=True)
def embedded():
    accounts.ensure_default(EMAIL, upstream.secret_digest(), timezone.now())


def is_let_in(password):
    return credentials.verify(EMAIL, password, "127.0.0.1", timezone.now()) is not None


def new_password(person, **options):
    answer = person.client.post("/account/programs/", **options)
    assert answer.status_code == 200
    return words(answer, "#programs-password")


@each_case("headers", [{}, HTMX])
def test_a_new_password_for_programs_replaces_the_previous_one(alice, storage, headers):
    first = new_password(alice, headers=headers)
    assert is_let_in(first)
    second = new_password(alice, headers=headers)
    assert is_let_in(second)
    assert not is_let_in(first)


def test_the_password_is_shown_once_and_in_no_log(alice, storage, caplog):
    password = new_password(alice)
    assert len(password) >= 24
    assert password not in caplog.text
    assert page(alice.client.get("/account/server/")).select_one("#programs-password") is None


def test_the_section_says_address_and_name(alice, storage):
    section = words(alice.client.get("/account/server/"), "#programs")
    assert "http://localhost/rest" in section
    assert EMAIL in section


def test_the_password_can_be_taken_away(alice, storage):
    password = new_password(alice)
    assert is_let_in(password)
    answer = alice.client.post("/account/programs/", {"forget": "1"}, follow=True)
    assert "can't sign in anymore" in words(answer, "#toasts")
    assert not is_let_in(password)


def test_a_foreign_service_has_no_password_for_programs(alice, foreign, settings):
    settings.SERVICE_URL = "https://v1.example"
    assert page(alice.client.get("/account/server/")).select_one("#programs") is None
    assert alice.client.post("/account/programs/").status_code == 404
