"""Copiers started ahead: loading Python and PyAV takes longer than copying a segment."""

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from service.media.sandbox import launcher
from service.media.sandbox.launcher import FOREGROUND, ResourceLimits, RunningProgram, start_piped

# For runs of a few seconds at most; half of the wall time is for copiers that wait.
LIGHT = ResourceLimits(wall_seconds=600, cpu_seconds=120, nice=FOREGROUND)
# For the picture and the sound of one viewer.
MOST_WAITING = 2
IDLE_SECONDS = 120.0


class Copier:
    """A copier that waits for its only question: it reads one media file, and ends."""

    def __init__(self, scratch: Path) -> None:
        theirs, self._question = os.pipe()
        try:
            self.running, self.output = start_piped(
                launcher.command("copier"),
                limits=LIGHT,
                cwd=scratch,
                stdin=theirs,
                environment=launcher.ENVIRONMENT,
            )
        except BaseException:
            os.close(self._question)
            raise
        finally:
            os.close(theirs)

    def ask(self, question: dict[str, Any]) -> tuple[RunningProgram, BinaryIO]:
        # A copier that has died meanwhile shows that at the end of its output.
        with suppress(BrokenPipeError), open(self._question, "wb") as pipe:
            pipe.write(json.dumps(question).encode())
        return self.running, self.output

    def stop(self) -> None:
        self.running.stop()
        self.output.close()
        os.close(self._question)


class ReadyCopiers:
    """Up to MOST_WAITING copiers, while someone watches copied films."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._waiting: list[Copier] = []
        self._lock = threading.Lock()
        self._asked_at = 0.0
        self._is_closed = False

    def ask(self, question: dict[str, Any]) -> tuple[RunningProgram, BinaryIO]:
        """Return a copier at work, and its output."""
        self._asked_at = time.monotonic()
        return (self._take() or Copier(self._scratch)).ask(question)

    def refill(self) -> None:
        """Start copiers. One that can't start now is tried again when someone needs it."""
        with self._lock, suppress(OSError):
            while len(self._waiting) < MOST_WAITING and not self._is_closed:
                self._waiting.append(Copier(self._scratch))

    def rest(self) -> None:
        """Stop the copiers if no one has needed one for IDLE_SECONDS."""
        if time.monotonic() - self._asked_at > IDLE_SECONDS:
            self._stop_all()

    def close(self) -> None:
        self._is_closed = True
        self._stop_all()

    def _take(self) -> Copier | None:
        with self._lock:
            while self._waiting:
                # The one that waits longest, so that none waits until its time is up.
                copier = self._waiting.pop(0)
                if copier.running.poll() is None:
                    return copier
                copier.stop()
        return None

    def _stop_all(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for copier in waiting:
            copier.stop()
