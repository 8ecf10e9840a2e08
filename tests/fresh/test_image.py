"""The image, loaded and started as root, with only what a careful host would let it do."""

import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from release import __main__ as release
from release import bill, image
from tests import tools
from tests.running import BASE, FINDINGS, START_SECONDS, STOP_SECONDS, Output, free_port, launch
from tests.service.working import until

pytestmark = pytest.mark.container

NAME = f"localhost/ferry:{release.VERSION}"
# What no package brings: bytecode, and what Debian's and pip's installers write.
MADE = re.compile(
    r"etc/(alternatives|dpkg|pam\.d|ssl/certs|systemd)/|var/(cache|lib|log)/|usr/lib/udev/|"
    r"etc/(apt/sources\.list|ca-certificates\.conf|environment|fstab|group|hosts|inputrc|"
    r"ld\.so\.cache|motd|networks|nsswitch\.conf|passwd|profile|python3/debian_config|"
    r"security/opasswd|shells|g?shadow|sub[gu]id)-?$|"
    r"usr/share/(info|ca-certificates)/|.*/__pycache__/|"
    r"opt/ferry/(bin/|pyvenv\.cfg|\.gitignore)|root/\."
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    if os.geteuid():
        tools.lacks("the rights of root")
    for program in ("buildah", "mmdebstrap", "podman"):
        tools.program(program)
    folder = Path(os.environ.get("RELEASE", tmp_path_factory.mktemp("dist")))
    if not any(folder.glob("ferry-*.tar")):
        release.build_image(folder)
    return next(folder.glob("ferry-*.tar"))


@pytest.fixture(scope="module")
def podman(archive) -> Iterator[list[str]]:
    """Yield the command of a Podman with a store of its own, which has loaded the image."""
    # Pytest couldn't delete the mounts that Podman leaves.
    folder = Path(tempfile.mkdtemp(prefix="ferry-podman-", dir="/var/tmp"))
    configuration = folder / "containers.conf"
    # Podman's own limits are higher than those of a container in which tests may run.
    limits = '["nofile=4096:4096", "nproc=4096:4096"]'
    configuration.write_text(f"[containers]\ndefault_ulimits = {limits}\n")
    # crun refuses machines with both kinds of control groups.
    runtime = ["--runtime=runc"] if shutil.which("runc") else []
    places = [f"--root={folder}/images", f"--runroot={folder}/run"]
    env = ["env", f"CONTAINERS_CONF={configuration}"]
    command = [*env, tools.program("podman"), *places, *runtime]
    try:
        subprocess.run([*command, "load", "--quiet", "--input", archive], check=True)
        yield command
    finally:
        subprocess.run([*command, "rm", "--all", "--force", "--volumes"], check=False)
        subprocess.run(["umount", "--lazy", folder / "images" / "overlay"], check=False)
        shutil.rmtree(folder)


# What Podman needs for more than the host's network.
NETWORKS = (Path("/usr/lib/cni/bridge"), Path("/usr/lib/podman/netavark"))
USERS = {
    "as user 99": ["--user=99:100"],
    "as user 1026": ["--user=1026:100"],
    "as root with PUID": [
        "--user=0", "--env=PUID=99", "--env=PGID=100",
        "--cap-add=CHOWN", "--cap-add=SETUID", "--cap-add=SETGID",
    ],
}  # fmt: skip
CAREFUL = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]


@contextmanager
def started(podman: list[str], *options: str) -> Iterator[tuple[Output, int, list[str]]]:
    port = free_port()
    name = f"ferry-{port}"
    settings = {
        "TORRENT_NETWORK": "loopback",
        "TORRENT_PORT": 0,
        "HTTPS_PORT": 0,
        "LOCAL_NAME": "off",
    }
    own = [f"--env={key}={value}" for key, value in {**settings, "PORT": port}.items()]
    usual = ["--rm", f"--name={name}", "--network=host", *CAREFUL, *own]
    program = launch([*podman, "run", *usual, *options, NAME])
    output = Output(program)
    try:
        yield output, port, [*podman, "exec", name, "ferry"]
    finally:
        subprocess.run([*podman, "stop", "--ignore", name], check=False, capture_output=True)
        program.wait(STOP_SECONDS)
        output.close()


@pytest.mark.parametrize("user", USERS)
def test_the_image_starts_read_only_as_any_user_and_reports_its_health(podman, tmp_path, user):
    data = tmp_path / "data"
    data.mkdir()
    uid = 1026 if "1026" in user else 99
    if "root" not in user:
        os.chown(data, uid, 100)
    bind = f"--volume={data}:/data"
    # Not the usual address: `ferry healthcheck` has to ask there.
    with started(podman, bind, *USERS[user], "--env=HOST=::1") as (output, port, ferry):
        assert output.saw("Ferry answers on port", START_SECONDS), output.text
        page = httpx.get(f"http://[::1]:{port}/signin/", timeout=60, trust_env=False)
        assert page.status_code == 200
        shell = [*ferry, "shell", "--no-imports", "-c", FINDINGS]
        found = until(lambda: (found := findings(shell))["worker"] is None and found)
        assert set(found.values()) == {None}
        subprocess.run([*ferry, "healthcheck"], check=True)
        versions = subprocess.run([*ferry, "version"], check=True, capture_output=True, text=True)
        assert f"Ferry {release.VERSION}, released on {release.DATE}\n" in versions.stdout
        assert "\nPython 3.13." in versions.stdout
    assert "Traceback" not in output.text, output.text
    database = (data / "ferry.sqlite3").stat()
    assert (database.st_uid, database.st_gid) == (uid, 100)


def findings(shell: list[str]) -> dict[str, str | None]:
    return json.loads(subprocess.run(shell, check=True, capture_output=True).stdout)


def test_a_folder_that_the_user_may_not_write_to_is_named(podman, tmp_path):
    (tmp_path / "data").mkdir()
    with started(podman, f"--volume={tmp_path}/data:/data", "--user=99:100") as (output, *_rest):
        assert output.ends(START_SECONDS)
    assert output.text == (
        "DATA_DIR: Ferry runs as user 99 and group 100, who may not write to /data. "
        "Make them its owner (chown 99:100), or start Ferry as the user who owns it.\n"
    )


def test_a_new_volume_belongs_to_any_user(podman):
    with started(podman, "--volume=/data", "--user=1026:100") as (output, *_rest):
        assert output.saw("Ferry answers on port", START_SECONDS), output.text


@pytest.mark.parametrize("file", ["", "compose.bridge.yaml"])
def test_the_commands_of_readme_start_a_container(archive, podman, tmp_path, file):
    """Compose is the oldest that must work, with Podman in place of Docker's daemon."""
    if file and not any(map(Path.exists, NETWORKS)):
        tools.lacks("networks for containers")
    for name, text in release.texts():
        (tmp_path / name).write_text(text)
    (tmp_path / archive.name).symlink_to(archive)
    port = free_port()
    settings = {"PORT": port, "TORRENT_NETWORK": "loopback", "TORRENT_PORT": free_port()}
    settings |= {"ALLOWED_HOSTS": "nas.local", "COMPOSE_FILE": file} if file else {}
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (tmp_path / ".env").write_text("".join(lines))
    with dockerlike(podman, tmp_path) as run:
        for command in commands_of_readme("In a container"):
            run(command)
        until(lambda: answers(f"http://localhost:{port}/signin/"))
        run("docker compose exec -T ferry ferry healthcheck")
        run("docker compose down --volumes")


@contextmanager
def dockerlike(podman: list[str], folder: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that runs a command with a `docker` that is Podman and Compose."""
    compose = tools.program("docker-compose")
    docker = folder / "bin" / "docker"
    docker.parent.mkdir()
    rest = f'exec {" ".join(podman)} "$@"'
    docker.write_text(
        f'#!/bin/sh\n[ "$1" != compose ] || {{ shift; exec {compose} "$@"; }}\n{rest}\n'
    )
    docker.chmod(0o755)
    socket = folder / "socket"
    daemon = subprocess.Popen([*podman, "system", "service", "--time=0", f"unix://{socket}"])
    # Compose passes on what is set here, so none of the tests' own settings.
    environment = {"DOCKER_HOST": f"unix://{socket}", "HOME": str(folder)}
    environment |= {"PATH": f"{docker.parent}:{os.environ['PATH']}"}

    def run(command: str) -> None:
        subprocess.run(["sh", "-c", command], cwd=folder, env=environment, check=True)

    try:
        until(socket.exists)
        yield run
    finally:
        daemon.terminate()
        daemon.wait()


def answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(url, timeout=60, trust_env=False).is_success
    return False


def commands_of_readme(way: str) -> list[str]:
    section = (BASE / "README.md").read_text().split(f"**{way}")[1]
    lines = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1].splitlines()
    assert len(lines) == 2
    return lines


def test_the_bill_of_materials_lists_every_file_of_a_package(archive):
    read = bill.read_image(archive)
    written = bill.write_bill(read, release.VERSION, release.DATE)
    packages = written["components"]
    names = {package["purl"].partition("@")[0] for package in packages}
    assert {"pkg:deb/debian/python3.13", "pkg:pypi/av", "pkg:pypi/ferry-server"} <= names
    listed = {file["name"].lstrip("/") for package in packages for file in package["components"]}
    unnamed = {package["name"] for package in packages if not package["licenses"]}
    python = {"libpython3-stdlib", "python3", "python3-minimal", "python3-venv"}
    assert unnamed <= {"libcrypt1", *python}
    assert {path for path in read.hashes.keys() - listed if not MADE.match(path)} == set()
    lock = re.findall(r"^([\w-]+)==", (BASE / "requirements.lock").read_text(), re.MULTILINE)
    missing = {f"pkg:pypi/{name}" for name in lock} - names
    assert missing <= {"pkg:pypi/colorama", "pkg:pypi/tzdata"}


# A Python of the image prints the names and versions of packages, and each file that they have.
RECORDS = """
import json, os, subprocess
from importlib.metadata import distributions

def dpkg(*options):
    return subprocess.check_output(["dpkg-query", *options], text=True).splitlines()

debian = dict(line.split() for line in dpkg("--show", "--showformat=${Package} ${Version}\\n"))
python = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
of_python = [file.locate() for each in distributions() for file in each.files]
named = filter(os.path.isfile, [*dpkg("--listfiles", *debian), *of_python])
files = {os.path.realpath(path) for path in named if not os.path.islink(path)}
print(json.dumps([sorted([*debian.items(), *python.items()]), sorted(files)]))
"""


def test_the_bill_of_materials_lists_what_the_programs_of_the_image_list(archive, podman):
    command = [*podman, "run", "--rm", "--network=none", "--entrypoint=python", NAME, "-c", RECORDS]
    packages, files = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    written = bill.write_bill(bill.read_image(archive), release.VERSION, release.DATE)
    components = written["components"]
    assert packages == sorted([each["name"], each["version"]] for each in components)
    listed = {file["name"] for each in components for file in each["components"]}
    assert listed == set(files)


def test_two_builds_of_the_image_are_equal(archive, tmp_path):
    image.build(tmp_path / "again.tar", NAME, release.EPOCH, "--no-cache")
    assert release.sum_of(tmp_path / "again.tar") == release.sum_of(archive)


def test_the_archive_is_one_of_oci_and_of_docker(archive):
    with tarfile.open(archive) as files:
        names = files.getnames()
        (docker,) = json.load(bill.member(files, "manifest.json"))
        (oci,) = json.load(bill.member(files, "index.json"))["manifests"]
        config = json.load(bill.member(files, docker["Config"]))["config"]
    assert names[:2] == ["oci-layout", "index.json"]
    assert {docker["Config"], *docker["Layers"]} < set(names)
    # Docker's older stores read one of the names, and its newest the other.
    assert docker["RepoTags"] == [oci["annotations"]["org.opencontainers.image.ref.name"]] == [NAME]
    assert config["User"] == "1000:1000"
    assert config["StopSignal"] == "SIGTERM"
    assert (config["Entrypoint"], config["Cmd"]) == (["ferry"], ["run"])


def test_every_package_of_the_lock_has_a_wheel_for_arm64():
    """Packages are the only part of the image that isn't Debian's, which has that architecture."""
    uv = tools.program("uv")
    target = ["--target=/nowhere", "--python-version=3.13", "--only-binary=:all:"]
    options = ["--dry-run", "--python-platform=aarch64-manylinux_2_28", "--require-hashes"]
    lock = ["--requirements", BASE / "requirements.lock"]
    subprocess.run([uv, "pip", "install", *options, *target, *lock], check=True)
