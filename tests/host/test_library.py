"""`manage.py library`, and what the owner sees while the database is older than the library."""

import io
import os
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from config.embedded.upstream import EMBEDDED_ACCOUNT
from host import health
from host.storage import running
from service.library import library
from service.library.upkeep import database_match
from service.models import Account, File, Library
from service.store.blobs import library_store
from tests.service.builders import NOW, a_file, an_account, put
from webui.activity.page import sentence
from webui.models import Activity

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    return library_store()


@pytest.fixture
def account(store):
    return an_account(EMBEDDED_ACCOUNT)


@pytest.fixture
def newer(store, account, monkeypatch):
    """A film that an older copy of the database doesn't know."""
    counted = database_match.generation_of_database()
    film = a_file(account, "film.mkv", size_bytes=9, blob=put(store, b"a film \n\n"))
    library.delete_file(account, film.pk, NOW)
    library.Discarded.objects.all().delete()
    Library.objects.update(generation=counted)
    # Each process caches its finding for seconds, and no setting makes it check again.
    monkeypatch.setattr(health.library, "_checked_at", float("-inf"))
    return film


def said(*arguments, capsys):
    call_command("library", *arguments)
    return capsys.readouterr().out


def test_list_shows_files_that_the_database_does_not_know(newer, capsys):
    output = said("list", capsys=capsys)
    assert "The database is older than the library." in output
    assert "It doesn't know 1 file" in output
    assert "Orphans: 0 files" in output


def test_adopting_puts_the_files_into_a_folder(newer, capsys, store):
    output = said("adopt", capsys=capsys)
    folder = f"Recovered {timezone.localdate()}"
    assert f"Put 1 file, 0.00 GB, into the folder '{folder}' of {EMBEDDED_ACCOUNT}." in output
    assert File.objects.get().folder.name == folder
    assert File.objects.get().sha1 == newer.sha1
    assert "knows the whole library" in said("list", capsys=capsys)


def test_discarded_files_stay_for_a_while_and_can_be_restored(newer, capsys, store):
    assert "Moved 1 file" in said("discard", capsys=capsys)
    assert newer.blob in said("list", capsys=capsys)
    assert not File.objects.exists()
    assert "Put 1 file" in said("restore", newer.blob, capsys=capsys)
    assert File.objects.get().blob == newer.blob
    assert store.size(newer.blob) == newer.size_bytes
    assert "Orphans: 0 files" in said("list", capsys=capsys)


def test_orphans_can_be_deleted_at_once(newer, capsys, store):
    said("discard", capsys=capsys)
    assert "Deleted 1 file" in said("delete", capsys=capsys)
    assert list(store.orphans()) == []


def test_the_owner_reads_what_was_done(newer):
    for action in ("list", "discard", "restore", "delete"):
        call_command("library", action, stdout=io.StringIO())
    assert [sentence(event) for event in Activity.objects.order_by("pk")] == [
        "A command on this machine moved files missing from the database to the orphans",
        f"A command on this machine put orphans into a folder of {EMBEDDED_ACCOUNT}",
        "A command on this machine deleted all orphans",
    ]


def test_the_owner_reads_that_files_were_adopted(newer):
    call_command("library", "adopt", stdout=io.StringIO())
    assert sentence(Activity.objects.get()) == (
        "A command on this machine put files missing from the database into a folder of "
        f"{EMBEDDED_ACCOUNT}"
    )


def test_without_doubt_there_is_nothing_to_decide(account):
    for action in ("adopt", "discard"):
        with pytest.raises(CommandError, match="nothing to decide"):
            call_command("library", action)


def test_a_library_that_lost_its_mark_is_claimed_again(account, store, capsys):
    file = a_file(account, blob=put(store, b"a film"))
    store.mark.unlink()
    assert "manage.py library claim" in said("list", capsys=capsys)
    for action in ("adopt", "discard", "restore"):
        with pytest.raises(CommandError, match="Mount its disk"):
            call_command("library", action)
    assert not store.mark.exists()
    assert "belongs to this database" in said("claim", capsys=capsys)
    assert database_match.doubt_about(store) is None
    assert store.size(file.blob) == file.size_bytes
    with pytest.raises(CommandError, match="nothing to claim"):
        call_command("library", "claim")


def test_a_full_account_is_told_how_to_get_space(newer, account, store):
    Account.objects.update(space_max_bytes=1)
    with pytest.raises(CommandError, match=f"manage.py account space {EMBEDDED_ACCOUNT}"):
        call_command("library", "adopt")
    assert store.size(newer.blob) == newer.size_bytes
    assert database_match.doubt_about(store)


def test_unknown_names_are_refused(newer, account):
    with pytest.raises(CommandError, match="No account nobody@"):
        call_command("library", "adopt", "--account", "nobody@example.org")
    call_command("library", "discard")
    with pytest.raises(CommandError, match="No orphan 4711"):
        call_command("library", "restore", "4711")


def test_running_uploads_are_left_alone(newer, store, capsys):
    then = (timezone.now() - timedelta(hours=1)).timestamp()
    os.utime(store.path(newer.blob), (then, then))
    running.note_running()
    try:
        under_way = put(store)
        assert "Put 1 file" in said("adopt", capsys=capsys)
        assert store.size(under_way.blob) is not None
        assert not File.objects.filter(blob=under_way.blob).exists()
    finally:
        os.close(running._descriptors.pop())  # noqa: SLF001  Only the end of a process releases it.


def test_each_page_leads_the_owner_to_what_to_do(newer, alice, bob):
    health = reverse("account-health")
    for url in (reverse("account"), reverse("transfers")):
        page = alice.client.get(url).content.decode()
        assert "The database is older than the files" in page
        assert f'<a href="{health}">What you can do</a>' in page
        assert "The database is older" not in bob.client.get(url).content.decode()
    page = alice.client.get(health).content.decode()
    assert page.count("The database is older than the files") == 1
    assert page.count("manage.py library adopt") == 1


def test_ready_tells_of_it_and_stays_ready(newer, alice):
    answer = alice.client.get("/readyz")
    assert answer.json()["parts"]["library"] == ("The database is older than the library.")
    assert answer.status_code == 200
