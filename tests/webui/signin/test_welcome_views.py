from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import PASSWORD, page, words
from webui.models import OneTimeLink, Role, User
from webui.signin import one_time_links

FORM = {"username": "alice", "password": PASSWORD, "password_again": PASSWORD}


@pytest.fixture
def link(db) -> str:
    token = one_time_links.issue(OneTimeLink.WELCOME, timezone.now(), timedelta(hours=1))
    return f"/welcome/{token}/"


def test_looking_at_the_link_uses_nothing_up(mallory, link):
    for _look in range(3):
        answer = mallory.get(link)
        assert answer.status_code == 200
        assert page(answer).select_one("form[method=post] [name=password_again]")
    assert mallory.head(link).status_code == 200
    assert not User.objects.exists()


def test_the_form_makes_the_owner_and_signs_in(mallory, link):
    assert mallory.post(link, FORM)["Location"] == "/"
    assert User.objects.get().role == Role.OWNER
    assert mallory.get("/account/").status_code == 200


def test_the_link_works_once(mallory, link):
    mallory.post(link, FORM)
    again = Client(headers={"host": "localhost"}).post(link, {**FORM, "username": "mallory"})
    assert again.status_code == 404
    assert User.objects.count() == 1


def test_an_expired_link_does_not_work(mallory, link):
    OneTimeLink.objects.update(expires_at=timezone.now())
    assert mallory.get(link).status_code == 404
    assert mallory.post(link, FORM).status_code == 404
    assert not User.objects.exists()


def test_a_used_link_says_that_ferry_has_its_owner(mallory, link):
    mallory.post(link, FORM)
    for again in (mallory, Client(headers={"host": "localhost"})):
        answer = again.get(link)
        assert answer.status_code == 404
        assert words(answer, "h1") == "Ferry already has an owner"
        assert page(answer).select_one("a[href='/signin/']")


def test_an_expired_link_says_how_to_get_another(mallory, link):
    OneTimeLink.objects.update(expires_at=timezone.now())
    assert words(mallory.get(link), "h1") == "This link has expired"


def test_the_first_screen_teaches_the_ways_in(mallory, storage, link):
    shown = mallory.post(link, FORM, follow=True)
    form = page(shown).select_one(".first form")
    assert (form["action"], form["method"]) == ("/transfers/send/", "post")
    assert form.select_one("[name=text]")
    ways = [way["href"] for way in page(shown).select(".first a")]
    assert ways == ["/files/0/upload/", "/files/0/upload/", "/account/#pair", "/account/#ways"]
    assert len(page(shown).select(".first h2")) == 1
    assert len(page(shown).select(".first h3")) == 3
    films = storage.folder("Films")
    assert not page(mallory.get(f"/files/{films.id}/")).select_one(".first")
    assert not page(mallory.get("/")).select_one(".first")


def test_a_guest_is_taught_nothing_that_is_not_allowed(gwen, storage):
    assert not page(gwen.client.get("/")).select_one(".first")


def test_a_guessed_link_does_not_work(mallory, link):
    assert mallory.post("/welcome/guess/", FORM).status_code == 404


def test_a_link_does_not_work_once_there_is_an_owner(alice, mallory, link):
    assert mallory.post(link, {**FORM, "username": "mallory"}).status_code == 404
    assert User.objects.count() == 1


@each_case(
    ("wrong", "field"),
    [
        ({"password_again": "another"}, "password_again"),
        ({"password": "short", "password_again": "short"}, "password"),
        ({"password": "password1", "password_again": "password1"}, "password"),
        ({"username": "<script>"}, "username"),
        ({"username": ""}, "username"),
        ({"username": "a\x00b"}, "username"),
    ],
)
def test_a_refused_field_says_so_and_the_link_stays_good(mallory, link, wrong, field):
    answer = mallory.post(link, {**FORM, **wrong})
    assert answer.status_code == 422
    assert page(answer).select_one(f"[name={field}][aria-invalid=true]")
    assert PASSWORD.encode() not in answer.content
    assert mallory.post(link, FORM).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_visitors_yield_one_owner():
    token = one_time_links.issue(OneTimeLink.WELCOME, timezone.now(), timedelta(hours=1))

    def claim(name: str) -> int:
        try:
            visitor = Client(headers={"host": "localhost"})
            return visitor.post(f"/welcome/{token}/", {**FORM, "username": name}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(claim, ["alice", "mallory"]))
    assert answers == [302, 404]
    assert User.objects.count() == 1
