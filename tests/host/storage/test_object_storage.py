"""What Ferry demands before it uses an object store."""

import os
import subprocess
import sys

import pytest

from host.storage import object_storage
from tests.object_stores import KEYS
from tests.running import BASE

URL = "s3://bucket?endpoint=http://127.0.0.1:9"


def start(*code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        cwd=BASE,
        env={**without_keys(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def without_keys() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}


def test_without_a_store_no_package_for_one_is_needed():
    run = start(
        "import sys",
        "sys.modules['obstore'] = None",
        "import config.wsgi",
        "from service.store.blobs import library_store",
        "library_store().free_bytes()",
        "assert not any(name.startswith('service.store.objects') for name in sys.modules)",
        "print('fine')",
    )
    assert run.stdout == "fine\n", run.stderr


@pytest.mark.parametrize(
    ("environment", "trouble"),
    [
        ({"STORE_URL": URL}, "STORE_URL: cannot use the value that is set; it must be s3://"),
        ({"STORE_URL": "s3://", **KEYS}, "STORE_URL: cannot use the value that is set"),
    ],
)
def test_a_url_that_cannot_be_used_ends_the_start_with_a_line(environment, trouble):
    run = start("import config.settings", **environment)
    assert run.returncode == 1
    assert run.stderr.startswith(trouble)
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "trouble"),
    [
        (("sqlite", "key", ""), "STORE_URL: an object store needs PostgreSQL; set DATABASE_URL."),
        (("postgresql", " ", ""), "SECRET_KEY: with STORE_URL, set it"),
        (("postgresql", "key", "nginx"), "ACCEL: nginx can't send files from an object store"),
    ],
)
def test_settings_for_one_machine_are_refused(settings, monkeypatch, given, trouble):
    vendor, key, accel = given
    settings.ACCEL = accel
    monkeypatch.setenv("SECRET_KEY", key)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    # The tests run on one database, and this must know two.
    monkeypatch.setattr(object_storage, "connection", type("", (), {"vendor": vendor}))
    with pytest.raises(SystemExit, match=trouble):
        object_storage.refuse_unfit(URL)


@pytest.mark.slow
def test_a_store_that_does_not_answer_is_refused_and_forks_can_still_use_one(tmp_path):
    run = start(
        "import os, signal, django",
        "django.setup()",
        "from host.storage import object_storage",
        "from service.errors import StoreAway",
        "from service.store.blobs import library_store",
        "try:",
        "    object_storage.refuse_unfit(os.environ['STORE_URL'])",
        "except SystemExit as refusal:",
        # Otherwise the fork would also write what this process has buffered.
        "    print(refusal, flush=True)",
        "if not (fork := os.fork()):",
        "    signal.alarm(120)",
        "    try:",
        "        library_store().size('0' * 32)",
        "    except StoreAway:",
        "        os._exit(7)",
        "print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]))",
        DATA_DIR=str(tmp_path),
        DATABASE_URL="postgres://ferry@127.0.0.1/ferry",
        DJANGO_SETTINGS_MODULE="config.settings",
        SECRET_KEY="of two machines",
        STORE_URL=URL,
        **KEYS,
    )
    refusal = "STORE_URL: this store doesn't answer, or refuses what the keys ask of it."
    lines = [line for line in run.stdout.splitlines() if "WARNING" not in line]
    assert lines == [refusal, "7"], run.stderr


def test_without_a_store_nothing_is_demanded(settings):
    object_storage.refuse_unfit(settings.STORE_URL)
