"""The language of a page: the browser's, or the one that the person chose."""

import pytest
from django.test import Client

from tests.people import page, signed_in, words

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def language_of(answer):
    return page(answer).select_one("html")["lang"]


def test_strangers_are_spoken_to_as_their_browser_asks(alice):
    stranger = Client(headers={"host": "localhost"})
    assert language_of(stranger.get("/signin/")) == "en"
    german = stranger.get("/signin/", headers=GERMAN)
    assert language_of(german) == "de"
    assert "Passwort" in german.content.decode()


def test_saving_a_language_returns_to_the_button_with_a_message(bob):
    answer = bob.client.post("/account/language/", {"language": "en"}, follow=True)
    path, _status = answer.redirect_chain[-1]
    assert path == "/account/#language-save"
    assert page(answer).select_one("#language button#language-save")
    assert "Language saved" in words(answer, "#toasts")


def test_an_unsupported_language_falls_back_to_english(bob):
    assert language_of(bob.client.get("/", headers={"accept-language": "tlh"})) == "en"


def test_a_chosen_language_overrides_the_browsers_on_all_devices(bob):
    answer = bob.client.post("/account/language/", {"language": "de"}, follow=True)
    assert language_of(answer) == "de"
    assert page(answer).select_one("#language input[value=de][checked]")
    phone = signed_in(bob.user)
    assert language_of(phone.get("/", headers={"accept-language": "en"})) == "de"


def test_the_choice_can_be_left_to_the_browser_again(bob):
    bob.client.post("/account/language/", {"language": "de"})
    for unknown in ("", "xx", "../de"):
        bob.client.post("/account/language/", {"language": unknown})
        assert language_of(bob.client.get("/account/")) == "en"


def test_people_choose_languages_independently(bob, gwen):
    bob.client.post("/account/language/", {"language": "de"})
    assert language_of(bob.client.get("/")) == "de"
    assert language_of(gwen.client.get("/")) == "en"
