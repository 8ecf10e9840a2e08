"""Run the cases of a test as one item, and report every case that failed."""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction


def each_of(names: str | tuple[str, ...], cases: Sequence[Any]) -> Callable[..., Any]:
    """Parametrize a test like `pytest.mark.parametrize`, but collect one item.

    The cases share the fixtures of the test. Each case's writes to the database are rolled back.
    """
    of_each = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            failures: list[str] = []
            for case in cases:
                values = dict(zip(of_each, (case,) if of_each == (names,) else case, strict=True))
                try:
                    with rolled_back():
                        test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  All count.
                    told = traceback.format_exception(failure)
                    failures.append(f"{abbreviated(values)}\n{''.join(told)}")
            if failures:
                heading = f"{len(failures)} of {len(cases)} cases failed:"
                text = "\n".join([heading, *failures])
                # A lone surrogate in a case can't be printed, nor sent to another process.
                pytest.fail(text.encode(errors="backslashreplace").decode(), pytrace=False)

        signature = inspect.signature(test)
        shared = [each for each in signature.parameters.values() if each.name not in of_each]
        # Pytest fills the remaining parameters with fixtures.
        run_all.__signature__ = signature.replace(parameters=shared)
        return run_all

    return decorate


def abbreviated(values: dict[str, Any], most: int = 300) -> str:
    """Some cases are 100 kB long."""
    text = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return text if len(text) <= most else f"{text[:most]}…"


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo what a case writes, where the test itself runs in a transaction."""
    if not connection.in_atomic_block:
        yield
        return
    # Use a bare savepoint: in another atomic(), calls of v1 would be refused.
    savepoint = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(savepoint)
