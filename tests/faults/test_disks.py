"""The whole program on a disk that is full to the last byte, or that became read-only.

Tested elsewhere: a disk that fills up while a torrent is fetched
(tests/service/worker/test_work.py, tests/service/torrents/test_full_disk.py), while content is
stored (tests/service/store/test_disk_store.py), or while a film is converted
(tests/service/media/hls/test_converter_runs.py); and a data folder that Ferry can't write to when
it starts (tests/config/test_environment.py).
"""

import os
import re
import signal
import subprocess
from base64 import b64encode
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from bs4 import BeautifulSoup

from tests.faults.tally import Reckoning
from tests.host.test_run import children
from tests.powercuts.apart import apart
from tests.running import PASSWORD, Ferry, running
from tests.service.working import until
from tests.tools import needs, program

pytestmark = pytest.mark.slow

EMAIL = "alice@example.org"
CONTENTS = {name: os.urandom(300_000) for name in ("a.txt", "b.txt", "c.txt")}
MAKE_ACCOUNT = f"""
from django.utils import timezone
from service.accounts import accounts
accounts.add({EMAIL!r}, {PASSWORD!r}, timezone.now(), space_max_bytes=10**10)
"""
MOST_LINES = 4
PAGES = ["/", "/transfers/", "/account/", "/account/server/", "/account/health/"]


class Alice:
    """Alice, who uses the site and v1."""

    def __init__(self, ferry: Ferry) -> None:
        self.ferry = ferry
        self._cookies = httpx.Cookies()
        self.open()
        self._sign_in()
        for name, content in CONTENTS.items():
            assert self.put(name, content).status_code == 200
        self.ids = {row["name"]: row["id"] for row in self.rows()}
        self._begin_upload()

    def open(self) -> None:
        options = {"base_url": self.ferry.url, "timeout": 60, "trust_env": False}
        self.api = httpx.Client(auth=(EMAIL, PASSWORD), **options)
        self.site = httpx.Client(cookies=self._cookies, **options)

    def close(self) -> None:
        self._cookies = self.site.cookies
        self.api.close()
        self.site.close()

    def reopen(self) -> None:
        """Open new connections, since the kept ones may lead to a process that has ended."""
        self.close()
        self.open()

    def _sign_in(self) -> None:
        form = self.site.get("/signin/").text
        fields = {"username": "alice", "password": PASSWORD}
        fields["csrfmiddlewaretoken"] = re.findall(r'csrfmiddlewaretoken" value="([^"]+)', form)[0]
        assert self.site.post("/signin/", data=fields).status_code == 302

    def _begin_upload(self) -> None:
        """Send the first bytes of a file; the pages then offer to continue."""
        headers = self.headers() | {"Tus-Resumable": "1.0.0", "Upload-Length": "100"}
        headers["Upload-Metadata"] = f"filename {b64encode(b'begun.txt').decode()}"
        begun = self.site.post("/files/0/uploads/", headers=headers)
        headers |= {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        sent = self.site.patch(begun.headers["Location"], headers=headers, content=bytes(10))
        assert sent.headers["Upload-Offset"] == "10"

    def headers(self) -> dict[str, str]:
        token = re.findall(r'"X-CSRFToken": "([^"]+)"', self.site.get("/account/").text)[0]
        return {"X-CSRFToken": token, "Referer": self.ferry.url}

    def put(self, name: str, content: bytes) -> httpx.Response:
        return self.api.post("/rest/transfer/file", files={"file": (name, content)})

    def rows(self) -> list[dict[str, object]]:
        return self.api.get("/rest/folder").raise_for_status().json()["files"]

    def content(self, file_id: object) -> bytes:
        return self.api.get(f"/rest/file/{file_id}", follow_redirects=True).content

    def acts(self) -> dict[str, httpx.Response]:
        """Try everything that needs the disk, and return the answers."""
        first, second = self.ids["a.txt"], self.ids["b.txt"]
        ours = self.headers()
        magnet = {"magnet": f"magnet:?xt=urn:btih:{'a' * 40}&dn=film"}
        packed = {"archive_arr": [{"type": "file", "id": second}]}
        return {
            "upload": self.put("new.txt", os.urandom(200_000)),
            "rename": self.api.post(f"/rest/file/{first}/rename", data={"rename_to": "d.txt"}),
            "delete": self.api.delete(f"/rest/file/{first}"),
            "folder": self.api.post("/rest/folder", data={"path": "Films"}),
            "add": self.api.post("/rest/transfer/magnet", data=magnet),
            "pack": self.api.post("/rest/zip", json=packed),
            "new folder": self.site.post("/files/0/new/", data={"name": "New"}, headers=ours),
            "sign out": self.site.post("/signout/", headers=ours),
        }


@pytest.fixture
def alice(tmp_path):
    """Alice at the whole program, on a separate disk that no other program sees."""
    script = f'{program("mount")} -t tmpfs -o size=150m ferry "$0" && exec "$@"'
    prefix = (program("unshare"), "--mount", "sh", "-c", script, str(tmp_path))
    needs([*prefix, "true"], "the right to mount a disk")
    with running(tmp_path, prefix=prefix, TORRENT_PORT="0") as ferry:
        ferry.manage("shell", "--verbosity=0", "-c", MAKE_ACCOUNT)
        ferry.make_owner()
        with closing(Alice(ferry)) as alice:
            yield alice
        assert "broken reference" not in ferry.log


@contextmanager
def full(ferry: Ferry):
    filler = Path(f"/proc/{ferry.process.pid}/root{ferry.data_dir}/filler")
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    yield
    filler.unlink()


@contextmanager
def read_only(ferry: Ferry):
    """Make the disk read-only, and restart the web processes, which could still write to open
    files."""
    place = str(ferry.data_dir)
    run = [program("nsenter"), "--mount", f"--target={ferry.process.pid}", program("mount")]
    subprocess.run([*run, "--bind", place, place], check=True)
    subprocess.run([*run, "-o", "remount,ro,bind", place], check=True)
    restart_web(ferry)
    yield
    subprocess.run([*run, "-o", "remount,rw,bind", place], check=True)
    restart_web(ferry)


@contextmanager
def without_library(ferry: Ferry):
    """Cover the library with an empty disk: the mount point of a disk that isn't mounted."""
    library = str(ferry.data_dir / "library")
    run = [program("nsenter"), "--mount", f"--target={ferry.process.pid}"]
    mount = [program("mount"), "-t", "tmpfs", "-o", "size=50m", "empty", library]
    subprocess.run([*run, *mount], check=True)
    restart_web(ferry)
    yield
    subprocess.run([*run, program("umount"), library], check=True)
    restart_web(ferry)


def restart_web(ferry: Ferry) -> None:
    web = children(ferry)["web"]
    listed = Path(f"/proc/{web}/task/{web}/children")
    before = set(listed.read_text().split())
    for pid in before:
        os.kill(int(pid), signal.SIGKILL)
    until(lambda: len(set(listed.read_text().split()) - before) == len(before))


@pytest.mark.promise("a full disk loses nothing", cases=["full"])
@pytest.mark.parametrize(
    ("trouble", "refusals", "words"),
    [
        (full, {413, 422, 503}, "The disk is full."),
        (read_only, {503}, "The disk can't be written to."),
    ],
    ids=["full", "read-only"],
)
def test_on_a_full_disk_reads_work_and_writes_change_nothing(
    trouble, refusals, words, alice, tally
):
    with trouble(alice.ferry):
        before = len(alice.ferry.log)
        alice.reopen()
        for path in PAGES:
            assert alice.site.get(path, follow_redirects=True).status_code == 200, path
        ready = alice.site.get("/readyz")
        assert (ready.status_code, ready.json()["parts"]["disk"]) == (503, words)
        assert {row["name"] for row in alice.rows()} == set(CONTENTS)
        assert alice.content(alice.ids["b.txt"]) == CONTENTS["b.txt"]
        for name, answer in alice.acts().items():
            assert answer.status_code in refusals, (name, answer.text)
            if "html" in answer.headers["content-type"]:
                assert BeautifulSoup(answer.text, "html.parser").h1
        # Lines of all processes, in the first minutes.
        lines = alice.ferry.log[before:]
        assert "Traceback" not in lines
        assert lines.count("The disk ") <= MOST_LINES, lines
    alice.reopen()
    lost = [name for name in CONTENTS if alice.content(alice.ids[name]) != CONTENTS[name]]
    more = [str(row["name"]) for row in alice.rows() if row["name"] not in CONTENTS]
    found = Reckoning(len(CONTENTS), lost=lost, half=more)
    tally.faults[f"disk {trouble.__name__}"] += 1
    tally.add(found)
    assert found.is_even, found
    for name, answer in alice.acts().items():
        assert answer.status_code in (200, 302), (name, answer.text)


@pytest.mark.promise("an unmounted library is not filled anew")
def test_without_its_library_ferry_stores_nothing_and_says_so(alice):
    """The first upload used to fill the empty mount point, and then vanished below the disk."""
    with without_library(alice.ferry):
        alice.reopen()
        ready = alice.site.get("/readyz")
        assert (ready.status_code, ready.json()["parts"]["library"]) == (
            503,
            "The library is missing.",
        )
        assert alice.put("new.txt", os.urandom(200_000)).status_code == 503
        path = f"/rest/file/{alice.ids['a.txt']}"
        assert alice.api.get(path, follow_redirects=True).status_code == 503
        magnet = {"magnet": f"magnet:?xt=urn:btih:{'b' * 40}&dn=film"}
        added = alice.api.post("/rest/transfer/magnet", data=magnet).raise_for_status().json()
        library = Path(f"/proc/{alice.ferry.process.pid}/root{alice.ferry.data_dir}/library")
        assert not [path for path in library.rglob("*") if path.is_file() and path.stat().st_size]
        assert alice.site.get("/readyz").status_code == 503
    alice.reopen()
    assert alice.site.get("/readyz").status_code == 200
    assert {name: alice.content(alice.ids[name]) for name in CONTENTS} == CONTENTS
    assert alice.put("new.txt", b"new").status_code == 200
    taken = f"/rest/transfer/{added['id']}"
    until(lambda: alice.api.get(taken).json()["state"] != "queued")


def test_a_disk_with_an_error_is_named_within_a_minute(tmp_path):
    """Linux refuses to write to it, but reports it as writable."""
    place = tmp_path / "data"
    with (
        apart() as there,
        there.disk(place, tmp_path / "disk", "errors=remount-ro") as device,
        running(place, prefix=there.prefix, TORRENT_PORT="0") as ferry,
    ):
        ferry.manage("shell", "--verbosity=0", "-c", MAKE_ACCOUNT)
        ferry.make_owner()
        with closing(Alice(ferry)) as alice:
            check_failing(alice, Path("/sys/fs/ext4", Path(device).name))


def check_failing(alice: Alice, facts: Path) -> None:
    assert alice.site.get("/readyz").status_code == 200
    (facts / "trigger_fs_error").write_text("1")
    words = "The disk can't be written to."
    until(lambda: alice.site.get("/readyz").json()["parts"]["disk"] == words, seconds=60)
    for name, answer in alice.acts().items():
        assert answer.status_code == 503, name
        assert "Something went wrong" not in answer.text
    assert alice.content(alice.ids["b.txt"]) == CONTENTS["b.txt"]
