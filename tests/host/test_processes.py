"""How Ferry ends its processes, with programs that take milliseconds to start."""

import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE

from tests.running import BASE

# All end with their test at the latest, which then closes their input.
CODE = """
import os, signal, sys
from host import processes

awake = os.dup(0)

def say(word):
    os.write(1, word + b"\\n")

def wait():
    say(b"begun")
    os.read(awake, 1)

def late():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.fork()
    wait()

def stop(*_signal):
    say(b"stopped")
    os._exit(0)

def orderly():
    signal.signal(signal.SIGTERM, stop)
    wait()

def brief():
    say(b"begun")

sys.exit(processes.run({PROGRAMS}, SECONDS))
"""


@contextmanager
def running(*programs: str, seconds: float) -> Iterator["subprocess.Popen[bytes]"]:
    named = ", ".join(f"{name!r}: {name}" for name in programs)
    code = CODE.replace("PROGRAMS", named).replace("SECONDS", str(seconds))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=BASE, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        yield process


def said(process: "subprocess.Popen[bytes]", lines: int) -> list[bytes]:
    return [process.stdout.readline().strip() for _line in range(lines)]


def test_a_late_process_is_killed_with_its_children():
    with running("late", seconds=0.1) as ferry:
        assert said(ferry, 2) == [b"begun", b"begun"]
        ferry.send_signal(signal.SIGTERM)
        assert ferry.wait(60) == 0
        # As with a port: the output ends once no process holds it.
        has_ended, _writable, _failed = select.select([ferry.stdout], [], [], 10)
        assert has_ended
        assert ferry.stdout.read() == b""


def test_a_process_that_stops_in_time_is_not_killed():
    with running("orderly", seconds=60) as ferry:
        assert said(ferry, 1) == [b"begun"]
        ferry.send_signal(signal.SIGINT)
        assert ferry.wait(60) == 0
        assert ferry.stdout.read() == b"stopped\n"


def test_when_one_process_ends_by_itself_the_others_are_stopped():
    with running("orderly", "brief", seconds=60) as ferry:
        assert ferry.wait(60) == 1
        assert b"brief ended unexpectedly" in ferry.stderr.read()
        assert set(ferry.stdout.read().split()) <= {b"begun", b"stopped"}
