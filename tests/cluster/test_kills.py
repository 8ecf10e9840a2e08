"""Kill a machine, the database, or the store in the middle of each operation."""

import time

import pytest

from tests.cluster.kills import LEFT, kill
from tests.cluster.network import ADDRESSES
from tests.cluster.operations import OPERATIONS

VICTIMS = ("web", "worker", "database", "store")

pytestmark = [pytest.mark.cluster, pytest.mark.allow_hosts(ADDRESSES)]


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_work_in_progress_completes_after_a_kill(cluster, tally, operation, victim):
    name = tally.name_for(operation)
    under_way = OPERATIONS[operation](cluster, name)
    doing = next(under_way)
    began_at = time.monotonic()
    dead = kill(cluster, victim, doing)
    for _more in under_way:
        pass
    tally.note(operation, victim, time.monotonic() - began_at)
    if dead:
        dead.again()
    for machine in cluster.machines:
        assert "Traceback" not in machine.log, machine.log
    assert not cluster.say(LEFT)
