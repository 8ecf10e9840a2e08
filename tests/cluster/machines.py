"""A cluster: PostgreSQL, an object store, and machines that serve pages or do the work."""

import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests import object_stores, postgresql
from tests.cluster.network import Host, address_of, network
from tests.object_stores import ObjectServer
from tests.postgresql import Server
from tests.running import (
    BASE,
    PASSWORD,
    START_SECONDS,
    STOP_SECONDS,
    Output,
    bring_static_files,
    free_port,
    launch,
)
from tests.service.api.serving import add_account_in
from tests.service.working import until

EMAIL = "dora@example.org"
WEBS, WORKERS = (11, 12, 13), (21, 22, 23)
SCRATCH = "600m"
PORT = 8000
MOST_STARTS = 20
BUSY_START_SECONDS = 3 * START_SECONDS  # while the others work
SERVE = 'exec "$0" manage.py run'
WORK = '"$0" manage.py prepare && exec "$0" manage.py work'
# A machine's own disk, with the static files that all versions of it make alike.
BEGIN = """
mount -t tmpfs -o size=$0 tmpfs "$DATA_DIR" && cp -r "$1" "$DATA_DIR/" && shift && exec "$@"
"""


@dataclass
class Machine:
    host: Host
    command: str
    ready: str
    environment: dict[str, str]
    static: Path

    @property
    def url(self) -> str:
        return f"http://{self.host.address}:{PORT}"

    @property
    def log(self) -> str:
        return self.output.text

    def start(self) -> None:
        begin = ("sh", "-c", BEGIN, SCRATCH, str(self.static))
        self.process = launch(
            [*self.host.prefix, *begin, "sh", "-c", self.command, sys.executable],
            cwd=BASE,
            env=self.environment,
        )
        self.output = Output(self.process)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def until_ready(self) -> None:
        assert self.output.saw(self.ready, START_SECONDS), self.log

    def kill(self) -> None:
        """Kill every process, and lose the disk."""
        self.host.kill()
        self._end()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self._end()
        self.host.kill()

    def again(self) -> None:
        """Start until it stays, as a service manager does: the store may not be ready yet."""
        for _try in range(MOST_STARTS):
            self.start()
            if self.output.saw(self.ready, BUSY_START_SECONDS):
                return
            assert not self.is_alive(), f"{self.host.name} doesn't become ready: {self.log}"
            self._end()
        raise AssertionError(self.log)

    def client(self, seconds: float = 30) -> httpx.Client:
        login = (EMAIL, PASSWORD)
        return httpx.Client(base_url=self.url, auth=login, timeout=seconds, trust_env=False)

    def _end(self) -> None:
        self.process.wait(STOP_SECONDS)
        self.output.close()


class NetworkServer(Server):
    """A PostgreSQL server that the hosts reach."""

    def __init__(self, folder: Path, options: dict[str, str]) -> None:
        port = str(free_port())
        super().__init__(folder, options | {"listen_addresses": address_of(1), "port": port})
        with (folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {address_of(0)}/24 trust\n")
        self.url = f"postgres://{postgresql.USER}@{address_of(1)}:{port}/{postgresql.USER}"


@dataclass
class Cluster:
    database: Server
    objects: ObjectServer
    webs: list[Machine]
    workers: list[Machine]
    requests: Path
    environment: dict[str, str]

    @property
    def machines(self) -> list[Machine]:
        return [*self.webs, *self.workers]

    def start(self) -> None:
        """Start all machines at once: the first to arrive prepares the database."""
        for machine in self.machines:
            machine.start()
        for machine in self.machines:
            machine.until_ready()

    def stop(self) -> None:
        with ThreadPoolExecutor(len(self.machines)) as pool:
            list(pool.map(Machine.kill, self.machines))

    def say(self, statement: str, *values: object) -> Any:
        """Return the first value that PostgreSQL answers."""
        with closing(psycopg.connect(self.database.url, autocommit=True)) as session:
            row = session.execute(statement, values or None).fetchone()
            return row and row[0]

    def say_all(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(psycopg.connect(self.database.url, autocommit=True)) as session:
            return session.execute(statement).fetchall()

    def worker_with(self, transfer_id: int) -> Machine:
        """Return the worker that has a transfer."""
        lease = until(lambda: self.say(LEASED_BY, transfer_id))
        pid = int(lease.split("-")[-2])
        return next(each for each in self.workers if pid in each.host.pids())

    def requests_for(self, name: str) -> list[tuple[float, str, int]]:
        """Return the time, host, and first byte of each request for a file."""
        lines = [line.split() for line in self.requests.read_text().splitlines()]
        return [(float(at), host, int(begin)) for at, host, what, begin in lines if what == name]


LEASED_BY = "SELECT leased_by FROM service_transfer WHERE id = %s"


@contextmanager
def cluster(webs: int = len(WEBS), workers: int = len(WORKERS)) -> Iterator[Cluster]:
    """Run a cluster with one account."""
    numbers = [*WEBS[:webs], *WORKERS[:workers]]
    with ExitStack() as stack:
        hosts = {host.number: host for host in stack.enter_context(network(numbers))}
        objects = stack.enter_context(object_stores.seaweedfs(address_of(1)))
        # Acknowledged data survives a crash.
        database = stack.enter_context(postgresql.cluster(NetworkServer, synchronous_commit="on"))
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ferry-cluster-")))
        requests = home / "requests"
        requests.touch()
        shared = {
            **os.environ,
            "DATABASE_URL": database.url,
            "STORE_URL": objects.url(secrets.token_hex(8)),
            "SECRET_KEY": secrets.token_hex(32),
            "WEB_PROCESSES": "1",
            "PORT": str(PORT),
            "FETCH_PRIVATE": "true",
            "PYTHONUNBUFFERED": "1",
            **object_stores.KEYS,
        }
        bring_static_files(home)
        (home / "static").mkdir(exist_ok=True)

        def machine(number: int, command: str, ready: str, **more: str) -> Machine:
            disk = home / str(number)
            disk.mkdir()
            environment = {**shared, "DATA_DIR": str(disk), **more}
            return Machine(hosts[number], command, ready, environment, home / "static")

        made = Cluster(
            database,
            objects,
            [
                machine(number, SERVE, "Ferry answers on port", WORKER_ROLES="none")
                for number in WEBS[:webs]
            ],
            [
                machine(number, WORK, "worker started", WORKER_ADDRESS=f"{address_of(number)}:8100")
                for number in WORKERS[:workers]
            ],
            requests,
            {**shared, "DATA_DIR": str(home / "manage")},
        )
        for worker in made.workers:
            stack.enter_context(serving_sources(worker.host, requests))
        made.start()
        stack.callback(made.stop)
        add_account_in(made.environment, EMAIL, PASSWORD)
        yield made


@contextmanager
def serving_sources(host: Host, requests: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.cluster.sources", requests, host.name]
    # The source of fetches is elsewhere, so it isn't killed with the machine.
    process = launch([*host.prefix, *command], cwd=BASE)
    host.spared.add(process.pid)
    output = Output(process)
    try:
        assert output.saw("sources are served", START_SECONDS), output.text
        yield
    finally:
        process.kill()
        process.wait(STOP_SECONDS)
        output.close()
