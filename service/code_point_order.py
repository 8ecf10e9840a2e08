"""Sort text the same way on any database."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func
from django.db.models.sql.compiler import SQLCompiler


class ByCodePoint(Func):
    """Order a column by its characters' code points, as SQLite does.

    PostgreSQL would sort by the rules of the language that its cluster was made for.
    """

    arity = 1
    template = "%(expressions)s"

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **more: Any
    ) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template='%(expressions)s COLLATE "C"', **more)
