"""The migration that gives transfers a rank keeps their order, and uses no id again."""

import os
import subprocess
import sys

import pytest

from tests.running import BASE

ADD = """
from django.utils import timezone
from service.accounts import accounts
from service.transfers import transfers
account = accounts.add("alice@example.org", "a password of hers", timezone.now())
for number in range(4):
    transfers.add_url(account, f"http://example.org/{number}", 0, timezone.now())
transfers.delete(account, 4, timezone.now())
transfers.delete(account, 1, timezone.now())
"""
LIST = """
from django.utils import timezone
from service.accounts import accounts
from service.transfers import transfers
from service.transfers.under_way import Decision, decide
account = accounts.find("alice@example.org")
transfers.add_url(account, "http://example.org/5", 0, timezone.now())
decide(account, 5, Decision.UP, timezone.now())
print([row.id for row in transfers.list_rows(account)])
"""


@pytest.mark.slow
@pytest.mark.sqlite
def test_transfers_from_before_ranks_keep_their_order(tmp_path):
    url = f"sqlite:///{tmp_path / 'db.sqlite3'}"
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": url}

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=BASE, env=environment, capture_output=True, text=True, check=True
        ).stdout

    manage("migrate", "--verbosity=0")
    manage("shell", "--verbosity=0", "-c", ADD)
    manage("migrate", "--verbosity=0", "service", "0023")
    manage("migrate", "--verbosity=0")
    assert manage("shell", "--verbosity=0", "-c", LIST).splitlines()[-1] == "[2, 5, 3]"
