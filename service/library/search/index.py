"""The index that search uses, and the texts that it indexes.

SQLite has an FTS5 table of trigrams beside each table, which triggers keep up to date. It stores
nothing but which rows contain a trigram. PostgreSQL has an index on the texts themselves.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Manager

from common.search_text import in_quotes, search_text, trigrams_of
from service.models import Account, File, Folder

Row = TypeVar("Row", File, Folder)

TEXTS_AT_ONCE = 1_000
MOST_TERMS = 24
# An account's mark is three characters that no text contains, hence one trigram.
MARKS = 6400
FIRST_MARK = 0xE000


def mark_of(account: Account) -> str:
    above, below = divmod(account.pk, MARKS)
    return in_quotes(f"{chr(FIRST_MARK)}{chr(FIRST_MARK + above % MARKS)}{chr(FIRST_MARK + below)}")


def terms_of(patterns: Iterable[str], suffixes: Sequence[str]) -> str:
    """Return what to look up: all trigrams of the patterns, and those of any suffix."""
    trigrams = dict.fromkeys(each for pattern in patterns for each in trigrams_of(pattern))
    terms = [in_quotes(each) for each in [*trigrams][:MOST_TERMS]]
    if suffixes:
        either = [" AND ".join(map(in_quotes, trigrams_of(f" {suffix} "))) for suffix in suffixes]
        terms.append("(" + " OR ".join(f"({each})" for each in either) + ")")
    return " AND ".join(terms)


def add_missing_texts(_now: datetime) -> None:
    """Write the texts of names that an older Ferry stored without them."""
    while _add_texts(Folder.objects):
        pass
    while _add_texts(File.objects):
        pass


def _add_texts(manager: Manager[Row]) -> int:
    with transaction.atomic():
        missing = manager.filter(search_text="").only("name").order_by("pk")
        rows = list(missing[:TEXTS_AT_ONCE])
        for row in rows:
            row.search_text = search_text(row.name)
        manager.bulk_update(rows, ["search_text"], TEXTS_AT_ONCE)
    return len(rows)
