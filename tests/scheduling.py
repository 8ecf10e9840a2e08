"""Distribute the tests over processes: browser tests in lanes, long files first.

All tests that need an object store run in one process, which starts it once.
"""

from itertools import groupby
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# Browser tests are more than half of the work, so most processes start with them.
BROWSER_PROCESSES = 3
BROWSER_TESTS = "tests/browser/"
STORE_TESTS = "tests/service/store/"
# Rough seconds per test, by its marker. A test that takes minutes says so: `slow(seconds=330)`.
BROWSER_SECONDS, SLOW_SECONDS, OTHER_SECONDS = 3.0, 5.0, 0.05


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move long files to the front: if one started last, the other processes would wait for it."""
    if hasattr(config, "workerinput"):
        files = [list(found) for _path, found in groupby(items, key=lambda item: item.path)]
        files.sort(key=lambda found: -sum(map(seconds, found)))
        items[:] = [item for found in files for item in found]


def seconds(item: pytest.Item) -> float:
    if item.get_closest_marker("browser"):
        return BROWSER_SECONDS
    slow = item.iter_markers("slow")
    return max((mark.kwargs.get("seconds", SLOW_SECONDS) for mark in slow), default=OTHER_SECONDS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    if config.option.dist != "load":  # The command line asks for another distribution.
        return None
    config.option.loadscopereorder = False
    return Lanes(config, log)


class Lanes(LoadFileScheduling):
    """A scheduler that gives browser tests to the first processes, and the rest to the others."""

    def _split_scope(self, nodeid: str) -> str:
        return STORE_TESTS if nodeid.startswith(STORE_TESTS) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        number = int(node.gateway.id.removeprefix("gw"))
        wants_browser = number < BROWSER_PROCESSES
        for scope in self.workqueue:
            if scope.startswith(BROWSER_TESTS) == wants_browser:
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)

    def schedule(self) -> None:
        """Spread the tests, also over a process that replaces another.

        A process runs its last test only when it has a next one or is told that there is none.
        xdist forgets that for one that replaces another, and the run would hang.
        """
        super().schedule()
        for node in self.nodes:
            self._reschedule(node)

    def remove_node(self, node: Any) -> str | None:
        """Return the test that ended its process, and let other processes run the rest.

        xdist would run that test again, too, and end the next process.
        """
        units = self.assigned_work.pop(node)
        waiting = [(unit, test) for unit in units.values() for test in unit if not unit[test]]
        if not waiting:
            return None
        unit, ended_by = waiting[0]
        unit[ended_by] = True
        self.workqueue.update(
            {scope: unit for scope, unit in units.items() if not all(unit.values())}
        )
        for other in self.assigned_work:
            self._reschedule(other)
        return ended_by
