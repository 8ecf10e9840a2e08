"""During an upgrade, web processes and workers of two versions run on one database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import postgresql
from tests.misbehaving import serving
from tests.running import BASE, PASSWORD, running
from tests.service.api.serving import add_account
from tests.service.fetching.servers import file as serve_file
from tests.service.store.clients import EMAILS, client, link_of, upload
from tests.service.working import until_state

pytestmark = pytest.mark.slow

MIGRATIONS = ("service/migrations", "webui/migrations")
CONTENT = b"a film " * 1000


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=BASE, capture_output=True, check=True).stdout


@pytest.fixture
def previous(tmp_path) -> Path:
    """Return the source of the version before the newest migration."""
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip("an earlier version needs the history")
    newest = git("log", "-1", "--diff-filter=A", "--format=%H", "--", *MIGRATIONS).decode().strip()
    folder = tmp_path / "previous"
    folder.mkdir()
    archive = git("archive", f"{newest}^")
    subprocess.run(["tar", "--extract", "--directory", folder], input=archive, check=True)
    return folder


def test_the_previous_version_continues_beside_the_new_one(previous, tmp_path):
    """The new one starts while the previous one runs, and only adds to the database."""
    shared = {"SECRET_KEY": "0" * 50, "WEB_PROCESSES": "1", "FETCH_PRIVATE": "true"}
    data = tmp_path / "data"
    with (
        postgresql.cluster() as database,
        running(data, source=previous, DATABASE_URL=database.url, **shared) as old,
        running(data, DATABASE_URL=database.url, WORKER_ROLES="none", **shared) as new,
        serving(serve_file(CONTENT)) as server,
    ):
        add_account(new, EMAILS[0], PASSWORD)
        add_account(old, EMAILS[1], PASSWORD)
        for email in EMAILS:
            with client(old, email) as earlier, client(new, email) as later:
                for one, other, name in ((earlier, later, "old"), (later, earlier, "new")):
                    folder = one.post("/rest/folder", data={"path": f"{name} films"}).json()
                    file_id = upload(one, CONTENT, f"{name}.bin")
                    sent = {
                        "url": f"http://127.0.0.1:{server.port}/{name}-fetched.bin",
                        "folder_id": folder["id"],
                    }
                    fetch_id = one.post("/rest/transfer/url", data=sent).json()["id"]
                    magnet = f"magnet:?xt=urn:btih:{ord(name[0]) * 40:040x}"
                    torrent = one.post("/rest/transfer/magnet", data={"magnet": magnet}).json()
                    until_state(other, fetch_id, "done")
                    assert other.get(link_of(other, file_id)).content == CONTENT
                    assert other.post(f"/rest/file/{file_id}/rename", data={}).status_code < 500
                    for path in (f"/rest/transfer/{torrent['id']}", f"/rest/folder/{folder['id']}"):
                        assert other.delete(path).status_code == 200, path
        assert "Traceback" not in old.log
        assert "Traceback" not in new.log


@pytest.mark.sqlite
def test_the_previous_version_continues_with_the_copy_from_before_the_upgrade(previous, tmp_path):
    """The way back that docs/operations.md describes."""
    data = tmp_path / "data"
    data.mkdir()
    with running(data, source=previous) as ferry:
        add_account(ferry, EMAILS[0], PASSWORD)
        with client(ferry, EMAILS[0]) as person:
            upload(person, CONTENT, "before.bin")
    with running(data) as ferry, client(ferry, EMAILS[0]) as person:
        upload(person, CONTENT, "after.bin")
    assert "A newer Ferry has changed this database" in manage(previous, data, "prepare")
    (copy,) = (data / "backups").glob("*.sqlite3")
    assert "Start Ferry." in manage(previous, data, "restore", str(copy))
    with running(data, source=previous) as ferry:
        with client(ferry, EMAILS[0]) as person:
            (file,) = person.get("/rest/folder").json()["files"]
            assert person.get(link_of(person, file["id"])).content == CONTENT
            upload(person, CONTENT, "later.bin")
            assert person.get("/signin/").status_code == 200
        # The file that only the newer version knew waits for the owner's decision.
        assert "1 file" in manage(previous, data, "library", "list")


def manage(source: Path, data: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=source,
        env={**os.environ, "DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
