import io

import pytest
from django.core.management import CommandError, call_command

from host.management.commands.account import Command
from service.accounts import credentials
from service.models import Account
from tests.cases import each_case
from tests.service.builders import NOW, a_file, alice, mallory

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse"


@pytest.fixture
def account(monkeypatch):
    """Return a function that runs `manage.py account` with a line on standard input and returns the
    output. It runs in this process, since it works on the test's database."""

    def run(*words, line=PASSWORD):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{line}\nanother line\n"))
        out = io.StringIO()
        call_command("account", *words, stdout=out)
        return out.getvalue()

    return run


@pytest.mark.django_db(transaction=True)
def test_what_is_no_email_address_is_one_line(capsys):
    with pytest.raises(SystemExit):
        Command().run_from_argv(["manage.py", "account", "add", "notmail"])
    assert capsys.readouterr().err == "CommandError: 'notmail' isn't an email address.\n"


def may_enter(password=PASSWORD):
    return credentials.verify("alice@example.org", password, "127.0.0.1", NOW) is not None


def test_an_added_account_can_be_used(account):
    said = account("add", "Alice@example.org", "--space", "5GB", "--type", "free")
    made = Account.objects.get()
    assert (made.email, made.kind) == ("alice@example.org", "free")
    assert made.space_max_bytes == 5 * 10**9
    assert may_enter()
    assert PASSWORD not in said


def test_a_new_account_is_paid_and_has_50_gb_by_default(account):
    account("add", "alice@example.org")
    made = Account.objects.get()
    assert (made.kind, made.space_max_bytes) == ("paid", 50 * 10**9)


def test_the_list_names_everyone(account):
    assert account("list") == "There is no account.\n"
    a_file(alice(space_max_bytes=10**9), size_bytes=250_000_000)
    mallory()
    assert account("list") == (
        "alice@example.org  paid  0.25 of 1.00 GB used\n"
        "mallory@example.org  paid  0.00 of 1.00 GB used\n"
    )


def test_password_type_and_space_can_be_changed(account):
    alice(password=PASSWORD)
    account("password", "ALICE@example.org", line="new password")
    account("type", "alice@example.org", "free")
    account("space", "alice@example.org", "1TB")
    changed = Account.objects.get()
    assert (changed.kind, changed.space_max_bytes) == ("free", 10**12)
    assert may_enter("new password")
    assert not may_enter(PASSWORD)


def test_deletions_by_programs_are_final_or_restorable(account):
    made = alice()
    for word, keeps in (("restorable", True), ("final", False)):
        assert "alice@example.org" in account("deletions", "alice@example.org", word)
        made.refresh_from_db()
        assert made.keeps_deleted == keeps


def test_a_removed_account_no_longer_exists(account):
    alice()
    account("remove", "alice@example.org")
    assert not Account.objects.exists()


@each_case(
    "words",
    [
        ["add", "alice@example.org"],
        ["add", "no address"],
        ["add", "new@example.org", "--type", "gold"],
        ["add", "new@example.org", "--space", "much"],
        ["password", "nobody@example.org"],
        ["remove", "nobody@example.org"],
        ["type", "alice@example.org", "gold"],
        [],
    ],
)
def test_a_mistake_is_reported_and_changes_nothing(account, words):
    alice()
    with pytest.raises(CommandError):
        account(*words)
    assert Account.objects.count() == 1


def test_a_short_password_is_refused(account):
    with pytest.raises(CommandError, match="at least 8"):
        account("add", "alice@example.org", line="short")
    assert not Account.objects.exists()


@each_case("weak", ["password123", "alice@example.org", "12345678", "x" * 1025])
def test_a_password_that_the_site_would_refuse_is_refused(account, weak):
    alice(password=PASSWORD)
    for words in (["add", "alice.new@example.org"], ["password", "alice@example.org"]):
        with pytest.raises(CommandError, match=r"too common|too similar|at most 1024"):
            account(*words, line=weak)
    assert Account.objects.count() == 1
    assert may_enter()
