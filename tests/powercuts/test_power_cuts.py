"""The power fails at a random moment; Ferry starts again, and nothing it acknowledged is lost.

`make power-cuts` does it thirty times. Beware: a loop device keeps the order of writes, so this
doesn't show what happens on a disk that claims to have synced and hasn't.
"""

import os
import random

import pytest

from tests.faults.tally import SEED, Reckoning
from tests.powercuts.disk import disk_at
from tests.powercuts.scenarios import SCENARIOS, Machine, check

pytestmark = pytest.mark.slow
CUTS = int(os.environ.get("POWER_CUTS", "7"))


@pytest.mark.parametrize("number", range(CUTS))
def test_nothing_is_lost_in_a_power_cut(number, tmp_path, tally):
    scenario = SCENARIOS[number % len(SCENARIOS)]
    with disk_at(tmp_path) as disk:
        machine = Machine(disk, random.Random(SEED + number))
        with scenario(machine):
            machine.lose_power()
            check(machine)
    tally.faults[f"power cut ({scenario.__name__})"] += 1
    tally.add(Reckoning(things=len(machine.contents)))
