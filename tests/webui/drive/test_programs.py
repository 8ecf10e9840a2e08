"""Real programs open the drive of a running Ferry."""

import hashlib
import os
import random
import re
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import httpx
import pytest

from host.web.answers import ASK_SECONDS
from tests.object_stores import script
from tests.running import Ferry
from tests.service.working import until
from tests.tools import lacks, program

SUITES = ("basic", "copymove", "props", "locks", "http")


@pytest.fixture(scope="module")
def token(ferry: Ferry) -> str:
    return ferry.manage("token", "add", "alice", "--for", "drive").strip()


@pytest.fixture
def shelf(ferry: Ferry, token: str):
    """Return the URL of an empty folder, which is deleted afterward."""
    url = f"{ferry.url}/dav/Shelf%20of%20programs"
    with httpx.Client(auth=("any", token), base_url=url) as client:
        assert client.request("MKCOL", url).status_code == 201
        yield url
        client.delete(url)


def run(*command: str | Path, **options) -> str:
    """Return what a program says, which must succeed."""
    options |= {"capture_output": True, "text": True, "timeout": 300}
    result = subprocess.run(command, check=False, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def rclone(url: str, token: str, *command: str | Path, vendor: str = "other") -> str:
    tool = script("rclone")
    options = ["--config=/dev/null", f"--webdav-url={url}", "--webdav-user=any"]
    secret = run(tool, "obscure", token).strip()
    return run(tool, *options, f"--webdav-pass={secret}", f"--webdav-vendor={vendor}", *command)


def clean_tree(folder: Path) -> Path:
    """Return a tree of files with names that need escaping."""
    (folder / "in & out" / "ü+#").mkdir(parents=True)
    (folder / "film.mkv").write_bytes(random.Random(1).randbytes(3_000_000))
    (folder / "in & out" / "50%.txt").write_text("half")
    (folder / "in & out" / "ü+#" / "empty").touch()
    return folder


@pytest.mark.promise("litmus finds no fault with the drive")
def test_litmus_finds_no_fault(shelf, token, tmp_path):
    tool = program("litmus")
    suites = os.environ | {"TESTS": " ".join(SUITES)}
    said = run(tool, f"{shelf}/", "any", token, cwd=tmp_path, env=suites)
    results = re.findall(r"summary for `(\w+)': .*?(\d+) failed\. ([\d.]+)%", said)
    assert results == [(suite, "0", "100.0") for suite in SUITES], said
    assert "WARNING" not in said


@pytest.mark.promise("rclone copies to the drive and back", cases=["100"])
@pytest.mark.slow
@pytest.mark.parametrize("ranges", [100, 2_000])
def test_rclone_copies_checks_and_reads_ranges(shelf, token, tmp_path, ranges):
    source = clean_tree(tmp_path / "source")
    rclone(shelf, token, "copy", source, ":webdav:")
    rclone(shelf, token, "check", "--download", source, ":webdav:")
    rclone(shelf, token, "copy", ":webdav:", tmp_path / "back")
    run("diff", "-r", source, tmp_path / "back")
    content = (source / "film.mkv").read_bytes()
    sums = rclone(shelf, token, "sha1sum", ":webdav:", vendor="owncloud")
    assert f"{hashlib.sha1(content).hexdigest()}  film.mkv" in sums
    chance = random.Random(2)
    with httpx.Client(auth=("any", token)) as client:
        for _range in range(ranges):
            start = chance.randrange(len(content))
            stop = min(start + chance.randrange(1, 2**18), len(content))
            headers = {"Range": f"bytes={start}-{stop - 1}"}
            part = client.get(f"{shelf}/film.mkv", headers=headers)
            assert (part.status_code, part.content) == (206, content[start:stop])
    rclone(shelf, token, "moveto", ":webdav:film.mkv", ":webdav:in & out/best.mkv")
    rclone(shelf, token, "purge", ":webdav:in & out")
    assert rclone(shelf, token, "lsf", ":webdav:") == ""


def test_cadaver_and_curl(shelf, token, tmp_path):
    tool = program("cadaver")
    (tmp_path / ".netrc").write_text(f"machine localhost login any password {token}\n")
    (tmp_path / ".netrc").chmod(0o600)
    (tmp_path / "here.txt").write_text("hello")
    acts = ["put here.txt", "lock here.txt", "move here.txt there.txt", "copy there.txt also.txt"]
    words, home = "\n".join([*acts, "ls", "quit", ""]), os.environ | {"HOME": str(tmp_path)}
    said = run(tool, f"{shelf}/", input=words, cwd=tmp_path, env=home)
    assert "failed" not in said
    assert re.search(r"also\.txt +5 ", said)
    command = [program("curl"), "--silent", "--fail", "--netrc-file", tmp_path / ".netrc"]
    assert run(*command, f"{shelf}/there.txt") == "hello"


@contextmanager
def mounted(url: str, token: str) -> Iterator[Path]:
    """Mount the drive with davfs2, which needs root and FUSE, and escapes the URL itself."""
    tool, url = program("mount.davfs"), unquote(url)
    if os.geteuid() or not Path("/dev/fuse").exists():
        lacks("root or FUSE")
    with TemporaryDirectory() as name:
        folder = Path(name)
        for place, mode in (("drive", 0o755), ("cache", 0o777)):
            (folder / place).mkdir()
            (folder / place).chmod(mode)
        folder.chmod(0o755)  # It gives up root's rights.
        (folder / "secrets").touch(mode=0o600)
        (folder / "secrets").write_text(f'"{url}" any {token}\n')
        lines = [f"secrets {folder}/secrets", f"cache_dir {folder}/cache", "delay_upload 0"]
        (folder / "davfs2.conf").write_text("\n".join([*lines, "ask_auth 0", ""]))
        run(tool, url, folder / "drive", "-o", f"conf={folder}/davfs2.conf")
        try:
            yield folder / "drive"
        finally:
            run("umount", folder / "drive")


def test_davfs2_mounts_the_drive(shelf, token, tmp_path):
    source = clean_tree(tmp_path / "source")
    with mounted(shelf, token) as place:
        for path in sorted(source.rglob("*")):
            target = place / path.relative_to(source)
            target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
        (place / "film.mkv").rename(place / "in & out" / "best.mkv")
        (place / "in & out" / "50%.txt").unlink()
    with mounted(shelf, token) as place:
        film = (source / "film.mkv").read_bytes()
        assert (place / "in & out" / "best.mkv").read_bytes() == film
        assert not (place / "film.mkv").exists()
        assert (place / "in & out" / "ü+#" / "empty").stat().st_size == 0
    paths = rclone(shelf, token, "lsf", "--recursive", "--files-only", ":webdav:").splitlines()
    assert sorted(paths) == ["in & out/best.mkv", "in & out/ü+#/empty"]


@pytest.mark.promise("what a token opened ends with it")
def test_a_download_ends_soon_after_its_token_is_revoked(ferry, shelf, token):
    reading = ferry.manage("token", "add", "alice", "--for", "drive", "--name", "reads").strip()
    size_bytes = 64 * 2**20
    with httpx.Client(auth=("any", token)) as client:
        client.put(f"{shelf}/film.mkv", content=bytes(size_bytes))
    with (
        httpx.Client(auth=("any", reading)) as client,
        client.stream("GET", f"{shelf}/film.mkv") as answer,
    ):
        pieces, began = answer.iter_raw(2**16), time.monotonic()
        next(pieces)
        revoke = "from webui.models import Token; Token.objects.get(name='reads').delete()"
        ferry.manage("shell", "-c", revoke)
        # In less time, a fast client has the whole file.
        until(lambda: time.monotonic() > began + ASK_SECONDS)
        # What is in the buffers of the machine still arrives.
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            deque(pieces, maxlen=0)
        assert answer.num_bytes_downloaded < size_bytes


def test_a_file_that_comes_in_chunks_is_saved(shelf, token):
    """As Finder sends it."""
    pieces = [b"one", b"two" * 100_000]
    with httpx.Client(auth=("any", token)) as client:
        sent = client.put(f"{shelf}/a.bin", content=iter(pieces))
        assert "content-length" not in sent.request.headers
        assert sent.status_code == 201
        assert client.get(f"{shelf}/a.bin").content == b"".join(pieces)
