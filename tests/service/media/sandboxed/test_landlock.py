"""What a hostile file could do after taking over a process that has sealed itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from service.media.sandbox import launcher
from service.media.sandbox.ffmpeg_access import ffmpeg, opens, runs_sealed
from service.media.sandbox.launcher import Failed, ResourceLimits
from tests import tools
from tests.service.media import samples
from tests.service.media.watching import Viewer, converters_of, playing

BASE = Path(__file__).resolve().parents[4]
SEALED = """import os, signal, socket
from service.media.sandboxed.confinement.landlock import seal
assert {}
"""


@pytest.fixture(scope="module", autouse=True)
def _landlock():
    if tried("", seals=True):
        tools.lacks("Landlock")


def tried(code: str, *, seals: bool) -> str:
    before = SEALED.format("seal({})" if seals else "True")
    done = subprocess.run(
        [sys.executable, "-c", before + code], cwd=BASE, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().rsplit("\n", 1)[-1]


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd')",
        "os.listdir('/')",
        "open('/dev/shm/ferry-sealed', 'w')",
        "os.execv('/bin/true', ['true'])",
    ],
)
def test_it_opens_no_file(code):
    assert "PermissionError" not in tried(code, seals=False)
    assert "PermissionError" in tried(code, seals=True)


def test_files_opened_earlier_stay_open():
    code = "file = open('/etc/passwd')\nassert seal({})"
    assert tried(f"{code}\nassert file.read()", seals=False) == ""


def test_one_file_may_stay_readable():
    code = "seal({'/etc/passwd': 'read'})\nassert open('/etc/passwd').read()\n"
    assert tried(code, seals=False) == ""
    assert "PermissionError" in tried(f"{code}open('/etc/group')", seals=False)
    assert "PermissionError" in tried(f"{code}open('/etc/passwd', 'a')", seals=False)


def test_children_that_read_media_are_sealed(children, probe):
    assert probe(b"words")
    # A child says this only when it starts, and nothing else shows it: its answers are the same.
    assert all(child.is_sealed for child in children._idle)  # noqa: SLF001  See above.


LIMITS = ResourceLimits(wall_seconds=60, cpu_seconds=20, memory_bytes=2**32, output_bytes=2**24)


@pytest.mark.promise("a converter reads one file")
@pytest.mark.slow
def test_ffmpeg_reads_the_medium_that_it_was_started_for_and_no_other(tmp_path):
    film, other = samples.film("sealed.mp4", seconds=2), samples.film("other.mp4", seconds=2)
    words = ["-c", "copy", "-f", "mpegts", "pipe:1"]
    copying = [ffmpeg(), "-v", "error", "-i", f"file:{film}", *words]

    def run(allowed):
        return launcher.run(copying, limits=LIMITS, cwd=tmp_path, opens=allowed)

    assert run(None)
    assert run(opens(film)) == run(None)
    with pytest.raises(Failed):
        run(opens(other))


def test_ffmpeg_writes_where_it_may_keep_something_and_nowhere_else(tmp_path):
    film, target = samples.film("sealed.mp4", seconds=2), tmp_path / "made.mp4"
    words = ["-c", "copy", "-movflags", "+faststart", f"file:{target}"]
    copying = [ffmpeg(), "-v", "error", "-i", f"file:{film}", *words]
    with pytest.raises(Failed):
        launcher.run(copying, limits=LIMITS, cwd=tmp_path, opens=opens(film))
    assert not target.exists()
    launcher.run(copying, limits=LIMITS, cwd=tmp_path, opens=opens(film, keeps_in=tmp_path))
    assert target.stat().st_size > 0


@pytest.mark.promise("converters are sealed")
@pytest.mark.slow
@pytest.mark.django_db
def test_converters_are_sealed(library_folder, children):
    film = samples.film("long-sealed.avi", "-c:v", "mpeg4", "-c:a", "mp3", seconds=60)
    with playing(children) as player:
        viewer = Viewer(player, film)
        viewer.segment("v480", 0)
        (pid,) = converters_of(player)
        assert "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()


def test_an_ffmpeg_that_fails_in_the_sandbox_is_detected(monkeypatch, caplog):
    def fail(*_arguments, **_options):
        raise Failed("its libraries are elsewhere")

    # The ffmpeg that comes with Ferry contains all of its libraries.
    monkeypatch.setattr(launcher, "run", fail)
    assert runs_sealed.__wrapped__() is False
    assert "its libraries are elsewhere" in caplog.text
