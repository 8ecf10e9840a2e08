"""Versions of what runs, and the holes that some of them have."""

import re
import subprocess
import sys

import pytest

from host import versions
from tests.cases import each_case
from tests.running import BASE

VERSIONS = {"Ferry": "0.1.0", "Python": "3.13.5", "FFmpeg": "9.0.2-17-g2a571b6068"} | {
    "PyAV": "18.1.0",
    "libtorrent": "2.1.1",
}


@pytest.mark.parametrize("name", ["version", "--version"])
def test_the_command_prints_what_runs(name, tmp_path):
    command = [sys.executable, BASE / "manage.py", name]
    environment = {"DATA_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    lines = said.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(versions.running())
    assert re.fullmatch(r"Ferry \d+\.\d+\.\d+, released on \d{4}-\d\d-\d\d", lines[0])
    assert all(re.search(r" \d+\.\d+", line) for line in lines)
    assert said.stderr == ""


def test_what_ferry_brings_has_no_known_hole():
    assert [*versions.known_holes(versions.running())] == []


@each_case(
    ("program", "version", "has_hole"),
    [
        ("FFmpeg", "8.0.1", True),
        ("FFmpeg", "8.1", False),
        ("FFmpeg", "7.1.5", True),
        # Debian fixes holes without a new number.
        ("FFmpeg", "5.1.6-0+deb12u1", False),
        # A build from a branch says no number.
        ("FFmpeg", "N-118000-gabcdef", False),
        ("FFmpeg", "", False),
        # Fixed in two lines, so an older line is judged by the newer one.
        ("libtorrent", "2.0.13", True),
        ("libtorrent", "2.0.14", False),
        ("libtorrent", "2.0.15", False),
        ("libtorrent", "2.1.0", True),
        ("libtorrent", "2.1.1", False),
        ("libtorrent", "2.2.0", False),
        ("libtorrent", "1.2.20", True),
    ],
)
def test_a_version_is_compared_with_its_own_line(program, version, has_hole):
    found = [*versions.known_holes(VERSIONS | {program: version})]
    assert bool(found) == has_hole
    assert all(each.startswith(f"{program} {version}: ") for each in found)


def test_each_hole_is_of_a_program_that_runs():
    assert {hole.program for hole in versions.HOLES} <= set(versions.running())
