"""A backup that is made while twenty people write, and restored elsewhere."""

import os
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha1
from threading import Event

import httpx
import pytest

from service.store.disk_store import DiskStore
from tests.faults.tally import SEED
from tests.running import BASE, PASSWORD, running

# PostgreSQL's own tools back it up.
pytestmark = [pytest.mark.slow, pytest.mark.sqlite]

EMAIL = "me@example.org"
WRITERS = 20
FILES_BEFORE = 3  # of each writer
SECONDS = 180


@dataclass
class Writer:
    """A person who uploads, renames, and deletes files."""

    url: str
    number: int
    chance: random.Random = field(init=False)
    # Names by the hash of the content, as of the last answer.
    kept: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    first: str = ""  # hash of the content that stays unchanged
    ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        self.chance = random.Random(SEED + self.number)

    def upload(self, api):
        content = self.chance.randbytes(self.chance.randrange(1, 200_000))
        name = f"{self.number}-{len(self.sent)}"
        content_sum = sha1(content).hexdigest()
        self.sent.add(content_sum)
        answer = api.post("/transfer/file", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text
        transfer = api.get(f"/transfer/{answer.json()['id']}").json()
        self.ids[content_sum] = transfer["file_created"]
        self.kept[content_sum] = name
        self.first = self.first or content_sum

    def change(self, api):
        content_sum = self.chance.choice(sorted(self.kept.keys() - {self.first}))
        self.touched.add(content_sum)
        path = f"/file/{self.ids[content_sum]}"
        if self.chance.random() < 0.5:
            assert api.delete(path).status_code == 200
            del self.kept[content_sum]
        else:
            name = f"{self.kept[content_sum]}r"
            assert api.post(f"{path}/rename", data={"rename_to": name}).status_code == 200
            self.kept[content_sum] = name

    def write_until(self, is_over: Event) -> None:
        with httpx.Client(base_url=f"{self.url}/rest", auth=(EMAIL, PASSWORD), timeout=120) as api:
            while not is_over.is_set() or not self.touched:
                self.upload(api)
                self.change(api)


def manage(data_dir, *arguments):
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE,
        env={**os.environ, "DATA_DIR": str(data_dir), "DATABASE_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_by_content(data_dir):
    """Return the names of all files by the hash of their bytes on the disk."""
    store = DiskStore(data_dir / "library")
    with closing(sqlite3.connect(data_dir / "ferry.sqlite3")) as database:
        rows = database.execute("SELECT name, blob, sha1 FROM service_file").fetchall()
    found = {}
    for name, blob, content_sum in rows:
        assert sha1(store.path(blob).read_bytes()).hexdigest() == content_sum, name
        found[content_sum] = name
    assert len(found) == len(rows)
    return found


def test_a_backup_made_while_twenty_people_write_equals_the_source(tmp_path):
    source, target, is_over = tmp_path / "source", tmp_path / "backup", Event()
    # Bytes of deleted files are removed at once, unless the backup itself keeps them.
    with running(source, TORRENT_NETWORK="loopback", BLOB_GRACE="0") as ferry:
        ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")
        people = [Writer(ferry.url, number) for number in range(WRITERS)]
        with httpx.Client(base_url=f"{ferry.url}/rest", auth=(EMAIL, PASSWORD), timeout=120) as api:
            for each in people:
                for _ in range(FILES_BEFORE):
                    each.upload(api)
        before = {key: name for each in people for key, name in each.kept.items()}
        with ThreadPoolExecutor(WRITERS) as threads:
            writing = [threads.submit(each.write_until, is_over) for each in people]
            try:
                first = manage(source, "backup", str(target))
                manage(tmp_path / "first", "restore", str(target))
            finally:
                is_over.set()
            for each in writing:
                each.result(SECONDS)
        second = manage(source, "backup", str(target))
    restored = names_by_content(tmp_path / "first")
    sent = set().union(*(each.sent for each in people))
    assert "missing" not in first
    assert set(restored) <= sent
    assert {each.first: before[each.first] for each in people}.items() <= restored.items()
    manage(tmp_path / "second", "restore", str(target))
    now = {key: name for each in people for key, name in each.kept.items()}
    assert names_by_content(tmp_path / "second") == now == names_by_content(source)
    assert "there already" in second
    with running(tmp_path / "second", TORRENT_NETWORK="loopback") as again:
        with httpx.Client(base_url=again.url, auth=(EMAIL, PASSWORD), timeout=60) as api:
            listed = api.get("/rest/folder").json()["files"]
        assert {each["name"] for each in listed} == set(now.values())
        found = again.findings()
        assert found["library"] is found["database"] is found["content"] is None
