"""What a test needs of the machine. CI demands all of it; elsewhere its absence is named."""

import os
import shutil
import subprocess
from typing import NoReturn

import pytest

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"


def program(*names: str) -> str:
    """The first of these programs that the machine has; a test without one is skipped, or fails
    where everything is required."""
    for name in names:
        if found := shutil.which(name):
            return found
    return lacks(names[0])


def needs(command: list[str], what: str) -> None:
    """A command that works where the machine has what a test needs."""
    if subprocess.run(command, capture_output=True, check=False).returncode:
        lacks(what)


def lacks(what: str) -> NoReturn:
    missing = f"This machine lacks {what}."
    if REQUIRED:
        pytest.fail(missing)
    pytest.skip(missing)
