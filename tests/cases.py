"""Run a test once for each of many cases, and report each failed case as a subtest.

`pytest PATH --case WORDS` runs only the cases that have the words in their names.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

import pytest
from django.db import connection, transaction

Test = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--case", metavar="WORDS", help="run only cases with WORDS in their names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if words := config.getoption("case"):
        for cases in map(cases_of, items):
            cases[:] = [case for case in cases if words in name_of(case)]
        config.hook.pytest_deselected(items=[item for item in items if not cases_of(item)])
        items[:] = filter(cases_of, items)


def cases_of(item: pytest.Item) -> list[dict[str, Any]]:
    return getattr(getattr(item, "obj", None), "cases", [])


def name_of(case: dict[str, Any]) -> str:
    names = [getattr(value, "__name__", None) or repr(value) for value in case.values()]
    return ", ".join(name if len(name) <= 100 else f"{name[:97]}..." for name in names)


def each_case(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each value, as `pytest.mark.parametrize` does, but within one test.

    Fixtures are created once and serve all cases. Those with a method `renew` are reset for each.
    Inside a test's transaction, each case ends with a rollback. A failed case doesn't hide the
    next. Only failed ones become subtests: reporting thousands that pass would take seconds.
    """
    split = names.replace(",", " ").split() if isinstance(names, str) else names
    rows = [(each,) if len(split) == 1 else each for each in values]
    ours = [dict(zip(split, row, strict=True)) for row in rows]
    assert ours, "no cases"

    def decorate(test: Test) -> Test:
        plain = getattr(test, "plain", test)
        cases = [inner | outer for outer in ours for inner in getattr(test, "cases", [{}])]

        @wraps(plain)
        def run(*its_class: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            __tracebackhide__ = True
            failed = []
            for case in cases:
                try:
                    with _rolled_back() if connection.in_atomic_block else nullcontext():
                        for fixture in fixtures.values():
                            if hasattr(fixture, "renew"):
                                fixture.renew()
                        plain(*its_class, **fixtures, **case)
                except (Exception, pytest.fail.Exception):
                    failed.append(name_of(case))
                    with subtests.test(failed[-1]):
                        raise
            if failed:
                counts = f"{len(failed)} of {len(cases)} cases failed"
                pytest.fail(f"{counts}: {'; '.join(failed)}", pytrace=False)

        signature = inspect.signature(test)
        others = {name: each for name, each in signature.parameters.items() if name not in split}
        others["subtests"] = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=others.values())
        run.cases, run.plain = cases, plain
        return run

    return decorate


@contextmanager
def _rolled_back() -> Iterator[None]:
    """Roll back to a bare savepoint: the program forbids some calls inside atomic()."""
    before = transaction.savepoint()
    try:
        yield
    finally:
        transaction.set_rollback(False)
        transaction.savepoint_rollback(before)
