import hashlib
from contextlib import contextmanager
from datetime import timedelta

import pytest

from service.accounts import accounts, credentials, wrong_passwords
from service.errors import Busy, TooManyTries
from service.models import Guesses, KnownNetwork
from tests.service.builders import NOW, alice, an_account

pytestmark = pytest.mark.django_db
RIGHT, HOME, ELSEWHERE = "correct horse", "192.168.1.5", "203.0.113.9"


@pytest.fixture
def runs(monkeypatch):
    """Return the list of argon2 runs, which are fast here.

    From outside, a run shows only in the time it takes, and no clock can show that one of 1,000
    calls made a run.
    """
    seen = []

    def check_password(password, encoded):
        seen.append(encoded)
        return encoded == f"hash of {password}"

    monkeypatch.setattr(credentials, "check_password", check_password)
    monkeypatch.setattr(accounts, "make_password", lambda password: f"hash of {password}")
    return seen


def verify(password=RIGHT, *, email="alice@example.org", address=HOME, now=NOW):
    return credentials.verify(email, password, address, now)


def limited(**options):
    try:
        verify(**options)
    except TooManyTries:
        return True
    return False


def test_the_right_pair_gets_in_and_the_wrong_one_does_not():
    account = alice(password=RIGHT)
    assert verify() == account
    assert verify(email="ALICE@example.org") == account
    assert verify("wrong") is None
    assert verify(email="nobody@example.org") is None


def test_an_account_without_a_password_admits_no_one():
    alice(password=None)
    for password in ("", "None", "!"):
        assert verify(password) is None


@pytest.mark.promise("a password is hashed once")
@pytest.mark.slow
def test_1000_calls_cost_one_run(runs):
    account = alice(password=RIGHT)
    assert {verify() for _ in range(1000)} == {account}
    assert len(runs) == 1


def test_a_remembered_pair_dies_with_its_time(runs):
    alice(password=RIGHT)
    verify()
    verify(now=NOW + credentials.LIFETIME)
    assert len(runs) == 2


def test_a_remembered_pair_dies_with_the_password(runs):
    account = alice(password=RIGHT)
    assert verify()
    accounts.set_password(account, "another")
    assert verify() is None


def test_an_unknown_name_costs_a_run_too(runs):
    assert verify(email="nobody@example.org") is None
    assert runs == ["!"]


def test_a_very_long_password_costs_nothing(runs):
    alice(password=RIGHT)
    assert verify("x" * 10**6) is None
    assert runs == []


def test_the_sites_key_gets_in_beside_the_password(runs):
    digest = hashlib.sha256(b"site key").hexdigest()
    account = accounts.ensure_default("alice@example.org", digest, NOW)
    accounts.set_password(account, RIGHT)
    assert verify("site key") == verify(RIGHT) == account
    assert verify(digest) is None


def test_an_account_without_a_sites_key_knows_none(runs):
    alice(password=RIGHT)
    assert verify("") is None


def test_guessing_is_limited(runs):
    alice(password=RIGHT)
    for _ in range(wrong_passwords.MOST_BY_ADDRESS_AND_NAME):
        assert verify("wrong") is None
    count = len(runs)
    with pytest.raises(TooManyTries) as refused:
        verify()
    assert refused.value.wait == wrong_passwords.WINDOW
    assert len(runs) == count


def test_a_limit_passes(runs):
    account = alice(password=RIGHT)
    while not limited(password="wrong"):
        pass
    assert verify(now=NOW + wrong_passwords.WINDOW) == account


def test_a_limit_survives_small_clock_changes_and_not_large_ones(runs):
    account = alice(password=RIGHT)
    while not limited(password="wrong"):
        pass
    assert limited(now=NOW - timedelta(seconds=1))
    assert verify(now=NOW - timedelta(days=1)) == account


def test_a_guesser_locks_out_no_one_at_other_addresses(runs):
    account = alice(password=RIGHT)
    while not limited(password="wrong", address=ELSEWHERE):
        pass
    assert verify() == account


def test_a_pair_that_was_right_lately_is_never_limited(runs):
    account = alice(password=RIGHT)
    verify()
    while not limited(password="wrong"):
        pass
    assert verify() == account


def test_the_sites_key_is_never_limited(runs):
    account = accounts.ensure_default(
        "alice@example.org", hashlib.sha256(b"site key").hexdigest(), NOW
    )
    while not limited(password="wrong"):
        pass
    assert verify("site key") == account


@pytest.mark.slow
def test_many_names_from_one_address_are_limited(runs):
    tries = 0
    while not limited(email=f"{tries}@example.org"):
        tries += 1
    assert tries == wrong_passwords.MOST_BY_ADDRESS


def test_a_whole_home_network_counts_as_one(runs):
    alice(password=RIGHT)
    tries = 0
    while not limited(password="wrong", address=f"2001:db8::{tries + 1:x}"):
        tries += 1
    assert tries == wrong_passwords.MOST_BY_ADDRESS_AND_NAME


def test_using_an_own_account_clears_no_count(runs):
    alice(password=RIGHT)
    an_account("mallory@example.org", password="mine")
    for number in range(wrong_passwords.MOST_BY_ADDRESS_AND_NAME):
        assert verify("wrong") is None
        later = NOW + timedelta(seconds=number)
        assert verify("mine", email="mallory@example.org", now=later)
    assert limited()


def test_memory_use_is_bounded(runs, monkeypatch):
    # No setting changes this limit, and creating 1,000 accounts takes long.
    monkeypatch.setattr(credentials, "MOST_REMEMBERED", 3)

    def come(number):
        return verify(email=f"{number}@example.org", address=f"198.51.100.{number}")

    for number in range(20):
        an_account(f"{number}@example.org", password=RIGHT)
        assert come(number)
    # The last three are remembered; the one before them isn't.
    runs.clear()
    assert all(come(number) for number in (17, 18, 19))
    assert runs == []
    assert come(16)
    assert len(runs) == 1
    # The least recently used pair was forgotten.
    assert all(come(number) for number in (18, 19))
    assert len(runs) == 1


def test_use_extends_a_remembered_pair_up_to_a_day(runs):
    alice(password=RIGHT)
    step = credentials.LIFETIME - timedelta(seconds=1)
    steps = int(timedelta(days=1) / step)
    for number in range(steps):
        assert verify(now=NOW + number * step)
    assert len(runs) == 1
    assert verify(now=NOW + timedelta(days=1))
    assert len(runs) == 2


def test_a_remembered_pair_tells_guessers_elsewhere_nothing(runs):
    alice(password=RIGHT)
    assert verify()
    while not limited(password="wrong", address=ELSEWHERE):
        pass
    assert limited(address=ELSEWHERE)


def guess_from_everywhere(now=NOW):
    """Guess from many networks until Ferry refuses, and return the number of guesses."""
    guesses = 0
    while not limited(password="wrong", address=f"10.0.{guesses}.1", now=now):
        guesses += 1
    return guesses


def test_guesses_from_many_addresses_share_one_limit(runs):
    alice(password=RIGHT)
    assert guess_from_everywhere() == wrong_passwords.MOST_BY_ACCOUNT
    assert limited(address=ELSEWHERE)
    later = NOW + wrong_passwords.ACCOUNT_WINDOW
    assert verify(address=ELSEWHERE, now=later)


@pytest.mark.slow
def test_guesses_from_everywhere_keep_out_no_network_of_the_account(runs):
    account = alice(password=RIGHT)
    assert verify()
    guess_from_everywhere()
    # As a restart does.
    credentials.remembered.forget()
    assert verify() == account
    later = NOW + credentials.KNOWN_LIFETIME
    guess_from_everywhere(later)
    assert limited(now=later)


def test_old_rows_are_pruned(runs):
    alice(password=RIGHT)
    assert verify()
    verify("wrong", address=ELSEWHERE)
    later = NOW + wrong_passwords.ACCOUNT_WINDOW + timedelta(seconds=1)
    credentials.prune(later)
    assert (Guesses.objects.count(), KnownNetwork.objects.count()) == (0, 1)
    credentials.prune(NOW + credentials.KNOWN_LIFETIME + timedelta(seconds=1))
    assert not KnownNetwork.objects.exists()


@pytest.mark.slow
def test_a_new_password_makes_every_network_a_stranger(runs):
    account = alice(password=RIGHT)
    assert verify()
    accounts.set_password(account, "another")
    guess_from_everywhere()
    assert limited(password="another")


def test_right_passwords_count_nowhere(runs):
    alice(password=RIGHT)
    for number in range(2 * wrong_passwords.MOST_BY_ACCOUNT):
        assert verify(address=f"10.0.{number}.1")
    assert not Guesses.objects.exists()


def test_forgiveness_ends_every_limit(runs):
    alice(password=RIGHT)
    guess_from_everywhere()
    assert limited()
    wrong_passwords.reset()
    assert verify()


def test_an_address_of_ipv4_stays_one_under_an_ipv6_socket(runs):
    alice(password=RIGHT)
    while not limited(password="wrong", address="::ffff:192.0.2.1"):
        pass
    assert not limited(password="wrong", address="::ffff:192.0.2.2")
    assert limited(password="wrong", address="192.0.2.1")


def test_a_client_that_finds_the_queue_full_may_retry(runs, monkeypatch):
    @contextmanager
    def turn(_key, _password, *, is_known):
        if not is_known:
            raise TimeoutError
        yield

    account = alice(password=RIGHT)
    assert verify()
    credentials.remembered.forget()
    # The real queue fills only while all cores hash, and then within milliseconds.
    monkeypatch.setattr("common.passwords.turn", turn)
    with pytest.raises(Busy):
        verify(address=ELSEWHERE)
    assert verify() == account


def test_each_failure_is_logged_once_with_its_address_and_no_password(runs, caplog):
    alice(password=RIGHT)
    while not limited(password="wrong word", address=ELSEWHERE):
        pass
    verify("wrong word", email="typed@password.example", address="2001:db8::9")
    verify()
    lines = [record.getMessage() for record in caplog.records]
    own = f"name='alice@example.org' address={ELSEWHERE}"
    assert lines == [
        *[f"failed {own}"] * wrong_passwords.MOST_BY_ADDRESS_AND_NAME,
        f"limited {own}",
        "failed name='unknown' address=2001:db8::9",
    ]
