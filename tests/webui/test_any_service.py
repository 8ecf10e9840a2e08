"""Pages of a service that answers anything: they render, and a broken row hides no other."""

import json

import httpx
import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.people import page, words
from tests.webui.v1.test_records import ANYTHING, OBJECTS
from webui.models import IndexedFolder
from webui.search.crawl import crawl
from webui.transfers import actions

pytestmark = pytest.mark.django_db
FOLDERS = [
    "/",
    "/?view=grid&sort=-size",
    "/files/7/",
    "/files/0/listing/",
    "/files/0/delete/?all=1",
]
OTHERS = ["/?q=a", "/files/0/file-100/view/", "/transfers/", "/transfers/list/"]
OTHERS += ["/account/", "/account/server/", "/files/largest/"]
# They show what only our own service sends, which is never half right.
OURS = ["/search/?q=a", "/files/deleted/"]
REFUSING = frozenset({"result", "wt"})
GOOD = {"id": 100, "name": "good.txt"}
ROWS = some.lists(
    some.builds(
        lambda row, one: row | {"id": one, "name": row.get("name", "a.mkv")},
        OBJECTS,
        some.integers(5, 12) | ANYTHING,
    ),
    max_size=4,
)
LISTINGS = some.builds(
    lambda facts, files, folders, running: (
        {key: value for key, value in facts.items() if key not in REFUSING}
        | {"files": [*files, GOOD], "folders": folders, "torrents": running, "items": files}
    ),
    OBJECTS,
    ROWS,
    ROWS,
    ROWS,
)


def say(storage, listing, *asked: str) -> None:
    content = json.dumps(listing).encode()
    for path in asked:
        storage.says(f"/rest/{path}", *[httpx.Response(200, content=content) for _ in range(9)])
    actions.mark_changed(storage.service)


@pytest.mark.slow
@settings(max_examples=60)
@given(some.sampled_from(FOLDERS + OTHERS), LISTINGS)
def test_no_page_breaks_on_any_listing(bob, storage, path, listing):
    say(storage, listing, "folder", "folder/0", "folder/7", "user", "transfer", "files/largest")
    answer = bob.client.get(path)
    assert answer.status_code == 200
    assert path not in FOLDERS or GOOD["name"] in page(answer).get_text()


@pytest.mark.slow
@settings(max_examples=60)
@given(some.sampled_from(OURS), LISTINGS)
def test_our_own_lists_are_shown_or_refused_in_words(bob, storage, path, listing):
    say(storage, listing, "folder", "user", "search", "deleted")
    answer = bob.client.get(path)
    refusal = "can't read the storage service's response"
    assert answer.status_code == 200 or refusal in words(answer, "h1")


@pytest.mark.slow
@settings(max_examples=60)
@given(LISTINGS)
def test_a_crawl_reads_any_listing(bob, foreign, listing):
    bob.client.get("/search/")
    content = json.dumps(listing).encode()
    for asked in ("folder", *(f"folder/{number}" for number in range(5, 13))):
        foreign.says(f"/rest/{asked}", *[httpx.Response(200, content=content) for _ in range(9)])
    IndexedFolder.objects.update(due_at=timezone.now())
    crawl(timezone.now(), lambda _seconds: None)
    shown = bob.client.get("/search/?q=good&all=1")
    assert GOOD["name"] in page(shown).get_text()
