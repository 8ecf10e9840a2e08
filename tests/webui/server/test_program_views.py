"""How other programs use Ferry's own service, and the password that they had before tokens."""

import pytest
from django.utils import timezone

from common.host import host
from config.embedded import upstream
from service.accounts import accounts, credentials
from tests.people import page, words
from webui.models import ProgramPassword, User

pytestmark = pytest.mark.django_db
EMAIL = upstream.EMBEDDED_ACCOUNT
OLD_PASSWORD = "a password of an earlier Ferry"


@pytest.fixture(autouse=True)
def embedded():
    accounts.ensure_default(EMAIL, upstream.secret_digest(), timezone.now())


def make_old_password(owner: User) -> str:
    """Make the password as an earlier version of Ferry did."""
    host().embedded.set_password(OLD_PASSWORD)
    ProgramPassword.objects.create(user=owner)
    return OLD_PASSWORD


def is_let_in(password):
    return credentials.verify(EMAIL, password, "127.0.0.1", timezone.now()) is not None


def test_the_section_says_where_and_how(alice, storage):
    answer = alice.client.get("/account/server/")
    assert "http://localhost/rest" in words(answer, "#programs")
    assert page(answer).select_one("#programs a")["href"] == "/account/#tokens"
    assert not page(answer).select("#programs form")


def test_a_password_of_an_earlier_version_works_until_it_is_revoked(alice, storage):
    password = make_old_password(alice.user)
    assert is_let_in(password)
    form = page(alice.client.get("/account/server/")).select_one("#programs form")
    answer = alice.client.post(form["action"], follow=True)
    assert "can't sign in anymore" in words(answer, "#toasts")
    assert not is_let_in(password)
    assert not page(answer).select("#programs form")


def test_a_foreign_service_has_nothing_for_programs(alice, foreign, settings):
    settings.SERVICE_URL = "https://v1.example"
    assert page(alice.client.get("/account/server/")).select_one("#programs") is None
    assert alice.client.post("/account/programs/").status_code == 404
