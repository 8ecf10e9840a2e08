"""README cannot lie about what a test can read."""

import json
import re
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from config import settings
from config.management.commands.account import Command as Account
from config.management.commands.library import Command as Library
from service import states
from service.models import Transfer
from tests import scheduling
from tests.bench import published

BASE = Path(__file__).resolve().parents[1]
README = (BASE / "README.md").read_text()
MAKEFILE = (BASE / "Makefile").read_text()
TESTING = (BASE / "docs/testing.md").read_text()
SECURITY = (BASE / "SECURITY.md").read_text()


def table(heading: str, page: str = README) -> dict[str, list[str]]:
    """The rows below a heading, by the words in code in their first cell."""
    section = page.split(f"\n## {heading}\n")[1].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {re.findall(r"`([^`]+)`", row[0])[0]: [cell.strip() for cell in row] for row in rows}


def test_every_setting_stands_in_the_table_and_nothing_else():
    assert set(table("Settings")) == set(settings.env.names)


def test_every_make_target_stands_in_the_table_and_nothing_else():
    targets = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    assert {name.removeprefix("make ") for name in table("Make targets")} == targets
    assert targets <= make_targets()


def make_targets() -> set[str]:
    return set(re.findall(r"^(\w[\w-]*):", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/testing.md"])
def test_every_command_of_a_page_for_developers_exists(name):
    page = (BASE / name).read_text()
    named = set(re.findall(r"\bmake ([a-z-]+)(?=`|  )", page))
    assert len(named) >= 3
    assert named <= make_targets()
    paths = re.findall(r"(?<![\w/])((?:tests|webui|service|docs|\.ci)/[\w./-]*)", page)
    assert paths
    missing = {path for path in paths if not (BASE / path).exists()}
    assert missing <= {"tests/browser/failures/"}  # Made where a test fails.


def test_testing_describes_every_folder_of_tests_and_the_time_of_each():
    folders = {path.parent.relative_to(BASE) for path in (BASE / "tests").rglob("test_*.py")}
    of_tests = {f"{folder}/" for folder in folders} - {"tests/", "tests/webui/v1/"}
    assert set(table("Where the time goes", TESTING)) == of_tests
    of_subjects = {name for name in of_tests if name.count("/") == 2}
    assert of_subjects <= set(table("What each kind of test is for", TESTING))


def test_testing_describes_every_mark_and_how_many_processes_run():
    marks = tomllib.loads((BASE / "pyproject.toml").read_text())["tool"]["pytest"]
    named = {line.partition(":")[0] for line in marks["ini_options"]["markers"]}
    assert set(re.findall(r"^- `(\w+)`:", TESTING, re.MULTILINE)) == named
    recipe = MAKEFILE.split("\ntest: ")[1].split("\n\n")[0]
    processes = int(re.search(r"--numprocesses (\d)", recipe)[1])
    assert f"`make test` starts {WORDS[processes]} pytest processes" in TESTING
    lanes = WORDS[scheduling.BROWSER_PROCESSES].capitalize()
    assert f"{lanes} of the processes take browser tests first" in " ".join(TESTING.split())


WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]


def test_every_command_for_accounts_stands_in_its_table():
    usage = Account().create_parser("manage.py", "account").format_usage()
    commands = re.search(r"\{([\w,-]+)\}[ \n]+\.\.\.", usage)[1].split(",")
    told = {row.split()[2] for row in table("The service for other programs")}
    assert told == set(commands)


def test_every_command_for_the_library_stands_in_its_table():
    usage = Library().create_parser("manage.py", "library").format_usage()
    commands = re.search(r"\{([\w,-]+)\}[ \n]+\.\.\.", usage)[1].split(",")
    told = {row.split()[2] for row in table("Keeping it") if row.startswith("manage.py library")}
    assert told == set(commands)


def test_every_state_and_reason_of_a_transfer_is_told_and_nothing_else():
    section = README.split("\n## How a transfer is told\n")[1]
    named = re.search(r"has a `state` \(([^)]*)\)", section)[1]
    assert re.findall(r"`(\w+)`", named) == Transfer.State.values
    _head, *rows = table("How a transfer is told").values()
    told = [word for row in rows for word in re.findall(r"`(\w+)`", row[0])]
    assert sorted(told) == sorted(states.NOTICES.union(*states.REASONS.values()))


def test_every_folder_of_the_map_exists():
    for row in table("Map of the code").values():
        for folder in re.findall(r"`([\w/]+/)`", row[0]):
            assert (BASE / folder).is_dir()


def test_every_picture_and_page_that_is_linked_exists():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (BASE / target).is_file(), target


def test_what_security_names_exists():
    named = re.findall(r"`([^`]+)`", SECURITY)
    assert {name for name in named if name.isupper()} <= set(settings.env.names)
    paths = [name for name in named if name.startswith("tests/")]
    assert len(paths) > 10
    for path in paths:
        assert (BASE / path).exists(), path


def test_security_names_every_kind_of_attack():
    """By their files, one by one or from one to another."""
    rows = SECURITY.split("\n## Tested\n")[1]
    told: set[int] = set()
    for line in rows.splitlines():
        numbers = [int(number) for number in re.findall(r"attacks/test_(\d\d)_", line)]
        is_span = "` to `" in line
        told |= set(range(numbers[0], numbers[-1] + 1)) if is_span else set(numbers)
    files = (BASE / "tests/attacks").glob("test_[0-9][0-9]_*.py")
    assert told == {int(path.name[5:7]) for path in files}


def test_the_newest_changes_are_those_of_this_version():
    version = tomllib.loads((BASE / "pyproject.toml").read_text())["project"]["version"]
    newest = re.search(r"^## (\S+?),? ", (BASE / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == version


def test_the_table_of_what_was_measured_is_that_of_its_numbers():
    told = README.split(published.BEGINNING)[1].split(published.END)[0]
    assert told == published.table_of(json.loads(published.PLACE.read_text()))


@pytest.mark.parametrize("folder", ["static/vendor", "tests/browser/vendor"])
def test_vendored_files_are_those_that_were_looked_at(folder):
    rows = (BASE / folder / "VERSIONS.md").read_text()
    files = [path for path in (BASE / folder).iterdir() if path.name != "VERSIONS.md"]
    assert files
    for path in files:
        assert path.name in rows
        assert sha256(path.read_bytes()).hexdigest() in rows
