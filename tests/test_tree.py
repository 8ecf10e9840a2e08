"""Rules for the whole tree."""

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import phases, postgresql
from tests.sources import tree_of

BASE = Path(__file__).resolve().parents[1]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=BASE, capture_output=True, check=True
    ).stdout.decode()
    return [BASE / name for name in listed.split("\0") if name and (BASE / name).is_file()]


def lines_with(pattern: str, *patterns: str) -> list[str]:
    found = []
    for path in tracked(*patterns):
        if path == Path(__file__) or path.suffix in {".png", ".lock"}:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(BASE)}:{number}")
    return found


def test_there_are_files_to_look_at():
    assert len(tracked()) > 50


@pytest.mark.parametrize(("name", "at_least"), [("", 20), ("-build", 5), ("-dev", 20)])
def test_lock_files_name_no_host_and_hash_everything(name, at_least):
    text = (BASE / f"requirements{name}.lock").read_text()
    assert "://" not in text
    assert "--index-url" not in text
    assert len(re.findall(r"^[\w.-]+==", text, re.MULTILINE)) > at_least
    for block in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block


@pytest.mark.parametrize("name", ["", "-cluster"])
def test_every_python_gets_the_same_version_of_a_package(name):
    text = (BASE / f"requirements{name}.lock").read_text()
    names = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    assert len(names) == len(set(names))


def test_the_lock_file_of_the_scripts_tools_names_no_host_and_hashes_everything():
    packages = json.loads((BASE / "package-lock.json").read_text())["packages"]
    named = {path: facts for path, facts in packages.items() if path}
    assert len(named) > 10
    for facts in named.values():
        assert "resolved" not in facts
        assert facts["integrity"].startswith("sha512-")
    for version in packages[""]["devDependencies"].values():
        assert re.fullmatch(r"[\d.]+", version)


def test_no_template_has_inline_scripts_styles_or_handlers():
    assert (
        lines_with(r"<style|\sstyle=|<script(?![^>]*\bsrc=)|\son[a-z]+=|javascript:", "templates")
        == []
    )


def test_imports_of_modules_end_with_a_semicolon():
    assert lines_with(r"^import\b.*[^;]$", "static/js") == []


def test_no_test_sleeps():
    assert lines_with(r"\btime\.sleep\(|wait_for_timeout\(", "lab", "tests") == []


def test_no_address_is_judged_by_what_python_knows():
    """The answers differ between its patch releases; common/addresses/reachable.py decides."""
    ours = ("common/*.py", "config/*.py", "host/*.py", "service/*.py", "webui/*.py")
    assert lines_with(r"\.is_(global|reserved|site_local)\b", *ours) == []


def test_only_its_own_tests_import_lab():
    """A reader of the tests needs nothing of it."""
    assert lines_with(r"^\s*(from|import) lab\b", "*.py", ":!lab", ":!tests/lab") == []


def test_tests_about_postgresql_are_among_those_that_run_on_it():
    """They are left out of every other run."""
    marked = lines_with(r"mark\.postgresql", "tests")
    assert marked
    assert [place for place in marked if not place.startswith(postgresql.TESTS)] == []
    always = tuple(phases.WHERE_IT_DIFFERS.split())
    assert [place for place in marked if not place.startswith(always)] == []


@pytest.mark.slow
def test_nothing_is_left_to_do_silently():
    assert (
        lines_with(r"\b(TODO|FIXME|XXX)\b", "*.py", "*.html", "*.js", "*.css", ":!static/vendor")
        == []
    )


REPLACEMENTS = {"setattr", "delattr", "setitem", "delitem"}


@pytest.mark.slow
def test_every_replacement_has_a_reason():
    """The reason is in a comment above the replacement, or in the docstring of the function."""
    places = [
        f"{path.relative_to(BASE)}:{line}"
        for path in tracked("lab/*.py", "tests/*.py")
        for line in unexplained(path.read_text())
    ]
    assert places == []


EXPLAINED = """
class TestClock:
    def test_late(self, monkeypatch):
        # No setting moves the clock.
        monkeypatch.setattr(clock, "now", late)

    def test_early(self, monkeypatch):
        '''No setting moves the clock.'''
        monkeypatch.setattr(clock, "now", early)
"""
UNEXPLAINED = """
    def test_never(self, monkeypatch):
        monkeypatch.setattr(clock, "now", never)  # noqa: SLF001
"""


def test_a_replacement_without_a_reason_is_found():
    assert list(unexplained(EXPLAINED)) == []
    assert list(unexplained(EXPLAINED + UNEXPLAINED)) == [12]


def unexplained(source: str) -> Iterator[int]:
    """Yield the line of each replacement for which its function gives no reason."""
    lines = source.splitlines()
    for function in functions(ast.parse(source).body):
        for node in ast.walk(function):
            if is_replacement(node):
                above = lines[function.lineno : node.end_lineno]
                has_comment = any(re.search(r"# (?!noqa)", line) for line in above)
                if not has_comment and not ast.get_docstring(function):
                    yield node.lineno


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from functions(statement.body)
        elif isinstance(statement, ast.FunctionDef):
            yield statement


def is_replacement(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in REPLACEMENTS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "monkeypatch"
    )


# Names that classes of two folders may share, because they mean the same on both sides of v1, or
# of a database row.
ONE_THING = {
    "v1's records, sent and received": {
        *(
            "Account",
            "Added",
            "Camera",
            "Chapter",
            "File",
            "Filmstrip",
            "Folder",
            "Listing",
            "Playable",
        ),
        *("Limits", "OwnLimits", "Reachability"),
        *("Transfer", "Transfers", "User", "Wish"),
    },
    "v1's refusals, sent and received": {"NoRoom", "NotFound", "Refusal"},
    "what runs, and its row": {"Worker"},
    "what Django wants to have this name": {"Command", "Migration"},
    "a transfer in a list, sent and shown": {"TransferRow"},
}


def test_no_two_classes_in_different_folders_have_one_name_and_two_meanings():
    folders: dict[str, set[Path]] = {}
    for path, node in definitions():
        if isinstance(node, ast.ClassDef):
            folders.setdefault(node.name, set()).add(path.parent)
    alike = {name for name, where in folders.items() if len(where) > 1}
    assert alike - set().union(*ONE_THING.values()) == set()


PARTICIPLES = frozenset(["asked", "found", "heard", "kept", "known", "planted", "told"])


def test_functions_are_not_called_by_participles():
    """A verb says what a function does; `found` could be a search, a result, or a flag."""
    names = {
        f"{path.relative_to(BASE)}: {node.name}"
        for path, node in definitions()
        if node.name.strip("_") in PARTICIPLES
    }
    assert names == set()


IRREGULAR = PARTICIPLES | {
    *("begun", "broken", "built", "done", "drawn", "gone", "grown", "held", "left", "lost", "made"),
    *("meant", "met", "paid", "rewound", "said", "sent", "shown", "shrunk", "sought", "spent"),
    *("struck", "swept", "taught", "thought", "understood", "unwound", "won", "worn"),
}
VERBS_LIKE_PARTICIPLES = {"embed", "feed", "listen", "open", "proceed", "seed", "shorten"}


@pytest.mark.parametrize(
    "name", ["decoded", "_written", "hidden", "held", "found", "_lost", "connected"]
)
def test_these_are_participles(name):
    assert is_participle(name)


@pytest.mark.parametrize(
    "name", ["read", "put", "open", "_shorten", "__len__", "is_closed", "size_needed"]
)
def test_these_arent_participles(name):
    assert not is_participle(name)


def test_no_function_or_method_is_called_by_a_participle():
    """A property may be: it is read like a value."""
    names = {
        f"{path.relative_to(BASE)}: {node.name}"
        for path in tracked("common/*.py", "config/*.py", "host/*.py", "service/*.py", "webui/*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_participle(node.name) and not is_property(node)
    }
    assert names == set()


def is_participle(name: str) -> bool:
    if name.startswith("__"):
        return False
    word = name.strip("_")
    is_regular = re.fullmatch(r"[a-z]+(ed|en)", word) and word not in VERBS_LIKE_PARTICIPLES
    return bool(is_regular) or word in IRREGULAR


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each).endswith("property") for each in function.decorator_list)


def test_variables_are_not_called_by_participles():
    """A noun says what a value is."""
    names = {
        f"{path.relative_to(BASE)}: {name}"
        for path in tracked("common/*.py", "config/*.py", "host/*.py", "service/*.py", "webui/*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef)
        for name in variables(node)
        if name in PARTICIPLES
    }
    assert names == set()


def variables(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def test_prose_refers_only_to_modules_and_documents_that_exist():
    wrong = set()
    for path in tracked("*.py", "*.js", "*.html", "*.css", "*.toml", "Makefile", ".ci/run"):
        if "vendor" in path.parts or path == Path(__file__):
            continue
        text = prose_of(path)
        for name in re.findall(r"(?<![\w./-])(?:common|config|service\.\w+|webui)(?:\.\w+)+", text):
            if not leads_somewhere(name) and name not in NOT_MODULES:
                wrong.add(f"{path.relative_to(BASE)}: {name}")
        for name in re.findall(r"(?<![\w/-])docs/[\w/-]+\.md", text):
            if not (BASE / name).exists():
                wrong.add(f"{path.relative_to(BASE)}: {name}")
    assert sorted(wrong) == []


# These are models, a salt, a migration that doesn't exist, and a host.
NOT_MODULES = {"webui.User", "webui.indexedfolder", "webui.nameindex", "webui.drafts"}
NOT_MODULES |= {
    "webui.share",
    "webui.channel",
    "webui.device",
    "webui.9999_tomorrow",
    "service.example.evil.example",
}


def prose_of(path: Path) -> str:
    """Return the strings and comments of a Python file, or the whole text of any other file."""
    if path.suffix != ".py":
        return path.read_text()
    nodes = ast.walk(tree_of(path))
    strings = (each.value for each in nodes if isinstance(each, ast.Constant))
    comments = re.findall(r"#.*", path.read_text())
    return "\n".join([*filter(lambda each: isinstance(each, str), strings), *comments])


def leads_somewhere(name: str) -> bool:
    """Follow a dotted name to a folder or module; return whether the module names what follows."""
    first, *others = name.split(".")
    place = BASE / first
    while others and (place / others[0]).is_dir():
        place /= others.pop(0)
    if others and (place / f"{others[0]}.py").is_file():
        place = place / f"{others.pop(0)}.py"
    elif (place / "__init__.py").is_file():
        place /= "__init__.py"
    return not others or re.search(rf"\b{others[0]}\b", place.read_text()) is not None


def definitions() -> Iterator[tuple[Path, ast.ClassDef | ast.FunctionDef]]:
    """Yield the top-level classes and functions of all modules."""
    for path in tracked("common/*.py", "config/*.py", "host/*.py", "service/*.py", "webui/*.py"):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield path, node
