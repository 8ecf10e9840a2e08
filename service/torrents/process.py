"""Start, feed, read, and end the engine's process."""

import logging
import os
import queue
import ssl
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO

from service.torrents.events import Event, SessionStatus, Status
from service.torrents.messages import Document, EventReader, Garbled, Lines

BASE = Path(__file__).resolve().parents[2]
READ_BYTES = 2**16
LONGEST_LOG_LINE = 1000
# What the engine writes besides events.
SIGNS = {"pong", "begun", "ended"}
COMMAND = (sys.executable, "-m", "service.torrents")

log = logging.getLogger("ferry.worker")


class Process:
    """The engine's process. Three threads move its lines, so that no caller waits if it hangs."""

    def __init__(self, command: tuple[str, ...], wake_up: threading.Event) -> None:
        self._news: deque[Document | Event] = deque()
        self._statuses: dict[str, Status | SessionStatus] = {}
        self._wake_up = wake_up
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  It is our own module.
            [*command, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=BASE,
            env=environment(),
            start_new_session=True,
        )
        self._threads = [
            threading.Thread(target=target, args=(stream,), daemon=True)
            for target, stream in (
                (self._write, self._process.stdin),
                (self._read, self._process.stdout),
                (self._log, self._process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """Return the CPU time of its main thread, which answers pings; 0 if it is unknown."""
        try:
            facts = Path(f"/proc/{self.pid}/task/{self.pid}/stat").read_text()
        except OSError:
            return 0.0
        return sum(map(int, facts.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def send(self, line: bytes) -> None:
        self._outgoing.put(line)

    def messages(self) -> list[Document | Event]:
        """Return the last status of each torrent, and all else in order of arrival."""
        statuses = [self._statuses.pop(key) for key in list(self._statuses)]
        return [*statuses, *(self._news.popleft() for _ in range(len(self._news)))]

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait_for_end(self, within_seconds: float) -> bool:
        try:
            self._process.wait(within_seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> int:
        """Kill the process and return its exit code. Afterward, all its output can be read."""
        self._process.kill()
        code = self._process.wait()
        self.send(b"")
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        return code

    def _write(self, stream: IO[bytes]) -> None:
        # An engine that has ended accepts no more orders, and closing the stream fails, too.
        with suppress(OSError), stream:
            while line := self._outgoing.get():
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        lines, reader = Lines(), EventReader()
        try:
            while piece := os.read(stream.fileno(), READ_BYTES):
                for document in lines.feed(piece):
                    self._sort(document if document.keys() & SIGNS else reader.event(document))
        except Garbled:
            log.error("The engine sent an unreadable message")  # noqa: TRY400
            self._process.kill()
        finally:
            self._wake_up.set()

    def _sort(self, message: Document | Event | None) -> None:
        """Separate statuses, which set no wake-up: they come every second for 1,000 torrents."""
        if isinstance(message, Status | SessionStatus):
            self._statuses[message.key] = message
        elif message is not None:
            self._news.append(message)
            self._wake_up.set()

    def _log(self, stream: IO[bytes]) -> None:
        while line := stream.readline(LONGEST_LOG_LINE):
            log.info("Engine: %s", line.decode(errors="replace").rstrip())


def environment() -> dict[str, str]:
    """Return an environment without the worker's variables, which include secrets.

    It names the system's certificates: libtorrent's OpenSSL looks where no system keeps them.
    """
    paths = ssl.get_default_verify_paths()
    variables = {"SSL_CERT_FILE": paths.cafile, "SSL_CERT_DIR": paths.capath}
    certificates = {name: value for name, value in variables.items() if value}
    return {"PYTHONPATH": str(BASE), "LC_ALL": "C.UTF-8", "PYTHONSAFEPATH": "1", **certificates}
