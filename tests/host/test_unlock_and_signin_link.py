"""Commands for a person who can't sign in: `unlock` and `signin_link`."""

import io
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from service.accounts import credentials, wrong_passwords
from service.errors import TooManyTries
from tests.people import PASSWORD, words
from tests.service.builders import an_account
from webui.signin import throttle

pytestmark = pytest.mark.django_db


def say(*command):
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def sign_in(password):
    browser = Client(headers={"host": "localhost"})
    return browser.post("/signin/", {"username": "alice", "password": password}).status_code


def test_unlock_ends_every_wait(alice, clock):
    while sign_in("guess") == 422:
        pass
    links = throttle.key_for_network("links", "127.0.0.1")
    while throttle.take(links) is None:
        pass
    an_account("me@example.org", password=PASSWORD)
    for _try in range(wrong_passwords.MOST_BY_ADDRESS_AND_NAME):
        credentials.verify("me@example.org", "guess", "127.0.0.1", clock.now)
    with pytest.raises(TooManyTries):
        credentials.verify("me@example.org", PASSWORD, "127.0.0.1", clock.now)
    say("unlock")
    assert sign_in(PASSWORD) == 302
    assert throttle.take(links) is None
    assert credentials.verify("me@example.org", PASSWORD, "127.0.0.1", clock.now)


def link_for(name):
    said = say("signin_link", name)
    return said, re.search(r"http://localhost:8000(/pair/[\w-]+/)", said)[1]


def test_a_link_signs_a_person_in_once(alice, mallory, clock):
    while sign_in("guess") == 422:
        pass
    said, link = link_for("Alice")
    looked = mallory.get(link)
    number = re.search(r"the number (\d\d \d\d)", said)[1]
    assert number in words(looked, "main")
    assert mallory.post(link)["Location"] == "/"
    assert "alice" in words(mallory.get("/account/"), ".page-head")
    assert Client(headers={"host": "localhost"}).post(link).status_code == 404


def test_signing_in_by_link_does_not_count_as_typing_a_password(alice, mallory):
    _said, link = link_for("alice")
    mallory.post(link)
    answer = mallory.post("/account/tokens/", {"name": "seedbox"})
    assert words(answer, "h1") == "Enter your password"


def test_a_link_lives_five_minutes(alice, mallory, clock):
    _said, link = link_for("alice")
    clock.advance(timedelta(minutes=5))
    assert mallory.post(link).status_code == 404


def test_signin_link_for_an_unknown_name_lists_the_people(alice, bob):
    with pytest.raises(CommandError, match=r"'carol'.*alice, bob"):
        say("signin_link", "carol")
