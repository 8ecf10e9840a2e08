"""How Ferry ends its processes. Each test starts them from a new one, since Ferry forks."""

import select
import subprocess
import sys
from subprocess import PIPE

# A program that doesn't stop when asked, with a child that holds standard output as another would
# hold a port. Both end with this test at the latest, which then closes their input.
LATE = """
import os, signal
from config import processes

awake, (begun, ready) = os.dup(0), os.pipe()

def late():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    is_child = os.fork() == 0
    if not is_child:
        os.close(1)
    os.write(ready, b"x")
    os.read(awake, 1)

signal.signal(signal.SIGCHLD, lambda *_signal: None)
signal.pthread_sigmask(signal.SIG_BLOCK, processes.NEWS)
process = processes.start("late", late)
for _each in range(2):
    os.read(begun, 1)
processes.stop([process], 0.1)
print(process.exitcode)
"""


def test_a_late_process_is_killed_with_its_children():
    with subprocess.Popen([sys.executable, "-c", LATE], stdin=PIPE, stdout=PIPE) as program:
        assert program.stdout.readline() == b"-9\n"
        # Standard output ends once no process holds it.
        has_ended, _writable, _failed = select.select([program.stdout], [], [], 10)
        assert has_ended
        assert program.stdout.read() == b""
