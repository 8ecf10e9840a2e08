"""Child processes that read media for the worker, and are reused: starting one takes 0.2 s."""

import json
import logging
import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.storage import database_connection
from service.errors import Busy
from service.media.sandbox import launcher
from service.media.sandbox.launcher import MIB, Failed, ResourceLimits, RunningProgram

log = logging.getLogger("ferry.media")

LIFE = ResourceLimits(wall_seconds=3600, cpu_seconds=1200)
START_SECONDS = 60.0
# A question's wall time is this multiple of its CPU time: other processes use the machine too.
PATIENCE = 6
CHECK_SECONDS = 0.5
MOST_QUESTIONS = 500
MOST_AGE_SECONDS = 1800.0
IDLE_SECONDS = 30.0
MOST_LINE_BYTES = 2 * MIB
MOST_FILES_BYTES = 16 * MIB

Facts = dict[str, Any]


@dataclass(frozen=True)
class ChildAnswer:
    facts: Facts
    files: list[bytes]


class Children:
    """The media children of one worker. One that dies, hangs, or grows old is replaced.

    There is one for each question in progress, which the callers limit.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._idle: list[MediaChild] = []
        self._busy: set[MediaChild] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(self, medium: int, question: Facts, seconds: float) -> ChildAnswer:
        """Ask a child. Raises Failed, or Busy if no child can be started.

        `medium` is a descriptor, `seconds` is CPU time. Failed has `is_limit` if the media file,
        or what it made a decoder do, took the child down.
        """
        database_connection.give_back()
        with self._one() as child:
            answer = child.ask(medium, question, seconds)
        if "refused" in answer.facts:
            is_limit, is_late = bool(answer.facts["is_limit"]), bool(answer.facts["is_late"])
            raise Failed(str(answer.facts["refused"])[:200], is_limit=is_limit, is_late=is_late)
        return answer

    def rest(self) -> None:
        """Stop children that no one has asked for IDLE_SECONDS."""
        then = time.monotonic() - IDLE_SECONDS
        with self._lock:
            stale = [child for child in self._idle if child.asked_at < then]
            self._idle = [child for child in self._idle if child.asked_at >= then]
        for child in stale:
            child.stop()

    def close(self) -> None:
        """Stop all children for good, even those that are answering."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for child in idle:
            child.stop()
        for child in busy:
            child.kill()

    @contextmanager
    def _one(self) -> Iterator["MediaChild"]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or MediaChild(self._scratch)
        with self._lock:
            self._busy.add(child)
        try:
            yield child
        except BaseException:
            child.stop()
            raise
        finally:
            with self._lock:
                self._busy.discard(child)
        with self._lock:
            is_kept = child.is_fresh and not self._is_closed
            self._idle += [child] if is_kept else []
        if not is_kept:
            child.stop()


def are_sealed(scratch: Path) -> bool:
    """Return whether this system confines children. Raises Busy if no child can be started."""
    child = MediaChild(scratch)
    child.stop()
    if not child.is_sealed:
        log.warning("media readers run without a sandbox: this system lacks Landlock or seccomp")
    return child.is_sealed


class MediaChild:
    def __init__(self, scratch: Path) -> None:
        self._ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._running = RunningProgram(
                    launcher.command("child"),
                    limits=LIFE,
                    cwd=scratch,
                    stdin=theirs.fileno(),
                    environment=launcher.ENVIRONMENT,
                )
        except OSError as trouble:
            log.error("a child can't start: %s", trouble)  # noqa: TRY400
            self._ours.close()
            raise Busy from trouble
        self._started_at = self.asked_at = time.monotonic()
        self._questions = 0
        self._most_cpu_seconds = math.inf
        self._buffer = b""
        try:
            hello = self._read_line(self._started_at + START_SECONDS)
        except (OSError, ValueError, TypeError) as trouble:
            log.error("a child can't start: %s", self._running.stderr_tail)  # noqa: TRY400
            self.stop()
            raise Busy from trouble
        self.is_sealed = hello.get("is_sealed") is True

    @property
    def is_fresh(self) -> bool:
        age = time.monotonic() - self._started_at
        return self._questions < MOST_QUESTIONS and age < MOST_AGE_SECONDS

    def ask(self, medium: int, question: Facts, seconds: float) -> ChildAnswer:
        """Ask this child. Raises Failed, after which the child can't be used again."""
        self._questions += 1
        self.asked_at = time.monotonic()
        deadline = self.asked_at + seconds * PATIENCE
        self._most_cpu_seconds = self._running.cpu_seconds + seconds
        try:
            line = json.dumps(question).encode()
            socket.send_fds(self._ours, [line], [medium])
            facts = self._read_line(deadline)
            return ChildAnswer(facts, self._read_files(facts["lengths"], deadline))
        except TimeoutError as late:
            raise Failed("it took too long", is_limit=True, is_late=True) from late
        except (OSError, ValueError, KeyError, TypeError) as trouble:
            self.stop()
            raise Failed(self._running.failure().reason, is_limit=True) from trouble

    def stop(self) -> None:
        self.kill()
        self._ours.close()

    def kill(self) -> None:
        """Kill the child. A thread that waits for its answer sees the end of the socket."""
        self._running.stop()

    def _read_line(self, deadline: float) -> Facts:
        while b"\n" not in self._buffer:
            self._receive(deadline, MOST_LINE_BYTES)
        line, _, self._buffer = self._buffer.partition(b"\n")
        facts = json.loads(line)
        if not isinstance(facts, dict):
            raise TypeError(line[:100])
        return facts

    def _read_files(self, lengths: list[int], deadline: float) -> list[bytes]:
        files = []
        for length in lengths:
            while len(self._buffer) < length:
                self._receive(deadline, MOST_FILES_BYTES)
            files.append(self._buffer[:length])
            self._buffer = self._buffer[length:]
        return files

    def _receive(self, deadline: float, most_bytes: int) -> None:
        remaining_seconds = deadline - time.monotonic()
        if remaining_seconds <= 0:
            raise TimeoutError
        self._ours.settimeout(min(remaining_seconds, CHECK_SECONDS))
        try:
            piece = self._ours.recv(256 * 1024)
        except TimeoutError:
            if self._running.cpu_seconds > self._most_cpu_seconds:
                raise Failed("it took too much computing", is_limit=True) from None
            return
        if not piece or len(self._buffer) > most_bytes:
            raise ConnectionError("it has ended")
        self._buffer += piece
