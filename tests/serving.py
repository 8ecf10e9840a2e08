"""The real server over the tests' own database and data folder: for what only a socket shows."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.running import BASE, STOP_SECONDS, free_port


@dataclass
class Server:
    port: int
    process: "subprocess.Popen[str]"

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
        found = [link for pid in self.workers for link in Path(f"/proc/{pid}/fd").iterdir()]
        names = [str(link.readlink()) for link in found if link.is_symlink()]
        return [name for name in names if name.startswith(str(folder))]

    def threads(self) -> int:
        return sum(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in self.workers)

    def resident_bytes(self) -> int:
        pages = (Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in self.workers)
        return sum(map(int, pages)) * os.sysconf("SC_PAGESIZE")


@contextmanager
def serving(**wanted: str) -> Iterator[Server]:
    """Rows are seen by it once they are committed: its tests are `django_db(transaction=True)`."""
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "WEB_PROCESSES": "1",
        "WEB_THREADS": "32",
        **wanted,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi"],
        cwd=BASE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        lines = iter(process.stdout.readline, "")
        said = next((line for line in lines if "Ferry answers" in line), "")
        assert said, "The server did not start"
        yield Server(port, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=STOP_SECONDS)
