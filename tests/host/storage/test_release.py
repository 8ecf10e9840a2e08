"""An older Ferry refuses a database that a newer Ferry has written to."""

import os
import subprocess
import sys
import tomllib

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from host.storage import release
from tests import databases
from tests.running import BASE, free_port
from webui.models import Release

OPENING = (
    ["run"],
    ["prepare"],
    ["migrate"],
    ["work", "--once"],
    ["account", "list"],
    ["connect", "--forget"],
    ["createsuperuser", "--noinput", "--username=alice"],
)
WEB = [sys.executable, "-m", "gunicorn", "--config", "host/gunicorn.py", "config.wsgi"]
BECOME_NEWER = "from webui.models import Release; Release.objects.update(version='98.7.6')"


@pytest.mark.slow
def test_every_command_that_opens_a_newer_database_refuses_in_one_line(tmp_path):
    port = str(free_port())
    own = {"DATA_DIR": str(tmp_path / "data"), "PORT": port, "HOST": "127.0.0.1"}
    environment = {**os.environ, **databases.settings_of(tmp_path / "data"), **own}

    def said(*command: str) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=BASE, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    def manage(*words: str) -> tuple[int, str]:
        return said(sys.executable, "manage.py", *words)

    assert manage("prepare") == (0, "")
    assert manage("shell", "--verbosity=0", "-c", BECOME_NEWER) == (0, "")
    line = (
        "A newer Ferry has changed this database. "
        f"You need Ferry 98.7.6 or newer; this is {release.version()}.\n"
    )
    for words in OPENING:
        assert manage(*words) == (1, line), words
    status, output = said(*WEB)
    assert (status, output.count(line), "Traceback" in output) == (1, 1, False), output
    assert manage("help")[0] == 0
    assert manage("account", "--help")[0] == 0


def test_the_release_matches_the_project_version():
    project = tomllib.loads((BASE / "pyproject.toml").read_text())["project"]
    assert release.version() == project["version"]


@pytest.mark.django_db
def test_the_newest_that_wrote_is_remembered_and_no_older_one_is_let_in():
    release.note()
    assert Release.objects.get().version == release.version()
    for version, is_newer in (("0.0.9", False), (release.version(), False), ("0.10.0", True)):
        Release.objects.update(version=version)
        assert bool(release.newer(connection)) == is_newer, version
    assert "Ferry 0.10.0 or newer" in release.newer(connection)


@pytest.mark.django_db
def test_a_migration_that_this_ferry_lacks_tells_too():
    MigrationRecorder(connection).record_applied("sessions", "9999_of_another_project")
    assert release.newer(connection) is None
    MigrationRecorder(connection).record_applied("webui", "9999_tomorrow")
    assert "brought webui.9999_tomorrow" in release.newer(connection)


@pytest.mark.django_db
def test_a_database_without_a_recorded_release_is_accepted():
    MigrationRecorder(connection).record_unapplied("webui", Release.MIGRATION)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE webui_release")
    assert release.newer(connection) is None
