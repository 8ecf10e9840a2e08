"""Test that every case runs, and that one failed case fails the test."""

import pytest
from django.test import Client

from tests.cases import all_cases, each_case
from tests.people import SignedIn
from webui.models import Role, User


def test_every_case_runs_and_each_failure_is_named():
    seen = []

    @each_case("number", [1, 2, 3, 4])
    @each_case(("word", "is_good"), [("yes", True), ("no", False)])
    def check(number, word, is_good):
        seen.append((number, word))
        assert number % 2 or is_good

    with pytest.raises(pytest.fail.Exception) as raised:
        check()
    assert len(set(seen)) == len(seen) == 8
    lines = str(raised.value).splitlines()
    assert lines[0] == "2 of 8 cases failed"
    assert [line for line in lines if line.startswith("---")] == [
        "--- 'no', False, 2",
        "--- 'no', False, 4",
    ]


def test_an_exception_that_was_expected_and_did_not_come_is_a_failure():
    def expect() -> None:
        with all_cases() as case, case("quiet"), pytest.raises(ValueError, match="loud"):
            pass

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        expect()


def test_without_cases_nothing_is_proven():
    with pytest.raises(AssertionError, match="no cases"), all_cases():
        pass


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

    check(bob=bob, mallory=mallory)
    assert names == [("bob", False, 1)] * 2
    bob.renew()
    assert bob.client.get("/account/").status_code == 200
