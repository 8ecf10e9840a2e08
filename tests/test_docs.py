"""The documents agree with the code, wherever a test can compare them."""

import re
import tomllib
from fnmatch import fnmatch
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import get_resolver, reverse
from django.urls.converters import IntConverter

from config import settings
from host.management.commands.account import Command as Account
from host.management.commands.library import Command as Library
from host.management.commands.work import Command as Work
from host.storage import release
from host.web.connections import is_upload
from service.models import Transfer
from service.transfers import states
from tests import scheduling, times
from tests.object_stores import KEYS
from tests.phases import TIERS

BASE = Path(__file__).resolve().parents[1]
PROCFILE = (BASE / "Procfile").read_text()
README = (BASE / "README.md").read_text()
CONTRIBUTING = (BASE / "CONTRIBUTING.md").read_text()
OPERATIONS = (BASE / "docs/operations.md").read_text()
API = (BASE / "docs/api.md").read_text()
ARCHITECTURE = (BASE / "docs/architecture.md").read_text()
GLOSSARY = (BASE / "docs/glossary.md").read_text()
PERFORMANCE = (BASE / "docs/performance.md").read_text()
SCALE = (BASE / "docs/scale.md").read_text()
MAKEFILE = (BASE / "Makefile").read_text()
TESTING = (BASE / "docs/testing.md").read_text()
SECURITY = (BASE / "SECURITY.md").read_text()


def table(heading: str, page: str) -> dict[str, list[str]]:
    """Return the rows below a heading, by the code in their first cell."""
    section = page.split(f"\n## {heading}\n")[1].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {re.findall(r"`([^`]+)`", row[0])[0]: [cell.strip() for cell in row] for row in rows}


def test_the_operations_page_lists_exactly_the_settings():
    assert set(table("Settings", OPERATIONS)) == set(settings.env.names)


def upload_paths() -> list[str]:
    names = {"files-upload": "7", "files-resumable": "0123abcd", "share-receive": "0123abcd"}
    ours = [reverse(name, args=[argument]) for name, argument in names.items()]
    return ["/rest/transfer/file", "/rest/torrent/file", *ours]


def test_the_documented_proxies_have_a_location_for_every_upload():
    (nginx,) = re.findall(r"location ~ (\S+) \{", OPERATIONS)
    caddy, caddy_below = (
        set(paths.replace("\\\n", "").split())
        for paths in re.findall(r"@uploads path ((?:.*\\\n)*.*)", OPERATIONS)
    )
    assert caddy_below == {f"/ferry{path}" for path in caddy}
    for path in upload_paths():
        assert is_upload(path), path
        assert re.search(nginx, path), path
        assert any(fnmatch(path, each) for each in caddy), path


def secret_paths() -> list[str]:
    """Return a path of each URL with a parameter that grants access."""
    return [
        f"/{route % dict.fromkeys(names, 'hush')}"
        for rows in get_resolver().reverse_dict.lists()
        for routes, _pattern, _defaults, converters in rows[1]
        for route, names in routes
        if {"token", "ticket"} & set(names) and not is_number(converters.get("token"))
    ]


def is_number(converter: object) -> bool:
    return isinstance(converter, IntConverter)


def test_the_documented_proxies_log_no_link_that_grants_access():
    (nginx,) = re.findall(r'"~(\S+)" "\$ferry_shown', OPERATIONS)
    patterns = [nginx.replace("?<", "?P<"), *re.findall(r'uri regexp "(\S+)" "\$1', OPERATIONS)]
    assert len(patterns) == 3
    paths = [*secret_paths(), "/content/file/1/7/film.mkv?e=1&s=hush", "/search/?q=hush"]
    assert len(paths) > 8
    for pattern in patterns:
        for path in (*paths, *(f"/ferry{path}" for path in paths)):
            assert "hush" not in re.match(pattern, path)[1], path
        assert not re.match(pattern, "/files/7/")


def test_contributing_lists_exactly_the_make_targets():
    targets = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    assert {name.removeprefix("make ") for name in table("Make targets", CONTRIBUTING)} == targets
    assert targets <= make_targets()


def make_targets() -> set[str]:
    return set(re.findall(r"^(\w[\w-]*):", MAKEFILE, re.MULTILINE))


def test_every_path_that_a_page_names_exists():
    named: set[str] = set()
    for page in [*BASE.glob("*.md"), *BASE.glob("docs/**/*.md")]:
        if page.name != "CHANGELOG.md":  # It also names files that no longer exist.
            named |= set(re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", page.read_text()))
    assert len(named) > 30
    assert {path for path in named if not (BASE / path).exists()} <= MADE_BY_RUNS


FOLDERS = "common|config|docs|lab|release|service|static|templates|tests|webui"
MADE_BY_RUNS = {"lab/bench/results/", "tests/browser/failures/"}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/testing.md"])
def test_every_command_of_a_page_for_developers_exists(name):
    page = (BASE / name).read_text()
    named = set(re.findall(r"\bmake ([a-z-]+)(?=`|  )", page))
    assert len(named) >= 3
    assert named <= make_targets()
    paths = re.findall(r"(?<![\w/])((?:common|lab|tests|webui|service|docs|\.ci)/[\w./-]*)", page)
    assert paths
    missing = {path for path in paths if not (BASE / path).exists()}
    assert missing <= {"tests/browser/failures/"}  # A failed test makes it.


def test_every_program_of_ours_that_a_page_starts_exists():
    pages = [BASE / "Makefile", *BASE.glob("*.md"), *BASE.glob("docs/**/*.md")]
    named = {
        name.replace(".", "/")
        for page in pages
        for name in re.findall(r"python -m ((?:lab|tests)\.[\w.]*\w)", page.read_text())
    }
    assert len(named) >= 5
    programs = {name: (BASE / f"{name}.py", BASE / name / "__main__.py") for name in named}
    assert [name for name, places in programs.items() if not any(map(Path.exists, places))] == []


def test_testing_describes_every_folder_of_tests_and_the_time_of_each():
    files = {str(path.relative_to(BASE)) for path in (BASE / "tests").rglob("test_*.py")}
    of_tests = {times.folder_of(file) for file in files} - {"tests/"}
    assert set(table("Where the time goes", TESTING)) == of_tests
    assert of_tests <= set(table("What each kind of test is for", TESTING))


def test_testing_describes_every_mark_and_how_many_processes_run():
    marks = tomllib.loads((BASE / "pyproject.toml").read_text())["tool"]["pytest"]
    named = {re.match(r"\w+", line)[0] for line in marks["ini_options"]["markers"]}
    assert set(re.findall(r"^- `(\w+)`:", TESTING, re.MULTILINE)) == named
    [[[_check, tests, _postgresql]]] = TIERS["test"]
    processes = int(re.search(r"--numprocesses (\d)", tests.arguments)[1])
    assert f"`make test` starts {WORDS[processes]} pytest processes" in TESTING
    lanes = WORDS[scheduling.BROWSER_PROCESSES].capitalize()
    assert f"{lanes} of the processes take browser tests first" in " ".join(TESTING.split())


WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]


def test_the_api_page_lists_every_account_command():
    usage = Account().create_parser("manage.py", "account").format_usage()
    commands = re.search(r"\{([\w,-]+)\}[ \n]+\.\.\.", usage)[1].split(",")
    documented = {row.split()[2] for row in table("Accounts", API)}
    assert documented == set(commands)


def test_the_operations_page_lists_every_library_command():
    usage = Library().create_parser("manage.py", "library").format_usage()
    commands = re.search(r"\{([\w,-]+)\}[ \n]+\.\.\.", usage)[1].split(",")
    rows = table("Backup and upgrades", OPERATIONS)
    documented = {row.split()[2] for row in rows}
    assert documented == set(commands)


def test_the_api_page_lists_exactly_the_states_and_reasons():
    section = API.split("\n## Transfer states\n")[1]
    named = re.search(r"has a `state` \(([^)]*)\)", section)[1]
    assert re.findall(r"`(\w+)`", named) == Transfer.State.values
    _head, *rows = table("Transfer states", API).values()
    documented = [word for row in rows for word in re.findall(r"`(\w+)`", row[0])]
    assert sorted(documented) == sorted(states.NOTICES.union(*states.REASONS.values()))


def test_the_plan_of_the_code_has_every_folder():
    named = set(re.findall(r"`((?:webui|service)/\w+/)`", ARCHITECTURE))
    folders = {
        f"{path.parent.relative_to(BASE)}/"
        for half in ("webui", "service")
        for path in (BASE / half).glob("*/__init__.py")
        if path.parent.name not in ("migrations", "templatetags")
    }
    assert folders <= named


def test_glossary_words_are_unique_and_sorted():
    for part in GLOSSARY.split("\n## "):
        rows = re.findall(r"^\| ([^|]+) \|", part, re.MULTILINE)[1:]
        assert len(rows) >= 30
        assert rows == sorted(set(rows), key=str.lower)


def test_every_picture_page_and_heading_that_is_linked_exists():
    for page in [*BASE.glob("*.md"), *BASE.glob("docs/**/*.md")]:
        for target in re.findall(r"(?:\]\(|src=\")([^)\"]+)[)\"]", page.read_text()):
            path, _, heading = target.partition("#")
            if not target.startswith("https://"):
                other = page.parent / path if path else page
                assert other.is_file(), target
                assert not heading or heading in headings_of(other), f"{page.name}: {target}"


def headings_of(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_programs_of_the_procfile_can_start():
    commands = [line.partition(": exec ")[2].split() for line in PROCFILE.splitlines()]
    (*gunicorn, _option, settings_of_it, application), (_python, manage, name) = commands
    assert gunicorn == ["python", "-m", "gunicorn"]
    assert (BASE / settings_of_it).is_file()
    assert import_module(application).application
    assert (BASE / manage).is_file()
    assert name in get_commands()


def test_readme_fits_on_a_screen_and_leads_to_every_page():
    assert len(README.splitlines()) <= 130
    pages = {str(page.relative_to(BASE)) for page in BASE.glob("docs/*.md")}
    linked = f"{README}\n{CONTRIBUTING}"
    assert {page for page in pages if f"({page})" not in linked} == set()


def test_paths_and_settings_in_security_exist():
    named = re.findall(r"`([^`]+)`", SECURITY)
    assert {name for name in named if name.isupper()} <= set(settings.env.names)
    paths = [name for name in named if name.startswith("tests/")]
    assert len(paths) > 10
    for path in paths:
        assert (BASE / path).exists(), path


def test_security_names_every_kind_of_attack():
    rows = SECURITY.split("\n## Tested\n")[1]
    documented: set[int] = set()
    for line in rows.splitlines():
        numbers = [int(number) for number in re.findall(r"attacks/test_(\d\d)_", line)]
        is_span = "` to `" in line
        documented |= set(range(numbers[0], numbers[-1] + 1)) if is_span else set(numbers)
    files = (BASE / "tests/attacks").glob("test_[0-9][0-9]_*.py")
    assert documented == {int(path.name[5:7]) for path in files}


def test_the_newest_changes_are_for_this_version():
    newest = re.search(r"^## (\S+), (\S+)$", (BASE / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest.groups() == (release.version(), release.date())


def test_the_documents_name_the_files_of_this_version():
    pages = [BASE / "README.md", *BASE.glob("docs/**/*.md")]
    text = "".join(page.read_text() for page in pages)
    named = re.findall(r"ferry(?:_server-|-|:)(\d+\.\d+\.\d+)", text)
    assert len(named) >= 5
    assert set(named) == {release.version()}


def test_the_scale_page_quotes_the_performance_figures():
    section = SCALE.split("\n## When one machine is enough\n")[1].split("\n## ")[0]
    _head, _line, *rows = re.findall(r"^\|.+\|$", section, re.MULTILINE)
    assert len(rows) >= 8
    assert [row for row in rows if PERFORMANCE.count(f"\n{row} ") != 1] == []


def test_scale_names_settings_and_commands_that_exist():
    section = SCALE.split("\n## How to grow\n")[1]
    names = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", section))
    assert len(names) >= 8
    assert {name for name in names if not name.startswith("AWS_")} <= set(settings.env.names)
    assert {name for name in names if name.startswith("AWS_")} <= set(KEYS)
    assert set(re.findall(r"`manage\.py (\w+)", section)) <= set(get_commands())
    assert "--check" in Work().create_parser("manage.py", "work").format_usage()


def test_scale_names_a_test_for_each_part_that_dies():
    section = SCALE.split("\n## What happens when a part dies\n")[1].split("\n## ")[0]
    _head, _line, *rows = re.findall(r"^\|.+\|$", section, re.MULTILINE)
    assert len(rows) >= 10
    for row in rows:
        path, _, name = re.search(r"`(tests/[\w./]+\.py::\w+)` \|$", row)[1].partition("::")
        assert f"\ndef {name}(" in (BASE / path).read_text(), name


@pytest.mark.parametrize("folder", ["static/vendor", "tests/browser/vendor"])
def test_vendored_files_match_their_recorded_hashes(folder):
    rows = (BASE / folder / "VERSIONS.md").read_text()
    files = [path for path in (BASE / folder).iterdir() if path.name != "VERSIONS.md"]
    assert files
    while files:
        path = files.pop()
        if path.is_file():
            assert f"{path.name} |" in rows
            assert sum_of(path) in rows
        elif f"{path.name}/ |" in rows:
            inside = [f"{each.name} {sum_of(each)}\n" for each in sorted(path.iterdir())]
            assert sha256("".join(inside).encode()).hexdigest() in rows
        else:
            files += path.iterdir()


def sum_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
