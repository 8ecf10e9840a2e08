import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from service.media.sandbox import launcher
from service.media.sandbox.launcher import Failed, ResourceLimits, RunningProgram
from tests import tools
from tests.service.media.waiting import wait_until

MIB = 2**20
LIMITS = ResourceLimits(wall_seconds=60, cpu_seconds=5, memory_bytes=512 * MIB, output_bytes=MIB)


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def run(code, tmp_path, **options):
    return launcher.run(python(code), limits=options.pop("limits", LIMITS), cwd=tmp_path, **options)


def limits(**changed) -> ResourceLimits:
    return ResourceLimits(**{**LIMITS.__dict__, **changed})


def test_the_programs_output_is_returned(tmp_path):
    assert run("print('a picture')", tmp_path) == b"a picture\n"


def test_it_reads_the_medium_from_a_descriptor(tmp_path):
    (tmp_path / "medium").write_bytes(b"bytes")
    with (tmp_path / "medium").open("rb") as medium:
        read = run("import sys; print(sys.stdin.read())", tmp_path, stdin=medium.fileno())
    assert read == b"bytes\n"


def test_the_environment_is_empty_and_the_folder_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "herring")
    code = "import os; print(os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))"
    assert run(code, tmp_path).decode().split(maxsplit=1) == [str(tmp_path), "[]\n"]


def test_no_other_descriptor_is_inherited(tmp_path):
    with (tmp_path / "other").open("wb") as other:
        os.set_inheritable(other.fileno(), True)
        output = run("import os; print(os.listdir('/proc/self/fd'))", tmp_path)
        assert f"'{other.fileno()}'" not in output.decode()


def test_the_program_has_its_own_session_and_low_priority(tmp_path):
    output = run("import os; print(os.getsid(0) == os.getpid(), os.nice(0))", tmp_path)
    assert output == b"True 10\n"


def test_the_program_has_no_network(tmp_path):
    if subprocess.run(["unshare", "--user", "--net", "true"], check=False).returncode:
        tools.lacks("network name spaces for everybody")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        subprocess.run(python(code), check=True)
        with pytest.raises(Failed):
            run(code, tmp_path)


def test_complaints_become_one_clean_line(tmp_path):
    code = r"import sys; sys.exit('x\n[mov @ 0x55aa] /srv/data/ab: Invalid \x1b[31mdata\n\n')"
    with pytest.raises(Failed) as failed:
        run(code, tmp_path)
    assert failed.value.reason == "it Invalid  [31mdata"
    assert not failed.value.is_limit


def test_endless_complaints_are_bounded(tmp_path):
    code = "import os\nfor _ in range(2000): os.write(2, b'x' * 65536)\nraise SystemExit(1)"
    with pytest.raises(Failed) as failed:
        run(code, tmp_path)
    assert len(failed.value.reason) <= launcher.LONGEST_REASON


@pytest.mark.promise("a converter has limits", cases=["while True: pass-changed0-it took too long"])
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "changed", "reason"),
    [
        ("while True: pass", {"wall_seconds": 0.5}, "it took too long"),
        (
            "import os; os.close(1); os.close(2)\nwhile True: pass",
            {"wall_seconds": 0.5},
            "too long",
        ),
        ("while True: pass", {"cpu_seconds": 1}, "it took too much"),
        ("x = bytearray(2**30)", {}, "it takes too much memory"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", {}, "it became too large"),
    ],
)
def test_a_program_that_exceeds_its_limits_is_ended(code, changed, reason, tmp_path):
    started = time.monotonic()
    with pytest.raises(Failed) as failed:
        run(code, tmp_path, limits=limits(**changed))
    assert reason in failed.value.reason
    assert failed.value.is_limit
    assert time.monotonic() - started < LIMITS.wall_seconds


@pytest.mark.slow
def test_only_timeouts_count_as_late(tmp_path):
    for changed, is_late in (({"wall_seconds": 0.5}, True), ({"cpu_seconds": 1}, False)):
        with pytest.raises(Failed) as failed:
            run("while True: pass", tmp_path, limits=limits(**changed))
        assert failed.value.is_late is is_late


def test_a_paused_program_uses_no_cpu(tmp_path):
    argv = python("while True: pass")
    with RunningProgram(
        argv, limits=limits(wall_seconds=60, cpu_seconds=60), cwd=tmp_path
    ) as running:
        wait_until(lambda: running.cpu_seconds > 0.1)
        running.pause()
        status = Path(f"/proc/{running.pid}/stat")
        wait_until(lambda: status.read_text().rpartition(")")[2].split()[0] == "T")
        spent = running.cpu_seconds
        running.resume()
        wait_until(lambda: running.cpu_seconds > spent)


def test_no_file_grows_beyond_the_limit(tmp_path):
    with pytest.raises(Failed):
        run("open('large', 'wb').write(b'x' * 2**22)", tmp_path)
    assert (tmp_path / "large").stat().st_size <= MIB


def test_descriptors_are_few(tmp_path):
    with pytest.raises(Failed):
        run("kept = [open('/dev/null') for _ in range(100)]", tmp_path)


def test_child_processes_of_the_program_end_with_it(tmp_path):
    code = "import signal, subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True)"
    code += "\nsignal.pause()"
    ours, theirs = os.pipe()
    with RunningProgram(python(code), limits=LIMITS, cwd=tmp_path, stdout=theirs) as running:
        os.close(theirs)
        with open(ours) as said:
            assert Path(f"/proc/{int(said.readline())}").exists()
            assert running.poll() is None
            running.stop()
            # Both processes held the pipe open, so both are gone.
            assert said.read() == ""
    assert running.poll() == -signal.SIGKILL


def test_a_missing_program_is_reported(tmp_path):
    with pytest.raises(Failed, match="cannot start: No such file"):
        launcher.run(["/nowhere/ffmpeg"], limits=LIMITS, cwd=tmp_path)


def test_it_outlives_the_thread_that_started_it(tmp_path):
    ours, theirs = os.pipe()
    found = []

    def start():
        argv = python("import signal; print('up', flush=True); signal.pause()")
        found.append(RunningProgram(argv, limits=LIMITS, cwd=tmp_path, stdout=theirs))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    os.close(theirs)
    with found[0] as running, open(ours) as said:
        assert said.readline() == "up\n"
        assert running.poll() is None


def test_it_dies_with_its_parent(tmp_path):
    code = """
import signal, sys
from pathlib import Path
from service.media.sandbox.launcher import ResourceLimits, RunningProgram
limits = ResourceLimits(60, 60, 2**30, 2**20)
argv = [sys.executable, "-I", "-c", "import signal; print('up', flush=True); signal.pause()"]
RunningProgram(argv, limits=limits, cwd=Path("/"), stdout=1)
signal.pause()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    with parent:
        assert parent.stdout.readline() == "up\n"
        parent.kill()
        # Now only the child could hold the pipe open.
        assert parent.stdout.read() == ""
