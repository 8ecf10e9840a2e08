"""Row 23: code that a hostile file has brought into a process that reads media.

For what such a process may open: tests/service/media/sandboxed/test_landlock.py. For what hostile
media do to decoders: tests/attacks/test_11_media.py.
"""

import errno
import json
import os
import platform
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from service.errors import NotFound
from service.media import probing
from service.media.content_folders import Content
from service.media.hls.renditions import Rendition, RenditionKind
from service.media.sandbox.children import ChildAnswer, MediaChild, are_sealed
from service.media.sandbox.ffmpeg_access import ffmpeg, opens
from service.media.sandbox.launcher import Failed, ResourceLimits, run
from service.media.sandboxed.confinement import seccomp
from service.media.serving import requests as media_requests
from service.models import Media
from service.store.disk_store import DiskStore
from tests import tools
from tests.attacks import hijacked
from tests.cases import each_case
from tests.service.builders import a_file, an_account, put
from tests.service.media import samples
from tests.service.media.working import working

LIMITS = ResourceLimits(wall_seconds=120, cpu_seconds=20, memory_bytes=2**32, output_bytes=2**24)
SOCKETS = ("media.sock", "docker.sock", ".s.PGSQL.5432")
PROGRAM = [sys.executable, hijacked.__file__]
MAY = {"threads"}
# Only Landlock stops these; without it, the other limits still hold.
FILES = {"other files", "folders"}


@pytest.fixture(scope="module")
def _seccomp():
    if platform.machine() not in seccomp.MACHINES:
        tools.lacks("seccomp")


@pytest.fixture
def around(tmp_path):
    """Make sockets that answer, and files of the process's own user."""
    for name in ("file", "other"):
        (tmp_path / name).write_bytes(b"x")
    with ExitStack() as stack:
        paths = [*(str(tmp_path / name) for name in SOCKETS), f"\0{tmp_path.name}-ferry"]
        for path in paths:
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(path)
            listener.listen()
        udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(tmp_path / "journal"))
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        yield {
            "folder": str(tmp_path),
            "file": str(tmp_path / "file"),
            "other": str(tmp_path / "other"),
            "sockets": paths,
            "datagrams": str(tmp_path / "journal"),
            "udp": udp.getsockname()[1],
            "tcp": tcp.getsockname()[1],
            "seals": False,
        }


def free(around) -> dict[str, int]:
    """Run the same code without a sandbox."""
    done = subprocess.run([*PROGRAM, json.dumps(around)], capture_output=True, check=True)
    return json.loads(done.stdout)


def confined(around) -> dict[str, int]:
    """Run the code in the sandbox of all programs that read media."""
    return json.loads(run([*PROGRAM, json.dumps(around)], limits=LIMITS, cwd=Path("/")))


def stopped(found) -> set[str]:
    """Return the attempts that the kernel refused for lack of permission."""
    return {name for name, error in found.items() if error in (errno.EPERM, errno.EACCES)}


@pytest.mark.usefixtures("_seccomp")
def test_a_decoder_can_make_only_the_system_calls_it_needs(around):
    found = confined(around)
    assert found.keys() - stopped(found) == MAY | FILES | {"clone3"}
    # With ENOSYS, glibc falls back to clone, whose flags the filter can read.
    assert found["clone3"] == errno.ENOSYS
    # Show that the sandbox stops them, not this machine.
    alone = free(around)
    usual = {
        "udp",
        "tcp",
        "datagram",
        "chmod",
        "fchmod",
        "utime",
        "futimes",
        "kill",
        "pidfd",
        "limits",
    }
    assert {name for name, error in alone.items() if not error} >= usual | MAY | FILES
    assert not stopped(alone) & {f"socket {path}" for path in around["sockets"]}


@pytest.mark.usefixtures("_seccomp")
def test_a_sandboxed_program_reads_no_other_files(around):
    if subprocess.run([sys.executable, "-c", SEALS], cwd=BASE, check=False).returncode:
        tools.lacks("Landlock")
    found = confined(around | {"seals": True})
    assert found.keys() - stopped(found) == MAY | {"clone3"}


BASE = Path(__file__).resolve().parents[2]
SEALS = """import sys
from service.media.sandboxed.confinement.landlock import seal
sys.exit(not seal({}))"""


def test_the_owner_is_warned_if_no_sandbox_is_available(tmp_path, monkeypatch, caplog):
    # This machine's kernel may confine children; make them report that it doesn't.
    monkeypatch.setattr(MediaChild, "_read_line", lambda *_: {"is_sealed": False})
    assert not are_sealed(tmp_path)
    assert "run without a sandbox" in caplog.text


@pytest.mark.usefixtures("_seccomp")
def test_a_program_that_gives_up_still_says_how(tmp_path):
    with pytest.raises(Failed) as broken:
        run([sys.executable, "-c", "import os; os.abort()"], limits=LIMITS, cwd=tmp_path)
    assert broken.value.reason == "the program that reads it broke"


@pytest.mark.usefixtures("_seccomp")
def test_all_that_read_media_are_started_so(children, tmp_path):
    """Warm children report it; ffmpeg can't, so check that it works in the sandbox."""
    (tmp_path / "words").write_bytes(b"words")
    with (tmp_path / "words").open("rb") as medium:
        assert children.ask(medium.fileno(), {"do": "probe"}, 20).facts
    # Children report it only once, when they start.
    assert all(child.is_sealed for child in children._idle)  # noqa: SLF001  See above.
    show = [sys.executable, "-c", "print(open('/proc/self/status').read())"]
    assert b"Seccomp:\t2\n" in run(show, limits=LIMITS, cwd=tmp_path)
    film = samples.film("sealed.mp4", seconds=2)
    words = ["-c:v", "libx264", "-f", "mpegts", "pipe:1"]
    argv = [ffmpeg(), "-v", "error", "-i", f"file:{film}", *words]
    assert run(argv, limits=LIMITS, cwd=tmp_path, opens=opens(film))


# What hijacked code answers, and what it requests


ELSEWHERE = ["../../../../etc/passwd", "..", "", "a/b", "A" * 32, "g" * 32, f"{'a' * 31}\n", "\0"]


@each_case("name", ELSEWHERE)
def test_only_hex_becomes_a_path(name, tmp_path):
    store = DiskStore(tmp_path)
    for use in (store.open, store.path, store.delete, store.size):
        with pytest.raises(NotFound):
            use(name)
    with pytest.raises(ValueError, match=r"."):
        Content(name, 1)
    with pytest.raises(ValueError, match=r".*"):
        Rendition(name, RenditionKind.PICTURE, 0, 1.0)


class Hijacked:
    """A child that answers whatever the test wants."""

    def __init__(self, facts) -> None:
        self.facts = facts

    def ask(self, *_question) -> ChildAnswer:
        return ChildAnswer(self.facts, [])


TRACK = {"index": 0, "kind": "audio", "codec": "aac"}


def probed(**track) -> dict:
    tracks = [{**TRACK, **track}]
    medium = {"container": "mov", "duration_seconds": 1.0, "tracks": tracks}
    return {"kind": "audio", "has_picture": False, "duration_ms": 1, "probed": medium}


@pytest.mark.django_db
@each_case(
    "facts",
    [
        {},
        {"kind": "../../x"},
        {"kind": ["audio"]},
        probed(index="../../../x"),
        probed(index=True),
        probed(codec=1),
        probed(kind="x"),
        probed(channels="2"),
        probed(more="x"),
        probed() | {"probed": []},
        probed() | {"probed": [1]},
        probed() | {"width": "1"},
        probed() | {"width": 2**31},
        probed() | {"duration_ms": -1},
        probed() | {"has_picture": "yes"},
    ],
)
def test_the_decoders_claims_about_a_medium_are_checked(facts):
    media = Media(sha1="a" * 40, size_bytes=1)
    with open(os.devnull, "rb") as medium:
        probing.probe(Hijacked(facts), media, medium)
    assert (media.state, media.tries, media.probed) == (Media.State.WANTED, 1, {})


@pytest.mark.django_db
def test_answers_of_our_own_children_are_accepted():
    media = Media(sha1="a" * 40, size_bytes=1)
    with open(os.devnull, "rb") as medium:
        probing.probe(Hijacked(probed()), media, medium)
    assert (media.state, media.kind) == (Media.State.PROBED, "audio")


@pytest.mark.promise("a hijacked decoder learns nothing")
@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_decoder_that_reaches_the_worker_learns_nothing(library_folder, children, settings):
    """If no filter stops it, it can request only what a web process may, by the id of a file."""
    outside = Path(settings.DATA_DIR) / "secret.png"
    outside.write_bytes(samples.picture())
    mine = a_file(an_account(), "film.png", blob=put(library_folder, samples.picture()))
    lie = {"sha1": "b" * 40, "size_bytes": 1, "blob": "../../../secret.png", "size": "t32"}
    with working(Path(settings.DATA_DIR), children):
        for request in (lie, lie | {"file": "../x"}, lie | {"file": True}, lie | {"file": 10**30}):
            for kind in ("picture", "plan", "init", "segment", "film"):
                with pytest.raises(NotFound):
                    media_requests.ask(kind, 60, **request)
        assert media_requests.ask("picture", 60, **lie | {"file": mine.pk}) == {}
    assert Content(mine.sha1, mine.size_bytes).picture("t32").exists()
    assert not Content("b" * 40, 1).folder.exists()
