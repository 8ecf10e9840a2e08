"""The image, built and started as root, with only what a careful host would let it do."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import tools
from tests.running import (
    BASE,
    FINDINGS,
    START_SECONDS,
    STOP_SECONDS,
    Output,
    free_port,
    launch,
)
from tests.service.working import until

pytestmark = pytest.mark.container

# Debian's own packages in place of the base that only a registry has.
BASE_IMAGE = "localhost/ferry-tests-base"
PACKAGES = "ca-certificates,python3,python3-venv"
IMAGE = "localhost/ferry-tests"
CERTIFICATES = "/etc/ssl/certs"
USER = 1000
ENTER = """
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" &&
mount --bind "$data" "$root/data" && mount -t tmpfs tmpfs "$root/tmp" &&
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
exec chroot "$root" setpriv --reuid={user} --regid={user} --clear-groups --bounding-set=-all \\
    --inh-caps=-all --no-new-privs env --ignore-environment "$@"
""".replace("{user}", str(USER))


def buildah(*arguments: str | Path) -> str:
    command = [tools.program("buildah"), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> str:
    if os.geteuid():
        tools.lacks("the rights of root")
    folder = tmp_path_factory.mktemp("image")
    if BASE_IMAGE not in buildah("images", "--format", "{{.Name}}").splitlines():
        make_base(folder / "root")
    certificate = os.environ.get("PIP_CERT")
    (folder / "pip.conf").write_text(f"[global]\ncert = {certificate}\n" if certificate else "")
    mounts = [f"{CERTIFICATES}:{CERTIFICATES}:ro", f"{folder / 'pip.conf'}:/etc/pip.conf:ro"]
    volumes = [f"--volume={each}" for each in mounts]
    options = ["--isolation=chroot", "--format=docker", f"--build-arg=BASE={BASE_IMAGE}"]
    buildah("build", *options, *volumes, f"--tag={IMAGE}", BASE)
    return IMAGE


def make_base(root: Path) -> None:
    debootstrap = tools.program("debootstrap")
    command = [debootstrap, "--variant=minbase", f"--include={PACKAGES}", "bookworm", root]
    subprocess.run(command, check=True, capture_output=True)
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, root, "/")
    buildah("commit", "--quiet", "--rm", container, BASE_IMAGE)
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def config(image) -> dict:
    return json.loads(buildah("inspect", "--type=image", image))["Docker"]["config"]


@pytest.fixture(scope="module")
def root(image) -> Iterator[Path]:
    container = buildah("from", image)
    yield Path(buildah("mount", container))
    buildah("rm", container)


def inside(root: Path, data: Path, *command: str, **settings: str) -> list[str]:
    """Return a command that runs another in the container's root, read-only and without rights."""
    enter = f"root={root}; data={data}; {ENTER}"
    environment = [f"{name}={value}" for name, value in settings.items()]
    return ["unshare", "--mount", "sh", "-c", enter, "enter", *environment, *command]


@contextmanager
def started(root: Path, data: Path, config: dict, port: int) -> Iterator[Output]:
    own = dict(each.split("=", 1) for each in config["Env"])
    options = {"PORT": str(port), "TORRENT_NETWORK": "loopback", "TORRENT_PORT": "0"}
    command = [*config["Entrypoint"], *config["Cmd"]]
    program = launch(inside(root, data, *command, **own, **options))
    output = Output(program)
    try:
        assert output.saw("Ferry answers on port", START_SECONDS), output.text
        yield output
        assert program.poll() is None
    finally:
        program.terminate()
        program.wait(STOP_SECONDS)
        output.close()


def test_the_image_starts_read_only_without_rights_and_reports_its_health(root, config, tmp_path):
    assert config["User"] == f"{USER}:{USER}"
    assert config["StopSignal"] == "SIGTERM"
    kind, check = config["Healthcheck"]["Test"]
    assert kind == "CMD-SHELL"
    os.chown(tmp_path, USER, USER)
    for folder in [tmp_path, *tmp_path.parents[:2]]:
        folder.chmod(0o755)
    port = free_port()
    with started(root, tmp_path, config, port) as output:
        page = httpx.get(f"http://localhost:{port}/signin/", timeout=60, trust_env=False)
        assert page.status_code == 200
        own = dict(each.split("=", 1) for each in config["Env"])
        shell = ["shell", "--no-imports", "-c", FINDINGS]
        shell = inside(root, tmp_path, *config["Entrypoint"], *shell, **own)
        found = until(lambda: (found := findings(shell))["worker"] is None and found)
        assert set(found.values()) == {None}
        command = inside(root, tmp_path, "sh", "-c", check, PORT=str(port), **own)
        subprocess.run(command, check=True)
    assert "Traceback" not in output.text
    assert subprocess.run(command, check=False, capture_output=True).returncode
    assert (tmp_path / "ferry.sqlite3").stat().st_uid == USER


def findings(shell: list[str]) -> dict[str, str | None]:
    return json.loads(subprocess.run(shell, check=True, capture_output=True).stdout)
