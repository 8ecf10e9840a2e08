"""Run object stores for tests: SeaweedFS, and rclone, which breaks promises."""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from service.store.objects.bucket import Bucket
from tests.postgresql import mortal
from tests.running import Output, free_port, freeze, launch

KEYS = {"AWS_ACCESS_KEY_ID": "ferry", "AWS_SECRET_ACCESS_KEY": "a key for tests"}
NAME = "ferry"
START_SECONDS = STOP_SECONDS = 60
# SeaweedFS would use as much memory as there is.
MEMORY = {"GOMEMLIMIT": "400MiB"}
PORTS = {
    "master": ("port", "port.grpc"),
    "volume": ("port", "port.grpc"),
    "filer": ("port", "port.grpc"),
    "s3": ("port", "port.grpc"),
}


class ObjectServer:
    """A store, which can be frozen, killed, and started again over the same data."""

    def __init__(
        self,
        command: list[str | Path],
        ready: str,
        endpoint: str,
        environment: dict[str, str],
    ) -> None:
        self._command = [*mortal(), *command]
        self._ready = ready
        self._environment = {**os.environ, **environment}
        self.endpoint = f"http://{endpoint}"

    def start(self) -> None:
        self._process = launch(self._command, env=self._environment)
        self._output = Output(self._process)
        assert self._output.saw(self._ready, START_SECONDS), self._output.text

    def kill(self) -> None:
        """Kill the store: it takes seconds to stop properly."""
        self._process.kill()
        self._process.wait(STOP_SECONDS)
        self._output.close()

    def url(self, prefix: str) -> str:
        return f"s3://{NAME}/{prefix}?endpoint={self.endpoint}"

    def bucket(self, prefix: str) -> Bucket:
        return Bucket.of(self.url(prefix), KEYS)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        freeze(self._process)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


@contextmanager
def seaweedfs(address: str = "127.0.0.1") -> Iterator[ObjectServer]:
    """Run SeaweedFS with a bucket, and with its reports to its makers turned off."""
    with folder() as data:
        rights = ["Admin", "Read", "Write", "List", "Tagging"]
        key = {"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}
        people = {"identities": [{"name": NAME, "credentials": [key], "actions": rights}]}
        (data / "people.json").write_text(json.dumps(people))
        ports = {f"-{part}.{name}": free_port() for part, names in PORTS.items() for name in names}
        options = {
            "-dir": data,
            "-ip": address,
            "-ip.bind": address,
            "-master.telemetry": "false",
            "-master.volumeSizeLimitMB": 64,
            # What is deleted keeps its place for a quarter of an hour, and a day in the cluster
            # writes dozens of GB.
            "-volume.max": 1024,
            "-s3.config": data / "people.json",
            "-s3.iam": "false",
            "-s3.port.iceberg": 0,
            "-s3.port.lance": 0,
            **ports,
        }
        command = [script("weed"), "-logtostderr=true", "server", "-filer", "-s3"]
        command += [f"{name}={value}" for name, value in options.items()]
        endpoint = f"{address}:{ports['-s3.port']}"
        with serving(command, "Start Seaweed S3 API Server", endpoint, MEMORY) as server:
            make_bucket(server.bucket(""))
            yield server
        for port in ports.values():
            for socket in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                socket.unlink()


@contextmanager
def rclone() -> Iterator[ObjectServer]:
    """Run rclone's S3 server, which ignores If-None-Match."""
    with folder() as data:
        (data / NAME).mkdir()
        port = free_port()
        keys = ",".join(KEYS.values())
        command = [script("rclone"), "serve", "s3", data, f"--addr=127.0.0.1:{port}"]
        command += [f"--auth-key={keys}", "--config=/dev/null", "--vfs-cache-mode=off"]
        with serving(command, "Starting s3 server", f"127.0.0.1:{port}", {}) as server:
            yield server


@contextmanager
def serving(
    command: list[str | Path], ready: str, endpoint: str, environment: dict[str, str]
) -> Iterator[ObjectServer]:
    server = ObjectServer(command, ready, endpoint, environment)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def make_bucket(bucket: Bucket) -> None:
    # The server says that it starts, and opens its port a moment later.
    with httpx.Client(transport=httpx.HTTPTransport(retries=5), timeout=60) as client:
        client.put(bucket.sign("PUT", "", 60)).raise_for_status()
        # The first object takes seconds: the server makes room for it.
        client.put(bucket.sign("PUT", "first", 60), content=b"first").raise_for_status()


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="ferry-objects-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def script(name: str) -> Path:
    """Return a program that came with a package."""
    return Path(sys.executable).with_name(name)
