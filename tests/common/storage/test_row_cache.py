"""Rows read from the database stay cached until any process changes the database."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, transaction

from common.storage import row_cache
from tests.people import SignedIn
from webui.models import Role, User

pytestmark = pytest.mark.django_db(transaction=True)
is_sqlite = connection.vendor == "sqlite"


def elsewhere(act) -> None:
    """Act in another thread, whose connection is another one."""

    def act_and_close() -> None:
        act()
        connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(act_and_close).result()


class Reader:
    """It counts how often Bob's role was really read."""

    def __init__(self, bob: SignedIn) -> None:
        self.bob, self.count = bob.user, 0

    def role(self) -> str:
        return row_cache.read(("role", self.bob.pk), self._role)

    def set_role(self, role: Role) -> None:
        User.objects.filter(pk=self.bob.pk).update(role=role)

    def _role(self) -> str:
        self.count += 1
        return User.objects.get(pk=self.bob.pk).role


@pytest.fixture
def reader(bob) -> Reader:
    return Reader(bob)


def test_an_unchanged_row_is_read_once(reader):
    assert {reader.role() for _ in range(5)} == {Role.MEMBER}
    assert reader.count == (1 if is_sqlite else 5)


def test_a_change_in_any_process_shows_at_once(reader):
    assert reader.role() == Role.MEMBER
    reader.set_role(Role.GUEST)
    assert reader.role() == Role.GUEST
    elsewhere(lambda: reader.set_role(Role.OWNER))
    assert reader.role() == Role.OWNER


def test_rows_read_in_a_transaction_are_not_cached(reader):
    assert reader.role() == Role.MEMBER
    with transaction.atomic():
        reader.set_role(Role.GUEST)
        assert reader.role() == Role.GUEST
        transaction.set_rollback(True)
    assert reader.role() == Role.MEMBER


def test_a_session_that_ends_elsewhere_ends_here(bob, storage):
    assert bob.client.get("/").status_code == 200
    assert bob.client.get("/").status_code == 200
    elsewhere(Session.objects.all().delete)
    assert bob.client.get("/")["Location"].startswith("/signin/")


def test_a_session_expires_although_nothing_changes(bob, storage, monkeypatch):
    assert bob.client.get("/").status_code == 200
    expires_at = Session.objects.get().expire_date
    # No test waits thirty days.
    monkeypatch.setattr("webui.signin.session_store.timezone.now", lambda: expires_at)
    assert bob.client.get("/")["Location"].startswith("/signin/")


def test_a_person_removed_elsewhere_sees_nothing_more(bob, storage):
    assert bob.client.get("/").status_code == 200
    elsewhere(lambda: User.objects.filter(pk=bob.user.pk).update(is_active=False))
    assert bob.client.get("/")["Location"].startswith("/signin/")


def test_a_view_that_changes_its_person_affects_no_other_request(bob, storage):
    first, second = bob.client.get("/").wsgi_request.user, bob.client.get("/").wsgi_request.user
    first.language = "de"
    assert second.language == ""
    assert bob.client.get("/").wsgi_request.user.language == ""


@pytest.mark.sqlite
def test_a_page_that_was_seen_costs_two_queries(bob, django_assert_max_num_queries):
    """The embedded service reads the account and the folder."""
    bob.client.get("/files/0/listing/")
    bob.client.get("/files/0/listing/")
    with django_assert_max_num_queries(2):
        assert bob.client.get("/files/0/listing/").status_code == 200
