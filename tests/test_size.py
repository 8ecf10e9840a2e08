"""The size of Ferry, compared with `tests/size.toml`, which says why each number is as high."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from tests.sources import tree_of

ROOMS = ("common", "config", "host", "service", "webui")
MOST_MODULES = 12
# Lines are counted in steps, so that not every commit changes the table.
STEP_LINES = 100
TABLE = tomllib.loads((settings.BASE_DIR / "tests/size.toml").read_text())


def modules_of(room: str) -> Iterator[Path]:
    for path in (settings.BASE_DIR / room).rglob("*.py"):
        if "migrations" not in path.parts and path.read_text().strip():
            yield path


def lines_of(paths: Iterator[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def rounded_up(number: int) -> int:
    return -(-number // STEP_LINES) * STEP_LINES


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_as_many_lines_as_the_table_says(room):
    assert TABLE["lines"][room]["number"] == rounded_up(lines_of(modules_of(room)))


def test_the_scripts_have_as_many_lines_as_the_table_says():
    scripts = (settings.BASE_DIR / "static/js").rglob("*.js")
    assert TABLE["lines"]["scripts"]["number"] == rounded_up(lines_of(scripts))


def test_no_folder_has_more_modules_side_by_side():
    counts: dict[str, int] = {}
    for room in ROOMS:
        for path in modules_of(room):
            folder = str(path.parent.relative_to(settings.BASE_DIR))
            counts[folder] = counts.get(folder, 0) + 1
    beyond = {folder: count for folder, count in counts.items() if count > MOST_MODULES}
    allowed = {folder: entry["number"] for folder, entry in TABLE["modules"].items()}
    assert beyond == allowed


def test_there_are_as_many_database_tables_as_the_table_says():
    ours = [apps.get_app_config(half).get_models() for half in ("webui", "service")]
    assert TABLE["tables"]["number"] == sum(len([*models]) for models in ours)


def test_there_are_as_many_caches_as_the_table_says():
    assert TABLE["caches"]["number"] == sum(map(count_caches, ROOMS))


def count_caches(room: str) -> int:
    trees = (tree_of(path) for path in modules_of(room))
    return sum(is_cache(node) for tree in trees for node in ast.walk(tree))


def is_cache(node: ast.AST) -> bool:
    """Return whether this is a class of caches, or a function of which each result is kept.

    A function without arguments only makes one object.
    """
    if isinstance(node, ast.ClassDef):
        names = [node.name, *map(ast.unparse, node.bases)]
        return any(name.endswith("Cache") for name in names)
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return False
    keepers = (ast.unparse(each).partition("(")[0] for each in node.decorator_list)
    return any(keeper in ("cache", "lru_cache") for keeper in keepers)


def test_each_number_has_its_reason():
    entries = [*TABLE["lines"].values(), *TABLE["modules"].values(), TABLE["tables"]]
    assert all(len(entry["why"].split()) > 4 for entry in [*entries, TABLE["caches"]])
