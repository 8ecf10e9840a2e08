"""Check what tests need of the machine: without it, they fail in CI, and are skipped elsewhere."""

import os
import shutil
import subprocess
from typing import NoReturn

import pytest

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"


def program(*names: str) -> str:
    """Return the first of these programs that the machine has.

    Without any, skip the test, or fail it if everything is required.
    """
    for name in names:
        if found := shutil.which(name):
            return found
    return lacks(names[0])


def needs(command: list[str], what: str) -> None:
    """Skip or fail the test unless this command succeeds."""
    if subprocess.run(command, capture_output=True, check=False).returncode:
        lacks(what)


def lacks(what: str) -> NoReturn:
    missing = f"This machine lacks {what}."
    if REQUIRED:
        pytest.fail(missing)
    pytest.skip(missing)
