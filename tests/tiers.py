"""Choose the tests of a tier: `pytest --tier quick`, `--tier test`, or, by default, all of them.

- quick: tests without a browser, a running Ferry, or a converter.
- test: those, generated examples with fewer examples, one real run for each promise, and the
  journeys through the browser.
"""

from pathlib import Path

import pytest

TIERS = ("quick", "test", "all")
# A test with one of these marks needs something that takes seconds to start.
NOT_QUICK = ("slow", "browser", "cluster", "container")
# Collecting these folders takes a second in each process, and they have no quick tests.
WITHOUT_QUICK_TESTS = ("browser", "cluster", "fresh", "powercuts", "proxies")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=TIERS, default="all", help="choose the tests of a tier")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_left_out = collection_path.parent.name == "tests" and (
        collection_path.name in WITHOUT_QUICK_TESTS
    )
    return True if config.option.tier == "quick" and is_left_out else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tier = config.option.tier
    chosen = [item for item in items if is_in(tier, item)]
    if len(chosen) < len(items):
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen


def is_in(tier: str, item: pytest.Item) -> bool:
    if tier == "all":
        return True
    if item.get_closest_marker("alone"):
        return False
    is_quick = not any(item.get_closest_marker(mark) for mark in NOT_QUICK)
    if tier == "quick":
        return is_quick and not item.get_closest_marker("hypothesis")
    return is_quick or is_promise(item) or item.get_closest_marker("journey") is not None


def is_promise(item: pytest.Item) -> bool:
    """Return whether the test shows a promise, in all of its cases or in those of its mark."""
    mark = item.get_closest_marker("promise")
    if mark is None:
        return False
    cases = mark.kwargs.get("cases")
    return cases is None or item.callspec.id in cases  # type: ignore[attr-defined]
