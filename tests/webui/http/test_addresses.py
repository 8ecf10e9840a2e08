"""The pages that browsers check (tests/browser/test_every_page.py) are all pages there are."""

import pytest
from django.urls import get_resolver, reverse

from tests.browser.addresses import PAGES, PIECES
from tests.webui.http.test_roles import TABLE, patterns


def test_every_address_is_a_page_or_a_piece_of_one():
    known = {pattern.name for pattern in patterns(get_resolver())}
    assert known == set(TABLE) == {*PAGES, *PIECES} - {"add-asked", "nowhere"}


@pytest.mark.django_db
def test_a_fragment_is_not_a_page(alice, storage):
    """Otherwise, no browser would ever check that page."""
    file = str(storage.file("notes.txt", b"words").id)
    real = {"7": file, "file-7": f"file-{file}"}
    shown, pages = set(), set()
    for name in PIECES:
        _lowest, method, arguments = TABLE[name]
        if method == "get":
            known = {each: real.get(value, value) for each, value in arguments.items()}
            answer = alice.client.get(reverse(name, kwargs=known))
            if answer.status_code == 200:
                shown.add(name)
                if b"<html" in answer.getvalue():
                    pages.add(name)
    assert {"files-listing", "files-rows", "preview-more", "search-results"} <= shown
    assert pages == set()
