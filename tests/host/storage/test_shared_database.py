"""Database servers that several machines share, and servers that Ferry refuses."""

import os
import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from tests.postgresql import cluster
from tests.running import BASE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    with cluster() as server:
        yield server


@pytest.fixture
def database(server):
    """Return a function that creates a database, and returns its URL."""

    def create(name: str, options: str = "") -> str:
        with closing(psycopg.connect(server.url, autocommit=True)) as own:
            own.execute(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
        return server.url.replace("/postgres?", f"/{name}?")

    return create


def begin(data_dir, url, *options, key="") -> "subprocess.Popen[str]":
    environment = {**os.environ, "DATA_DIR": str(data_dir), "DATABASE_URL": url, "SECRET_KEY": key}
    return subprocess.Popen(
        [sys.executable, "manage.py", "prepare", *options],
        cwd=BASE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def prepare(data_dir, url, *options, key="") -> tuple[int, str]:
    program = begin(data_dir, url, *options, key=key)
    output, _error = program.communicate(timeout=120)
    return program.returncode, output


def refusal(*arguments, **options) -> str:
    code, output = prepare(*arguments, **options)
    assert code == 1
    (line,) = output.splitlines()
    return line


def test_a_database_of_another_encoding_is_refused(database, tmp_path):
    url = database("bytes", "ENCODING SQL_ASCII LOCALE 'C' LOCALE_PROVIDER libc")
    line = refusal(tmp_path, url)
    assert line.startswith("DATABASE_URL: the database stores SQL_ASCII; it must be UTF8. Create")


def test_a_database_that_sorts_digits_as_numbers_is_refused(database, tmp_path):
    url = database("numbers", "LOCALE_PROVIDER icu ICU_LOCALE 'en-u-kn-true' LOCALE 'C.UTF-8'")
    line = refusal(tmp_path, url)
    assert line.startswith("DATABASE_URL: the database sorts digits as numbers, not as text")


def test_changed_rules_for_sorting_are_one_warning(database, server, tmp_path):
    url = database("older")
    with closing(psycopg.connect(server.url, autocommit=True)) as own:
        own.execute("UPDATE pg_database SET datcollversion = '1' WHERE datname = 'older'")
    code, output = prepare(tmp_path, url)
    assert code == 0
    assert output.count("REFRESH COLLATION VERSION") == 1


def test_a_second_machine_needs_the_key_of_the_first(database, tmp_path):
    url = database("shared")
    first, second = tmp_path / "first", tmp_path / "second"
    assert prepare(first, url)[0] == 0
    # The first one starts again with its own key, as after an upgrade.
    assert prepare(first, url)[0] == 0
    line = refusal(second, url)
    assert line.startswith("SECRET_KEY: the database belongs to a Ferry with another key. Set")
    assert prepare(second, url, key=(first / "secret_key").read_text())[0] == 0
    assert prepare(first, url)[0] == 0
    # Its owner may replace the key.
    assert prepare(second, url, "--new-key", key="another " * 8)[0] == 0
    assert prepare(second, url, key="another " * 8)[0] == 0
    assert refusal(first, url) == line


def test_machines_that_start_at_once_prepare_one_after_the_other(database, tmp_path):
    url = database("crowded")
    programs = [begin(tmp_path / str(each), url, key="shared " * 8) for each in range(3)]
    outputs = [program.communicate(timeout=120)[0] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0], outputs
