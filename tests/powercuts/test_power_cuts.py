"""The power fails at a random moment; Ferry starts again, and nothing it acknowledged is lost.

`make power-cuts` does it thirty times. Beware: a loop device keeps the order of writes, so this
doesn't show what happens on a disk that claims to have synced and hasn't.
"""

import pytest

from tests.faults.tally import Reckoning
from tests.powercuts.scenarios import SCENARIOS, cut_power, scenario_of

pytestmark = pytest.mark.slow


@pytest.mark.promise("a power cut loses nothing", cases=["2"])
@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_nothing_is_lost_in_a_power_cut(number, tmp_path, tally):
    machine = cut_power(number, tmp_path)
    tally.faults[f"power cut ({scenario_of(number).__name__})"] += 1
    tally.add(Reckoning(things=len(machine.contents)))
