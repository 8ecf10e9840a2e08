import os
import subprocess
import sys
from datetime import UTC, date, datetime

import pytest
from django.conf import settings
from django.contrib.auth.hashers import check_password

from service.accounts import accounts
from service.errors import EmailTaken, NotFound
from service.library import library, space
from service.models import Account, Discarded, File, Folder, TorrentFile, Transfer
from tests import databases
from tests.cases import each_case
from tests.service.builders import (
    NOW,
    a_file,
    a_folder,
    a_torrent,
    a_tree,
    add_torrent,
    alice,
    an_account,
    mallory,
)

pytestmark = pytest.mark.django_db


def test_different_spellings_of_an_email_are_one_account():
    an_account("Alice@Example.org")
    assert accounts.find(" ALICE@example.ORG").email == "alice@example.org"
    with pytest.raises(EmailTaken):
        an_account("alice@EXAMPLE.org")
    assert Folder.objects.count() == 1


def test_an_unknown_account_is_not_found():
    with pytest.raises(NotFound):
        accounts.find("nobody@example.org")


def test_a_new_password_kills_old_links():
    account = alice(password="old password")
    key = account.link_key
    accounts.set_password(account, "new password")
    account.refresh_from_db()
    assert account.link_key != key
    assert check_password("new password", account.password)


def test_a_new_space_changes_listings():
    account = alice()
    accounts.set_space(account, 5, NOW)
    account.refresh_from_db()
    assert (account.space_max_bytes, account.library_revision) == (5, 1)


def test_space_may_shrink_below_what_is_used():
    account = alice()
    a_file(account, size_bytes=100)
    accounts.set_space(account, 50, NOW)
    account.refresh_from_db()
    assert (space.free_bytes(account), account.space_used_bytes) == (0, 100)


def test_a_removed_account_leaves_its_bytes_to_the_sweep_and_nothing_else():
    account, other = alice(), mallory()
    a_tree(account, "top", ["a/1", "2"])
    add_torrent(account, a_torrent(), a_folder(account).pk, NOW)
    kept = a_file(other)
    accounts.remove(account, NOW)
    assert Account.objects.get() == other
    assert File.objects.get() == kept
    assert Folder.objects.get() == library.root_of(other)
    assert not Transfer.objects.exists()
    assert not TorrentFile.objects.exists()
    assert Discarded.objects.count() == 2


def test_requests_of_a_removed_account_find_nothing():
    account = alice()
    accounts.remove(account, NOW)
    with pytest.raises(NotFound):
        library.create_folder(account, "Films", NOW)


def test_the_default_account_is_made_once_and_gets_the_sites_key():
    made = accounts.ensure_default("ferry@localhost", "a" * 64, NOW)
    accounts.set_password(made, "for other clients")
    again = accounts.ensure_default("ferry@localhost", "b" * 64, NOW)
    assert again == made
    assert again.secret_digest == "b" * 64
    assert check_password("for other clients", again.password)


@each_case(
    ("kind", "day", "may"),
    [
        ("paid", 15, True),
        ("free", 14, True),
        ("free", 15, False),
    ],
)
def test_free_accounts_end_with_a_day(kind, day, may):
    account = an_account()
    accounts.set_kind(account, Account.Kind(kind))
    now = datetime(2015, 12, day, 23, 59, tzinfo=UTC)
    assert accounts.is_paid_now(account, now, date(2015, 12, 14)) is may


@pytest.mark.slow
def test_an_account_can_be_added_before_ferry_first_ran(tmp_path):
    command = [sys.executable, "manage.py", "account", "add", "alice@example.org"]
    result = subprocess.run(
        command,
        env=os.environ
        | databases.settings_of(tmp_path / "new")
        | {"DATA_DIR": str(tmp_path / "new")},
        cwd=settings.BASE_DIR,
        input="correct horse\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "Added alice@example.org  paid  0.00 of 50.00 GB used\n"
