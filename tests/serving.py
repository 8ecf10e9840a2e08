"""Run the real web server over the tests' own database and data folder, for tests of sockets."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from threading import Thread

from django.conf import settings

from tests import databases
from tests.running import BASE, START_SECONDS, STOP_SECONDS, free_port, launch, open_files


@dataclass
class Server:
    port: int
    process: "subprocess.Popen[str]"
    lines: "Queue[str]" = field(default_factory=Queue)

    def says(self, words: str, seconds: float = START_SECONDS) -> str:
        """Return the next line with these words; raise queue.Empty if none arrives in time."""
        while words not in (line := self.lines.get(timeout=seconds)):
            pass
        return line

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(word) for word in children.read_text().split()]

    def descriptors(self) -> int:
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in self.workers)

    def open_below(self, folder: Path) -> list[str]:
        names = [name for pid in self.workers for name in open_files(pid)]
        return [name for name in names if name.startswith(str(folder))]

    def threads(self) -> int:
        return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in self.workers)

    def resident_bytes(self) -> int:
        pages = (Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in self.workers)
        return sum(map(int, pages)) * os.sysconf("SC_PAGESIZE")


@contextmanager
def serving(**variables: str) -> Iterator[Server]:
    """Run the server. It sees only committed rows, so use `django_db(transaction=True)`."""
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": databases.shared_url(),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "WEB_PROCESSES": "1",
        "WEB_THREADS": "32",
        **variables,
    }
    command = [sys.executable, "-m", "gunicorn", "--config", "host/gunicorn.py", "config.wsgi"]
    process = launch(command, cwd=BASE, env=environment)
    server = Server(port, process)
    reader = Thread(target=_read, args=(server,), daemon=True)
    reader.start()
    try:
        server.says("Ferry answers")
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(STOP_SECONDS)
        reader.join(STOP_SECONDS)
        process.stdout.close()


def _read(server: Server) -> None:
    for line in server.process.stdout:
        server.lines.put(line)
