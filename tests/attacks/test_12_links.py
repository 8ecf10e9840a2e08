"""Row 12: a signed link opens one content of one account, for its time, and nothing else.

For the site: tests/attacks/test_12_site_links.py. For playback: tests/attacks/test_12_streams.py.
"""

from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from service.accounts import accounts
from service.content import archive_plans, signed_links
from service.library import deleted_items, library, moves
from service.library.moves import Chosen
from service.store.blobs import library_store
from tests.service.builders import a_file, alice, mallory, put
from tests.service.reading import reader

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    return alice()


@pytest.fixture
def file(account):
    return a_file(account, "film.jpg", blob=put(library_store(), b"content"))


@pytest.fixture(params=["file", "inline", "zip"])
def link(request, account, file):
    now = timezone.now()
    if request.param == "zip":
        return archive_plans.create_link(account, [], [file.pk], "Films", now=now)
    return signed_links.file_link(account, file, now=now, inline=request.param == "inline")


def answer_to(link):
    with reader() as client:
        answer = client.get(link)
    found = answer.json()["reason_phrase"] if answer.status_code >= 400 else ""
    return answer.status_code, found


def test_a_link_needs_nothing_but_itself(link):
    assert answer_to(link) == (200, "")


def test_nothing_opens_without_its_signature(link):
    assert answer_to(urlsplit(link).path) == (403, "bad_link")


CHANGES = [
    lambda link: link[:-1] + ("A" if link[-1] != "A" else "B"),
    lambda link: link.replace("?e=1", "?e=2"),
    lambda link: link.replace("?e=", "?e=0"),
    lambda link: link.replace("?e=", "?e=+"),
    lambda link: link + "&i=1" if "i=1" not in link else link.replace("&i=1", ""),
    lambda link: link + "A",
    lambda link: link.replace("&s=", "&s=%00"),
]


def test_a_changed_link_is_a_bad_link(link):
    changed = [change(link) for change in CHANGES]
    assert link not in changed
    answers = {each: answer_to(each) for each in changed}
    assert answers == dict.fromkeys(changed, (403, "bad_link"))


def test_a_changed_name_changes_nothing(link):
    path, query = link.split("?")
    assert answer_to(f"{path.rpartition('/')[0]}/other.exe?{query}") == (200, "")


def test_guessed_ids_are_bad_links_whether_they_exist_or_not(account, file, link):
    existing = a_file(account, "other.jpg", blob=put(library_store()))
    kind, number, subject = urlsplit(link).path.split("/")[2:5]
    for guess in (existing.pk, 10**6, 2**70, 0):
        assert answer_to(link.replace(f"/{subject}/", f"/{guess}/", 1)) == (403, "bad_link")
    for guess in (account.pk + 1, 10**6, 2**70, 0):
        changed = link.replace(f"/{kind}/{number}/", f"/{kind}/{guess}/", 1)
        assert answer_to(changed) == (403, "bad_link")


def test_another_accounts_signature_opens_nothing(account, file):
    stranger = mallory()
    theirs = signed_links.signed_query(stranger, "file", str(file.pk), now=timezone.now())
    for owner in (account, stranger):
        answer = answer_to(f"/content/file/{owner.pk}/{file.pk}/x{theirs}")
        assert answer == ((404, "not_found") if owner == stranger else (403, "bad_link"))


def test_a_links_purpose_is_part_of_it(account, file):
    query = signed_links.signed_query(account, "zip", str(file.pk), now=timezone.now())
    assert answer_to(f"/content/file/{account.pk}/{file.pk}/x{query}") == (403, "bad_link")


@pytest.mark.parametrize(
    "pin", ["..", "../../secret_key", "..%2F..%2Fsecret_key", "%2e%2e", "x%00"]
)
def test_an_archive_plan_id_is_not_a_path(account, pin):
    query = signed_links.signed_query(account, "zip", pin, now=timezone.now())
    assert answer_to(f"/content/zip/{account.pk}/{pin}/x.zip{query}")[0] in (403, 404)


def test_a_link_follows_its_file_and_leads_to_no_copy(account, file, link):
    folder, now = library.create_folder(account, "Films", timezone.now()), timezone.now()
    moves.copy(account, Chosen([], [file.pk]), folder.pk, "ask", now)
    moves.move(account, Chosen([], [file.pk]), folder.pk, "keep_both", now)
    assert answer_to(link) == (200, "")
    deleted_items.delete(account, [], [file.pk], now)
    if "/zip/" not in link:
        assert answer_to(link) == (404, "not_found")


def test_a_link_dies_with_its_file(account, file):
    link = signed_links.file_link(account, file, now=timezone.now())
    library.delete_file(account, file.pk, timezone.now())
    assert answer_to(link) == (404, "not_found")


def test_an_archive_with_swept_content_is_missing_and_not_truncated(account, file):
    link = archive_plans.create_link(account, [], [file.pk], "Films", now=timezone.now())
    library.delete_file(account, file.pk, timezone.now())
    assert answer_to(link) == (200, "")
    library_store().delete(file.blob)
    assert answer_to(link) == (404, "not_found")


def test_every_link_dies_with_the_password_and_with_the_account(account, link):
    accounts.set_password(account, "another one")
    assert answer_to(link) == (403, "bad_link")
    accounts.remove(account, timezone.now())
    assert answer_to(link) == (403, "bad_link")


def test_a_link_dies_with_its_time(link, monkeypatch):
    later = timezone.now() + signed_links.LIFETIME + signed_links.WINDOW
    # A request can't choose the clock, and a link lives for days.
    monkeypatch.setattr("service.content.views.timezone.now", lambda: later)
    assert answer_to(link) == (403, "link_expired")
