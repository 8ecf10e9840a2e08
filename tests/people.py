"""The people of the tests: Alice is the owner, Bob a member, Gwen a guest, Mallory a stranger."""

import re
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta

from bs4 import BeautifulSoup
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tests.running import PASSWORD
from webui.models import Role, User
from webui.signin.session import ENTERED_AT

__all__ = ["PASSWORD", "SignedIn", "make_person", "page", "signed_in", "typed_password", "words"]


@dataclass
class SignedIn:
    user: User
    client: Client

    def __post_init__(self) -> None:
        self.cookies = deepcopy(self.client.cookies)

    def renew(self) -> None:
        """Go back to the session with which this person began."""
        self.client.cookies = deepcopy(self.cookies)
        self.user.refresh_from_db()


class Stranger(Client):
    def renew(self) -> None:
        self.cookies.clear()


def make_person(name: str, role: Role) -> SignedIn:
    user = User.objects.create_user(name, PASSWORD, role)
    return SignedIn(user, signed_in(user))


def signed_in(user: User) -> Client:
    """Return a client that is signed in, as if the password had just been typed."""
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    typed_password(client)
    return client


def typed_password(client: Client, ago: timedelta = timedelta(0)) -> None:
    session = client.session
    session[ENTERED_AT] = (timezone.now() - ago).timestamp()
    session.save()


# A template that only holds what htmx swaps into the page.
SWAPPED = re.compile(r"<template>\s*(<[^>]*hx-swap-oob.*?)</template>", re.DOTALL)


def page(response: HttpResponse) -> BeautifulSoup:
    """Parse a response once, however often a test uses it: parsing costs as much as serving."""
    if not hasattr(response, "parsed"):
        # A fragment declares its encoding only in its header.
        html = SWAPPED.sub(r"\1", response.content.decode(response.charset))
        response.parsed = BeautifulSoup(html, "html.parser")
        for kept in response.parsed("template"):
            kept.clear()
    return response.parsed


def words(response: HttpResponse, selector: str) -> str:
    found = page(response).select_one(selector)
    assert found is not None, f"nothing on the page is {selector}"
    return " ".join(found.get_text(" ").split())
