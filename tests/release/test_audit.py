"""Advisories are found for locked versions, without any network."""

import json
import subprocess
import sys
import zipfile

import pytest
from packaging.version import Version

from release import audit
from tests.cases import each_case
from tests.running import BASE

LOCKED = audit.versions_of((BASE / "requirements.lock").read_text())
RANGES = [
    {"introduced": "0"},
    {"fixed": "1.2.5"},
    {"introduced": "2.0"},
    {"last_affected": "2.1"},
]


@each_case(
    ("version", "is_affected"),
    [
        ("1.0", True),
        ("1.2.5", False),
        ("1.10", False),
        ("2.0rc1", False),
        ("2.0", True),
        ("2.1", True),
        ("2.1.1", False),
    ],
)
def test_a_version_is_compared_with_each_range(version, is_affected):
    facts = {"ranges": [{"type": "ECOSYSTEM", "events": RANGES}]}
    assert audit.is_affected(Version(version), facts) == is_affected


def test_a_list_of_versions_is_enough_and_commits_are_no_versions():
    ranges = [{"type": "GIT", "events": [{"introduced": "0"}]}]
    facts = {"ranges": ranges, "versions": ["1.0"]}
    assert audit.is_affected(Version("1.0"), facts)
    assert audit.is_affected(Version("1.0.0"), facts)
    assert not audit.is_affected(Version("1.1"), facts)


def test_an_odd_version_hides_no_hole():
    facts = {"ranges": [{"type": "ECOSYSTEM", "events": RANGES}], "versions": ["2.2-odd", "3.0"]}
    assert audit.is_affected(Version("3.0"), facts)
    odd = [{"introduced": "odd"}, {"fixed": "odder"}]
    assert audit.is_affected(Version("1.0"), {"ranges": [{"type": "ECOSYSTEM", "events": odd}]})


@pytest.mark.parametrize("fixed", ["0.1", "9999"])
def test_the_command_names_each_locked_version_that_has_a_hole(tmp_path, fixed):
    events = [{"introduced": "0"}, {"fixed": fixed}]
    package = {"ecosystem": "PyPI", "name": "Django"}
    affected = [{"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}]}]
    advisory = {"id": "GHSA-1", "summary": "A hole.", "affected": affected}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("GHSA-1.json", json.dumps(advisory))
        other = [affected[0] | {"package": package | {"ecosystem": "npm"}}]
        archive.writestr("GHSA-3.json", json.dumps(advisory | {"id": "3", "affected": other}))
        archive.writestr("GHSA-2.json", json.dumps(advisory | {"id": "2", "withdrawn": "2026"}))
    command = [sys.executable, "-m", "release.audit", tmp_path / "all.zip"]
    said = subprocess.run(command, cwd=BASE, check=False, capture_output=True, text=True)
    if fixed == "0.1":
        assert (said.returncode, said.stdout.count("\n")) == (0, 1)
    else:
        assert said.returncode == 1
        names = [f"{lock}: django {LOCKED['django']}: GHSA-1: A hole." for lock in audit.LOCKS]
        assert said.stdout.splitlines() == sorted(names)
