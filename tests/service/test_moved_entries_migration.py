"""The migration that lets copies share bytes rebuilds tables of SQLite, and loses nothing."""

import os
import sqlite3
import subprocess
import sys

import pytest

from tests.running import BASE

ADD = """
from django.utils import timezone
from service.accounts import accounts
from service.library import library
from service.store.sums import Stored
account = accounts.add("alice@example.org", "a password of hers", timezone.now())
for number in range(3):
    stored = Stored(f"{{number:032x}}", 1, "0" * 40, 1)
    library.add_file(account, 0, f"film {{number}}.mkv", stored, timezone.now())
library.delete_file(account, 3, timezone.now())
"""
FIND = """
from django.utils import timezone
from service.accounts import accounts
from service.library import library
from service.library.search.search import Search, find
from service.store.sums import Stored
account = accounts.find("alice@example.org")
stored = Stored("4" * 32, 1, "0" * 40, 1)
file = library.add_file(account, 0, "film 4.mkv", stored, timezone.now())
library.rename_file(account, 1, "Harbour.mkv", timezone.now())
found = [sorted(each.name for each in find(Search(account, q)).files) for q in ("film", "harbour")]
print(file.pk, found)
"""


@pytest.mark.slow
def test_names_stay_findable_and_no_id_is_used_again(tmp_path):
    place = tmp_path / "db.sqlite3"
    environment = {
        **os.environ,
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{place}",
    }

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=BASE, env=environment, capture_output=True, text=True, check=True
        ).stdout

    manage("migrate", "--verbosity=0")
    manage("shell", "--verbosity=0", "-c", ADD.format())
    manage("migrate", "--verbosity=0", "service", "0015")
    with sqlite3.connect(place) as base:
        (unique,) = base.execute(
            "SELECT count(*) FROM pragma_index_list('service_file') WHERE \"unique\" AND origin='u'"
        ).fetchone()
        assert unique
    manage("migrate", "--verbosity=0")
    assert manage("shell", "--verbosity=0", "-c", FIND).strip() == (
        "4 [['film 1.mkv', 'film 4.mkv'], ['Harbour.mkv']]"
    )
