"""A PostgreSQL server of the tests' own. `python -m tests.postgresql` runs tests on one: those that
it is given, or all in TESTS. It hands its arguments to pytest."""

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

# What asks the database for more than Django's own words, and what two do at once.
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

    It speaks through a socket in its folder, so that no port can be taken. It sorts by the rules of
    a language, as the clusters of most distributions do: what Ferry lists may not depend on that.
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
        # A session of its own: Ctrl-C is for the tests, which end it afterwards.
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
    """Debian keeps each version's programs in a folder of its own, on nobody's path."""
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda place: float(place.parent.name),
        reverse=True,
    )
    path = os.pathsep.join([*map(str, places), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path) or lacks("PostgreSQL")


def other_user(folder: Path) -> list[str]:
    """Return what runs a command as a user for whom PostgreSQL runs: never root."""
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
    """Return what ends a server whose tests were killed."""
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
    # So that the server ends with these tests, however they are ended.
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
