"""Run tests on a PostgreSQL server that lives as long as they do.

`python -m tests.postgresql` passes its arguments to pytest. Without any, it runs TESTS.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running import Output, launch
from tests.tools import lacks

# Tests of queries that databases answer differently, and of what happens at the same time.
TESTS = (
    "tests/service",
    "tests/contract",
    "tests/attacks/test_14_sign_in.py",
    "tests/attacks/test_17_races.py",
    "tests/webui/test_races.py",
)
USER = "postgres"
START_SECONDS = STOP_SECONDS = 60
# Nothing outlives the tests, so nothing has to survive a power failure. Threads of many tests hold
# a connection each.
OPTIONS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "300",
    "listen_addresses": "",
    "log_min_messages": "log",
}


@contextmanager
def cluster() -> Iterator[str]:
    """Run an empty server, and yield the URL of a database on it.

    It listens on a socket in its folder, so that it needs no port. It sorts by the rules of a
    language, as most distributions' clusters do: the order that Ferry shows must not depend on it.
    """
    initdb, postgres = program("initdb"), program("postgres")
    folder = Path(tempfile.mkdtemp(prefix="ferry-postgresql-"))
    try:
        as_user = other_user(folder)
        made = [initdb, "--no-sync", "--auth=trust", f"--username={USER}", "--encoding=UTF8"]
        made += ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"]
        subprocess.run(
            [*as_user, *made, folder / "data"],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            timeout=START_SECONDS,
        )
        options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        # In its own session, Ctrl-C doesn't reach the server before the tests have ended.
        command = [*as_user, *mortal(), postgres, "-D", folder / "data", "-k", folder, *options]
        process = launch(command, cwd=folder, start_new_session=True)
        output = Output(process)
        try:
            assert output.saw("ready to accept connections", START_SECONDS), output.text
            yield f"postgres://{USER}@/{USER}?host={folder}"
        finally:
            end(process)
            output.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def program(name: str) -> str:
    """Find a program of the newest PostgreSQL: Debian keeps them outside PATH."""
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda place: float(place.parent.name),
        reverse=True,
    )
    path = os.pathsep.join([*map(str, places), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path) or lacks("PostgreSQL")


def other_user(folder: Path) -> list[str]:
    """Return a prefix that runs a command as another user, since PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return []
    try:
        user = pwd.getpwnam(USER)
    except KeyError:
        lacks("a user named postgres")
    os.chown(folder, user.pw_uid, user.pw_gid)
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}"]
    return ["setpriv", *ids, "--clear-groups"]


def mortal() -> list[str]:
    """Return a prefix that ends the server if its tests are killed."""
    return ["setpriv", "--pdeathsig=QUIT"] if shutil.which("setpriv") else []


def end(process: "subprocess.Popen[str]") -> None:
    """Ask the server to end its sessions; kill it if it stays."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)


def main() -> int:
    # If the tests are terminated, the server still ends with them.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with cluster() as url:
            os.environ["DATABASE_URL"] = url
            tests = f"--override-ini=testpaths={' '.join(TESTS)}"
            return pytest.main(["--numprocesses=2", tests, *sys.argv[1:]])
    except pytest.skip.Exception as missing:
        print(missing)  # noqa: T201  A command speaks.
        return 0


if __name__ == "__main__":
    sys.exit(main())
