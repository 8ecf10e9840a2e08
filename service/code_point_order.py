"""Sort text the same way on any database."""

from django.db import connection
from django.db.models import F
from django.db.models.functions import Collate


def by_code_point(column: str) -> Collate | F:
    """Order a column by its characters' code points, as SQLite does.

    PostgreSQL would sort by the rules of the language that its cluster was made for.
    """
    return Collate(column, "C") if connection.vendor == "postgresql" else F(column)
