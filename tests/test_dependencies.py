"""Each package has a stated reason, and a license that is compatible with Ferry's."""

import json
import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest

from tests.cases import each_case

BASE = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((BASE / "pyproject.toml").read_text())
PACKAGES = json.loads((BASE / "package-lock.json").read_text())["packages"]
DOCUMENT = (BASE / "docs" / "dependencies.md").read_text()
# Licenses of packages that may be used and distributed together with MIT-licensed code.
FITTING = re.compile(r"0BSD|Apache-2\.0|BSD-[23]-Clause|ISC|MIT(-0|-CMU)?|MPL-2\.0|PSF-2\.0")
# Names that packages without an SPDX expression give to their licenses.
SPOKEN = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "MIT license": "MIT",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "pytest-django is released under the BSD (3-clause) license": "BSD-3-Clause",
}
# A library that Ferry imports unchanged, and that anyone may replace.
REPLACEABLE = {"zeroconf": "LGPL-2.1-or-later"}
# Tests use these, and so do installations with PostgreSQL; they aren't distributed with Ferry.
OPTIONAL = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}
# Needed only on Windows, so they aren't installed here and have no metadata to read.
ELSEWHERE = {"colorama": "BSD-3-Clause", "tzdata": "Apache-2.0"}


def name_of(requirement: str) -> str:
    return re.match(r"[\w./@-]+", requirement)[0].lower()


def table(heading: str) -> dict[str, tuple[str, str]]:
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w./@-]+)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {name: (licence, why) for name, licence, why in rows}


RUNNING, CLUSTER, DEVELOPING, SCRIPTS = map(
    table, ["To run", "To run on several machines", "To develop", "To check the scripts"]
)


def licence_of(name: str) -> str:
    if name in SCRIPTS:
        return str(PACKAGES[f"node_modules/{name}"]["license"])
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    facts = metadata(name)
    kinds = [each for each in facts.get_all("Classifier", []) if each.startswith("License :: ")]
    said = facts["License-Expression"] or facts["License"] or kinds[0].rpartition(" :: ")[2]
    return SPOKEN.get(said.splitlines()[0].strip(), said)


@pytest.mark.parametrize(
    ("documented", "required"),
    [
        (RUNNING, PROJECT["project"]["dependencies"]),
        (CLUSTER, PROJECT["project"]["optional-dependencies"]["cluster"]),
        (DEVELOPING, PROJECT["dependency-groups"]["dev"]),
        (SCRIPTS, PACKAGES[""]["devDependencies"]),
    ],
    ids=["run", "cluster", "develop", "scripts"],
)
def test_the_tables_list_exactly_the_packages(documented, required):
    assert list(documented) == sorted(map(name_of, required))


@each_case("name", [*RUNNING, *CLUSTER, *DEVELOPING, *SCRIPTS])
def test_each_has_its_own_licence_and_a_sentence_why(name):
    licence, why = (RUNNING | CLUSTER | DEVELOPING | SCRIPTS)[name]
    assert licence == licence_of(name)
    assert re.fullmatch(r"[A-Z].*\w\.", why)


def locked(lock: str) -> list[tuple[str, str]]:
    return re.findall(r"^([\w.-]+)==\S+(?: ; (.*?))? \\$", (BASE / lock).read_text(), re.MULTILINE)


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_licence_in_a_lock_file_fits_ours(lock):
    found = locked(lock)
    assert len(found) > 30
    assert PROJECT["project"]["license"] == "MIT"
    assert (BASE / "LICENSE").read_text().startswith("MIT License")
    for name, marker in found:
        if name in ELSEWHERE:
            assert marker == "sys_platform == 'win32'"
        if lock == "requirements-dev.lock" and licence_of(name) == OPTIONAL.get(name):
            continue
        if licence_of(name) == REPLACEABLE.get(name):
            continue
        for licence in re.split(r" OR | AND ", licence_of(name)):
            assert FITTING.fullmatch(licence), (name, licence)


def test_every_licence_of_a_package_for_scripts_fits_ours():
    packages = {path: facts for path, facts in PACKAGES.items() if path}
    assert len(packages) > 10
    for path, facts in packages.items():
        for licence in facts["license"].split(" OR "):
            assert FITTING.fullmatch(licence), (path, licence)


@pytest.mark.parametrize("folder", ["static/vendor", "tests/browser/vendor"])
def test_every_licence_of_a_vendored_file_fits_ours(folder):
    rows = [
        line.strip("|").split("|")
        for line in (BASE / folder / "VERSIONS.md").read_text().splitlines()
        if line.startswith("| ") and not line.startswith("| File")
    ]
    assert rows
    for _file, _version, licence, _digest in rows:
        assert FITTING.match(licence.strip()), licence
