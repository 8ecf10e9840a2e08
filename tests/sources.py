"""Read the project's own source, for tests of rules about it."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Parse a module, once for all rules: parsing all of them takes seconds."""
    return ast.parse(path.read_text())
