"""The unit for systemd, as its own tools judge it."""

import re
import subprocess
from pathlib import Path

import pytest

from config import settings
from tests import tools
from tests.running import BASE

UNIT = (BASE / "docs/systemd/ferry.service").read_text()


@pytest.fixture
def unit(tmp_path) -> Path:
    """Return the unit with a command that this machine has; systemd looks for it."""
    path = tmp_path / "ferry.service"
    path.write_text(UNIT.replace("/opt/ferry/bin/ferry run", "/bin/true"))
    return path


def analyze(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    analyzer = tools.program("systemd-analyze")
    command = [analyzer, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_systemd_understands_every_line(unit):
    verified = analyze("verify", "--man=no", unit)
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")
    unit.write_text(UNIT.replace("/opt/ferry/bin/ferry run", "/bin/true") + "Wanted=x\n")
    assert "Wanted" in analyze("verify", "--man=no", unit).stderr


def test_systemd_calls_the_service_confined(unit):
    """The threshold is in tenths; a service without any limits has 96."""
    assert analyze("security", "--offline=yes", "--threshold=30", unit).returncode == 0


def test_the_unit_sets_what_ferry_reads():
    names = re.findall(r"^Environment=(\w+)=", UNIT, re.MULTILINE)
    assert names == ["DATA_DIR"]
    assert set(names) <= set(settings.env.names)
    assert "StateDirectory=ferry\n" in UNIT
