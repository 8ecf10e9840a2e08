"""Start programs under limits: the only way to start anything that reads media."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

BASE = Path(__file__).resolve().parents[3]
# The environment of our own programs.
ENVIRONMENT = {"PYTHONPATH": str(BASE), "LANG": "C.UTF-8"}
LAUNCHER = Path(__file__).parents[1] / "sandboxed" / "confinement" / "apply_limits.py"
MIB = 2**20
READ_BYTES = 64 * 1024
OUTPUT_BYTES = 256 * 1024
STDERR_TAIL_BYTES = 8 * 1024  # of a program's standard error
LONGEST_REASON = 200
# Niceness of programs that a viewer waits for, and of those that no one waits for.
FOREGROUND, BACKGROUND = 5, 15
LIMIT_SIGNALS = {
    signal.SIGXCPU: "it took too much computing",
    signal.SIGXFSZ: "it became too large",
    signal.SIGKILL: "it took too much",
}
OUT_OF_MEMORY = re.compile(r"cannot allocate|out of memory|memoryerror|bad_alloc", re.IGNORECASE)
SOURCE = re.compile(r"\[[^\]]*@ 0x[0-9a-f]+\]\s*")
PATHS = re.compile(r"(?:file:|fd:|pipe:)\S*|/\S+")
DISK_FULL = "No space left on device"
UNPRINTABLE = re.compile(r"[^ -~]+")

# Linux kills children (see apply_limits.py) when the *thread* that started them ends. This thread
# lives as long as the process.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="confined")


@dataclass(frozen=True)
class ResourceLimits:
    """How much a program that reads media may use."""

    wall_seconds: float  # generous: other processes use the machine too
    cpu_seconds: int
    memory_bytes: int = 2048 * MIB  # of address space, which exceeds the memory in use
    output_bytes: int = 0  # of each file it writes, and of its standard output
    open_files: int = 64
    nice: int = 10  # for CPU and disk: Linux derives the disk's priority from it


@dataclass(eq=False, repr=False)
class Failed(Exception):  # noqa: N818  Errors are nouns here.
    """A program's failure; `reason` is a line for people.

    `is_limit`: the program worked, but needed too much. `is_late`: it ran out of wall time, or the
    disk is full or broken, which may be the machine's fault as much as the media file's.
    `is_killed`: by its own limit, or by another process.
    """

    reason: str
    _: KW_ONLY
    is_limit: bool = False
    is_late: bool = False
    is_killed: bool = False


class RunningProgram:
    """A program in progress: a converter, or a child that answers questions.

    Guarantee: the program has its own session and process group, which is killed as a whole when
    its wall time is up, when it is stopped, and when this process dies. Its priority is lowered;
    its CPU time, address space, file sizes, and open files are limited. It gets only the standard
    three descriptors and the given environment. Where the kernel has Landlock, it can open only
    the files in `opens` (None: it seals itself, or reads nothing hostile). It has no network where
    the kernel lets it leave (as root, or with user namespaces); elsewhere, only seccomp and the
    protocols that ffmpeg may use prevent connections. The number of processes isn't limited, since
    Linux counts all processes of the user.
    Cost: 9 ms of a small Python (see apply_limits.py), and a thread that reads standard error.
    """

    def __init__(  # noqa: PLR0913  A program needs all of these.
        self,
        argv: Sequence[str],
        *,
        limits: ResourceLimits,
        cwd: Path,
        stdin: int | None = None,
        stdout: int | None = None,
        environment: Mapping[str, str] | None = None,
        opens: Mapping[str, str] | None = None,
    ) -> None:
        self._started_at = time.monotonic()
        self._deadline = self._started_at + limits.wall_seconds
        self._complaints = b""
        self._was_late = False
        complaints, theirs = os.pipe()
        try:
            self._process = _starter.submit(
                subprocess.Popen,
                launching(argv, limits, environment or {}, opens),
                cwd=cwd,
                env={},
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.DEVNULL if stdout is None else stdout,
                stderr=theirs,
                start_new_session=True,
            ).result()
        except OSError:
            os.close(complaints)
            raise
        finally:
            os.close(theirs)
        self.pid = self._process.pid
        self._watcher = threading.Thread(target=self._watch, args=(complaints,), daemon=True)
        self._watcher.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    @property
    def cpu_seconds(self) -> float:
        """The CPU time so far, or the wall time if the system doesn't report CPU time."""
        try:
            facts = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic() - self._started_at
        return sum(map(int, facts[11:13])) / os.sysconf("SC_CLK_TCK")

    @property
    def stderr_tail(self) -> str:
        """The end of its standard error, which isn't for people."""
        return self._complaints.decode(errors="replace")

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None while it runs."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait for the end, at most for the wall time, and return the exit status."""
        self._watcher.join()
        return self._process.wait()

    def pause(self) -> None:
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_group(signal.SIGCONT)

    def stop(self) -> None:
        """Kill the program at once, and everything it started."""
        if self.poll() is None:
            self._kill_group()
        self.wait()

    def failure(self) -> Failed:
        """Return the failure of a program that has ended."""
        if self._was_late:
            return Failed("it took too long", is_limit=True, is_late=True)
        status = self._process.returncode or 0
        if status < 0:
            reason = LIMIT_SIGNALS.get(signal.Signals(-status))
            return Failed(
                reason or "the program that reads it broke",
                is_limit=reason is not None,
                is_killed=status == -signal.SIGKILL,
            )
        if DISK_FULL in self.stderr_tail:
            return Failed("the disk is full", is_limit=True, is_late=True)
        if OUT_OF_MEMORY.search(self.stderr_tail):
            return Failed("it takes too much memory", is_limit=True)
        return Failed(reason_in(self.stderr_tail))

    def _watch(self, complaints: int) -> None:
        """Collect standard error, and kill the group once the program ends or its time is up."""
        with open(complaints, "rb", buffering=0) as stderr:
            while readable(complaints, self._deadline):
                piece = stderr.read(READ_BYTES)
                if not piece:
                    break
                self._complaints = (self._complaints + piece)[-STDERR_TAIL_BYTES:]
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0, self._deadline - time.monotonic()))
        self._was_late = self.poll() is None
        self._kill_group()
        self._process.wait()

    def _kill_group(self) -> None:
        """Kill the group, which outlives its leader if that left processes behind."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        """Signal the group, but only while the program runs: later its number may be reused."""
        if self.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)


def run(argv: Sequence[str], *, limits: ResourceLimits, **options: Any) -> bytes:
    """Run a program with the options of RunningProgram; return its output. Raises Failed."""
    running, output = start_piped(argv, limits=limits, **options)
    with output, running:
        content = output.read(limits.output_bytes + 1)
        if len(content) > limits.output_bytes:
            raise Failed("it became too large", is_limit=True)
        if running.wait() != 0:
            raise running.failure()
    return content


def start_piped(argv: Sequence[str], **options: Any) -> tuple[RunningProgram, BinaryIO]:
    """Start a program with the options of RunningProgram; return it, and its standard output."""
    ours, theirs = os.pipe()
    output = open(ours, "rb", buffering=OUTPUT_BYTES)  # noqa: SIM115
    try:
        return RunningProgram(argv, stdout=theirs, **options), output
    except BaseException:
        output.close()
        raise
    finally:
        os.close(theirs)


def launching(
    argv: Sequence[str],
    limits: ResourceLimits,
    environment: Mapping[str, str],
    opens: Mapping[str, str] | None,
) -> list[str]:
    options = {
        "limits": {**asdict(limits), "parent": os.getpid()},
        "environment": dict(environment),
        "opens": opens if opens is None else dict(opens),
    }
    return [sys.executable, "-E", "-s", "-S", str(LAUNCHER), json.dumps(options), *argv]


def readable(descriptor: int, deadline: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0, deadline - time.monotonic()) * 1000))


def reason_in(complaints: str) -> str:
    """Return the last line, without memory addresses and paths, which people shouldn't see."""
    for line in reversed(complaints.splitlines()):
        reason = PATHS.sub("it", SOURCE.sub("", line))
        reason = UNPRINTABLE.sub(" ", reason).strip()
        if reason:
            return reason[:LONGEST_REASON]
    return "it is damaged or of no known kind"


# Our own programs, which read media with PyAV and Pillow


def program(module: str, **question: Any) -> list[str]:
    """Return the command for one question, in JSON: numbers, and the path of our own blob."""
    return [*command(module), json.dumps(question, separators=(",", ":"))]


def command(module: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-m", f"service.media.sandboxed.{module}"]
