"""Run tests on a PostgreSQL server that ends when they end.

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

# Tests of queries that databases answer differently, and of concurrency. What the others read from
# the database passes through the same queries, or the database plays no part in them.
TESTS = (
    "tests/service",
    "tests/contract",
    "tests/host/storage/test_outage_log.py",
    "tests/host/storage/test_release.py",
    "tests/common/storage/test_row_cache.py",
    "tests/host/worker",
    "tests/webui/account",
    "tests/webui/activity",
    "tests/webui/connection",
    "tests/webui/drive/test_writing.py",
    "tests/webui/handover",
    "tests/webui/people",
    "tests/webui/player",
    "tests/webui/programs",
    "tests/webui/server",
    "tests/webui/signin",
    "tests/webui/transfers",
    "tests/webui/test_races.py",
    "tests/attacks/test_14_sign_in.py",
    "tests/attacks/test_17_races.py",
    "tests/attacks/test_27_unreadable_headers.py",
)
USER = "postgres"
START_SECONDS = STOP_SECONDS = 60
# The server ends with the tests, so its data needn't survive a power failure. The threads of many
# tests hold a connection each.
OPTIONS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "300",
    "listen_addresses": "",
    "log_min_messages": "log",
}


class Server:
    """A PostgreSQL server over a folder, which it keeps while stopped."""

    def __init__(self, folder: Path, options: dict[str, str]) -> None:
        self.url = f"postgres://{USER}@/{USER}?host={folder}"
        self._folder = folder
        self._options = OPTIONS | options
        self._as_user = other_user(folder)
        made = [program("initdb"), "--no-sync", "--auth=trust", f"--username={USER}"]
        made += ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"]
        subprocess.run(
            [*self._as_user, *made, folder / "data"],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            timeout=START_SECONDS,
        )

    def start(self) -> None:
        settings = [f"{name}={value}" for name, value in self._options.items()]
        options = [word for setting in settings for word in ("-c", setting)]
        postgres = [program("postgres"), "-D", self._folder / "data", "-k", self._folder]
        # In its own session, the server doesn't receive Ctrl-C before the tests have ended.
        self._process = launch(
            [*self._as_user, *mortal(), *postgres, *options],
            cwd=self._folder,
            start_new_session=True,
        )
        self._output = Output(self._process)
        assert self._output.saw("ready to accept connections", START_SECONDS), self._output.text

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ask the server to end its sessions; kill it if it doesn't stop."""
        self._process.send_signal(number)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        self._output.close()


@contextmanager
def cluster(make: type[Server] = Server, **options: str) -> Iterator[Server]:
    """Run an empty server, with more options.

    By default it listens on a socket in its folder, so it needs no port. It sorts by the rules of a
    language, as most distributions' clusters do: the order that Ferry shows must not depend on
    that.
    """
    folder = Path(tempfile.mkdtemp(prefix="ferry-postgresql-"))
    try:
        server = make(folder, options)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def program(name: str) -> str:
    """Find a program of the newest PostgreSQL, which Debian keeps outside PATH."""
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
    """Return a prefix that ends the server if the tests are killed."""
    return ["setpriv", "--pdeathsig=QUIT"] if shutil.which("setpriv") else []


def main() -> int:
    # End the server even if the tests are terminated.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with cluster() as server:
            os.environ["DATABASE_URL"] = server.url
            tests = f"--override-ini=testpaths={' '.join(TESTS)}"
            return pytest.main(["--numprocesses=2", tests, *sys.argv[1:]])
    except pytest.skip.Exception as missing:
        print(missing)  # noqa: T201  This is a command.
        return 0


if __name__ == "__main__":
    sys.exit(main())
