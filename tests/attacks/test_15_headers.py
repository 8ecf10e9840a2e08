"""Row 15: nothing sent from outside becomes a header of ours. (Names of files: see the service.)"""

import pytest
from django.test import Client

from tests.people import PASSWORD

pytestmark = pytest.mark.django_db
HOSTILE = ["a\r\nSet-Cookie: mallory=1", 'a"; b', "😀" * 40, "x" * 1000, "a\u202egpj.exe"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_wanted_page_cannot_add_headers(alice, text):
    browser = Client(headers={"host": "localhost"})
    form = {"username": "alice", "password": PASSWORD, "next": f"/account/?q={text}"}
    answer = browser.post("/signin/", form)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/")
    assert not set("\r\n\u202e") & set(answer["Location"])
    assert "mallory" not in answer.cookies


@pytest.mark.parametrize("text", HOSTILE)
def test_a_theme_cannot_add_headers(client, text):
    answer = client.post("/account/look/", {"theme": text})
    assert answer.cookies["ferry_theme_8000"].value == "system"
