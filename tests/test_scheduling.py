"""How tests are spread over processes."""

import subprocess
import sys

import pytest

from tests.running import BASE

ENDS_ITS_PROCESS = """
import os

def test_before(): pass
def test_that_ends_its_process(): os._exit(3)
def test_after(): pass
"""


@pytest.mark.slow
def test_what_a_process_could_not_run_is_run_by_another(tmp_path):
    (tmp_path / "test_ended.py").write_text(ENDS_ITS_PROCESS)
    (tmp_path / "test_other.py").write_text("def test_other(): pass")
    command = [sys.executable, "-m", "pytest", "--numprocesses", "2", "-c", "/dev/null"]
    command += ["-p", "no:schemathesis", "-p", "tests.scheduling", "--rootdir", tmp_path, tmp_path]
    run = subprocess.run(command, check=False, cwd=BASE, capture_output=True, text=True, timeout=60)
    assert "1 failed, 3 passed" in run.stdout
