"""How the download limit is divided between torrents and fetches."""

import random

import pytest

from service.worker.download_shares import divide
from tests.cases import each_case


def part_of(torrents, fetches, seconds=20, part=0.5):
    """Divide second by second among two that use what they can, and return the last part."""
    for _ in range(seconds):
        part = divide(part, min(torrents, part), min(fetches, 1 - part))
        assert 0 < part < 1
    return part


@each_case(
    ("wants", "fair"),
    [
        ((10, 10), 0.5), ((10, 0), 0.98), ((0, 10), 0.02), ((0.1, 10), 0.13), ((10, 0.3), 0.65),
        ((0, 0), 0.5),
    ],
)  # fmt: skip
def test_each_gets_what_it_uses_and_at_most_half_if_both_want_more(wants, fair):
    assert part_of(*wants) == pytest.approx(fair, abs=0.001)


@pytest.mark.parametrize("seed", range(30))
def test_together_they_use_nine_tenths_of_the_limit_if_they_can(seed):
    luck = random.Random(seed)
    wants = [luck.choice([0, 0.05, 0.3, 0.45, 0.6, 1, 3]) * luck.random() for _ in range(2)]
    part = part_of(*wants, part=0.02 + 0.96 * luck.random())
    used = min(wants[0], part) + min(wants[1], 1 - part)
    assert used >= 0.9 * min(1, sum(wants))


def test_what_begins_has_its_half_within_two_seconds():
    assert part_of(10, 10, seconds=2, part=part_of(0, 10)) == 0.5
    assert part_of(10, 10, seconds=2, part=part_of(10, 0)) == 0.5
