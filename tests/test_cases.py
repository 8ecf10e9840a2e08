"""Test that every case runs, and that one failed case fails the test."""

import re
import subprocess
import sys
from contextlib import contextmanager
from textwrap import dedent

import pytest
from django.test import Client

from tests.cases import each_case
from tests.people import SignedIn
from tests.running import BASE
from webui.models import Role, User


class Subtests:
    """Keeps the failures that pytest would report."""

    def __init__(self):
        self.failures = {}

    @contextmanager
    def test(self, name):
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  Tests look at it.
            self.failures[name] = str(failure)


def test_every_case_runs_and_each_failure_is_named():
    seen = []

    @each_case("number", [1, 2, 3, 4])
    @each_case(("word", "is_good"), [("yes", True), ("no", False)])
    def check(number, word, is_good):
        seen.append((number, word))
        assert number % 2 or is_good

    subtests = Subtests()
    with pytest.raises(
        pytest.fail.Exception, match="2 of 8 cases failed: 'no', False, 2; 'no', False, 4"
    ):
        check(subtests=subtests)
    assert len(set(seen)) == len(seen) == 8
    assert [*subtests.failures] == ["'no', False, 2", "'no', False, 4"]


def test_an_exception_that_was_expected_and_did_not_come_is_a_failure():
    @each_case("name", ["quiet"])
    def check(name):
        with pytest.raises(ValueError, match="loud"):
            pass

    subtests = Subtests()
    with pytest.raises(pytest.fail.Exception, match="1 of 1 cases failed"):
        check(subtests=subtests)
    assert subtests.failures == {"'quiet'": "DID NOT RAISE ValueError"}


def test_without_cases_nothing_is_proven():
    with pytest.raises(AssertionError, match="no cases"):
        each_case("name", [])


def test_no_case_leaves_anything_to_the_next(bob: SignedIn, mallory: Client):
    names = []

    @each_case("name", ["one", "two"])
    def check(bob, mallory, name):
        names.append((bob.user.username, "seen" in mallory.cookies, User.objects.count()))
        User.objects.create_user(name, "x", Role.GUEST)
        bob.user.username = "other"
        bob.user.save()
        bob.client.post("/signout/")
        mallory.cookies["seen"] = "yes"
        assert bob.client.get("/account/").status_code == 302

    check(bob=bob, mallory=mallory, subtests=Subtests())
    assert names == [("bob", False, 1)] * 2
    bob.renew()
    assert bob.client.get("/account/").status_code == 200


EXAMPLES = """
    from tests.cases import each_case

    def is_odd(number):
        assert number % 2, "even"

    @each_case("number", [1, 2, 3, 42])
    def test_odd(number):
        is_odd(number)

    @each_case("word", ["forty"])
    def test_word(word):
        assert word

    def test_without_cases():
        pass
"""


@pytest.fixture
def run(tmp_path):
    """Return what pytest prints about the examples."""
    examples = tmp_path / "test_examples.py"
    examples.write_text(dedent(EXAMPLES))
    command = [sys.executable, "-m", "pytest", f"--rootdir={BASE}", "-c", "pyproject.toml"]

    def run(*options):
        whole = [*command, "-p", "no:cacheprovider", *options, examples]
        return subprocess.run(whole, cwd=BASE, capture_output=True, text=True, check=False).stdout

    return run


@pytest.mark.slow
@each_case("processes", ["0", "2"])
def test_each_failed_case_is_reported_by_itself(run, processes):
    output = run("--numprocesses", processes)
    assert re.findall(r"^_+ (test_odd.*?) _+$", output, re.MULTILINE) == [
        "test_odd [2]",
        "test_odd [42]",
        "test_odd",
    ]
    assert output.count('>       assert number % 2, "even"') == 2
    assert output.count("SUBFAILED[2] ") == output.count("SUBFAILED[42] ") == 1
    assert "::test_odd - Failed: 2 of 4 cases failed: 2; 42" in output
    assert "3 failed, 2 passed" in output


@pytest.mark.slow
def test_a_single_case_can_be_run(run):
    output = run("--case", "42")
    assert "SUBFAILED[42] " in output
    assert "1 of 1 cases failed: 42" in output
    assert "2 failed, 2 deselected" in output
