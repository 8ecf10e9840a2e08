"""Each kind of attack has its file, and the tests elsewhere that these files name exist."""

import ast
import re
from pathlib import Path

from tests.cases import each_case

HERE = Path(__file__).resolve().parent
ROWS = (*range(1, 28), 32)
FILES = sorted(HERE.glob("test_[0-9][0-9]_*.py"))


@each_case("row", ROWS)
def test_each_row_has_a_file_that_says_so_and_tests(row):
    own = [path for path in FILES if path.name.startswith(f"test_{row:02}_")]
    assert own
    for path in own:
        module = ast.parse(path.read_text())
        assert ast.get_docstring(module).startswith((f"Row {row}:", f"Row {row},"))
        names = [node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        assert any(name.startswith("test_") for name in names)


def test_files_and_table_rows_match():
    assert {int(path.name[5:7]) for path in FILES} == set(ROWS)


@each_case("path", FILES)
def test_tests_that_the_table_names_elsewhere_exist(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    for elsewhere in re.findall(r"tests/[\w/]+\.py", docstring):
        assert (HERE.parents[1] / elsewhere).is_file(), elsewhere
