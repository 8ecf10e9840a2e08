"""Run many cases in one test, which names each case that failed."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

import pytest
from django.db import connection, transaction


class Cases:
    """A collector of failures, so that one failed case doesn't hide the next.

        with all_cases() as case:
            for name in TABLE:
                with case(name):
                    assert ...

    Inside a test's transaction, each case ends with a rollback.
    """

    def __init__(self) -> None:
        self.count = 0
        self.failures: list[str] = []

    @contextmanager
    def __call__(self, *name: object) -> Iterator[None]:
        self.count += 1
        try:
            with _rolled_back() if connection.in_atomic_block else nullcontext():
                yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  Raised by `finish`.
            found = pytest.ExceptionInfo.from_exception(error)
            found.traceback = found.traceback.filter(lambda entry: str(entry.path) != __file__)
            shown = found.getrepr(style="short")
            self.failures.append(f"--- {', '.join(map(_named, name))}\n{shown}")

    def finish(self) -> None:
        assert self.count, "no cases"
        if self.failures:
            summary = f"{len(self.failures)} of {self.count} cases failed"
            pytest.fail("\n".join([summary, *self.failures]), pytrace=False)


@contextmanager
def all_cases() -> Iterator[Cases]:
    case = Cases()
    yield case
    case.finish()


@contextmanager
def _rolled_back() -> Iterator[None]:
    """Roll back to a bare savepoint: the program forbids some calls inside atomic()."""
    before = transaction.savepoint()
    try:
        yield
    finally:
        transaction.set_rollback(False)
        transaction.savepoint_rollback(before)


def _named(value: object) -> str:
    shown = getattr(value, "__name__", None) or repr(value)
    return shown if len(shown) <= 100 else f"{shown[:97]}..."


def each_case(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each value, as `pytest.mark.parametrize` does, but within one test.

    Fixtures are created once and serve all cases. Those with a method `renew` are reset for each.
    """
    split = tuple(names.replace(",", " ").split()) if isinstance(names, str) else tuple(names)
    listed = list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        earlier: list[dict[str, Any]] = getattr(test, "cases", [{}])
        ours = [
            dict(zip(split, (each,) if len(split) == 1 else each, strict=True)) for each in listed
        ]
        plain = getattr(test, "plain", test)
        every = [inner | outer for outer in ours for inner in earlier]

        @wraps(plain)
        def run(*its_class: Any, **fixtures: Any) -> None:
            with all_cases() as case:
                for arguments in every:
                    with case(*arguments.values()):
                        for fixture in fixtures.values():
                            if hasattr(fixture, "renew"):
                                fixture.renew()
                        plain(*its_class, **fixtures, **arguments)

        others = [each for name, each in signature.parameters.items() if name not in split]
        run.__signature__ = signature.replace(parameters=others)
        run.cases, run.plain = every, plain
        return run

    return decorate
