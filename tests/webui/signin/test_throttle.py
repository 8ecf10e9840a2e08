"""What a throttle lets through; how pages slow guesses down is in test_views.py."""

from datetime import timedelta

import pytest

from tests.cases import each_case
from webui.signin import throttle

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@each_case(("networks", "most"), [(1, 20 + 6 + 5), (12, 20 + 4 + 30)])
def test_guesses_at_a_link_are_few_however_many_networks_guess(clock, networks, most):
    """In five minutes, one network guesses once a minute, and all together six times: some more
    while waits grow, and the free ones before."""
    guesses = [throttle.guess_at_share(1, f"203.0.113.{number}") for number in range(networks)]
    count = 0
    for _second in range(0, 300, 10):
        for guess in guesses:
            while throttle.claim(guess) is None:
                throttle.count(guess.keys)
                count += 1
        clock.advance(timedelta(seconds=10))
    assert 20 < count <= most


def test_right_answers_in_between_gain_no_guesses(clock):
    """A person with a session can show a code, and type it between two guesses at others."""
    key = throttle.key_for_session("codes", "a")
    guesses = 0
    for _second in range(600):
        if throttle.take(key) is None:
            throttle.give_back(key)
        guesses += throttle.take(key) is None
        clock.advance(timedelta(seconds=1))
    assert guesses <= throttle.FREE_BY_SESSION + 6 + 10
