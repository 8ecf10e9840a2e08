"""What a test needs of the machine. CI demands all of it; elsewhere its absence is named."""

import os
import shutil

import pytest

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"


def program(*names: str) -> str:
    """The first of these programs that the machine has; a test without one is skipped, or fails
    where everything is required."""
    for name in names:
        if found := shutil.which(name):
            return found
    missing = f"This machine lacks {names[0]}."
    if REQUIRED:
        pytest.fail(missing)
    pytest.skip(missing)
