"""The files that people install, and the commands of README on a Debian that has nothing else."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from release import __main__ as release
from release import image
from tests import tools
from tests.fresh.test_image import commands_of_readme
from tests.running import BASE, Output, free_port, launch

# Debian's packages and Python's come from afar.
PATIENCE_SECONDS = 1_800
ENTER = """
mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" &&
cp /etc/resolv.conf "$1/etc/resolv.conf" && root=$1 && shift && exec chroot "$root" "$@"
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    release.write_all(folder, has_image=False)
    return folder


@pytest.mark.slow
def test_two_builds_are_equal_and_have_their_sums(files, tmp_path):
    release.write_all(tmp_path, has_image=False)
    assert (tmp_path / "SHA256SUMS").read_text() == (files / "SHA256SUMS").read_text()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=files, check=True)
    summed = set(re.findall(r"^\w{64}  (.+)$", (files / "SHA256SUMS").read_text(), re.MULTILINE))
    written = {str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()}
    assert summed == written - {"SHA256SUMS"}
    wheel = f"ferry_server-{release.VERSION}-py3-none-any.whl"
    assert {wheel, "requirements.lock", "compose.yaml", "install.sh", "site/index.html"} < summed


def test_a_release_replaces_nothing_of_yours(tmp_path):
    (tmp_path / "mine").touch()
    with pytest.raises(SystemExit, match="isn't empty"):
        release.write_all(tmp_path, has_image=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_release_is_made_of_a_commit(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "changed.py").touch()
    # This checkout may have changes, or none.
    monkeypatch.setattr(release, "BASE", tmp_path)
    # Pytest's own arguments would be read.
    monkeypatch.setattr("sys.argv", ["release", f"--folder={tmp_path}/dist", "--without-image"])
    with pytest.raises(SystemExit, match=r"changed\.py"):
        release.main()
    assert not (tmp_path / "dist").exists()


def test_the_notes_are_what_the_changes_say_about_this_version():
    heads = f"## {release.VERSION}, {release.DATE}", "## 0.0.1, 2026-01-01"
    changes = f"# Changes\n\n{heads[0]}\n\n- New.\n\n{heads[1]}\n\n- Old.\n"
    assert release.notes(changes) == f"# Ferry {release.VERSION}, {release.DATE}\n\n- New.\n"
    assert "\n### Security\n" in release.notes((BASE / "CHANGELOG.md").read_text())


def test_the_composition_of_a_release_needs_no_checkout():
    composition = dict(release.texts())["compose.yaml"]
    assert "build:" in (BASE / "compose.yaml").read_text()
    assert "build" not in composition
    assert f"    image: localhost/ferry:{release.VERSION}\n" in composition


@pytest.mark.slow
def test_the_installer_refuses_a_damaged_package(files, tmp_path):
    if os.geteuid():
        tools.lacks("the rights of root")
    shutil.copytree(files, tmp_path / "copy")
    with next((tmp_path / "copy").glob("*.whl")).open("ab") as wheel:
        wheel.write(b"more")
    command = ["sh", tmp_path / "copy" / "install.sh"]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode == 1
    assert "is missing or damaged" in said.stderr


# The folders to which the installer writes are empty, and it can't get packages, so it ends early.
EMPTY = """
export PIP_NO_INDEX=1
for each in /opt /etc/systemd/system /usr/local/bin; do
  mkdir -p $each && mount -t tmpfs tmpfs $each || exit 77
done
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/opt/ferry/mine", "/usr/local/bin/ferry"])
def test_the_installer_deletes_nothing_of_yours(files, place):
    for option in ("", "--uninstall"):
        script = f"{EMPTY} mkdir -p $(dirname {place}); echo mine >{place}"
        script += f"; sh {files}/install.sh {option}; cat {place}"
        said = isolated(script)
        assert said.stdout == "mine\n"
        assert "move it elsewhere" in said.stderr


@pytest.mark.slow
def test_the_installer_imports_nothing_from_its_folder(files, tmp_path):
    shutil.copytree(files, tmp_path / "copy")
    for name in ("ensurepip", "venv", "pip"):
        (tmp_path / "copy" / f"{name}.py").write_text(f"open('/opt/{name}', 'x')")
    said = isolated(f"{EMPTY} sh {tmp_path}/copy/install.sh; ls /opt")
    assert said.stdout == "ferry.new\n"


def isolated(script: str) -> "subprocess.CompletedProcess[str]":
    if os.geteuid():
        tools.lacks("the rights of root")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], check=False, capture_output=True, text=True
    )
    if done.returncode == 77:
        tools.lacks("mounts")
    return done


@pytest.fixture(scope="module")
def debian(tmp_path_factory) -> Path:
    """Return the root of a Debian with only what each has, and fresh lists of packages."""
    if os.geteuid():
        tools.lacks("the rights of root")
    root = tmp_path_factory.mktemp("debian") / "root"
    options = ["--quiet", "--variant=minbase", "--skip=cleanup/apt/lists"]
    image.run("mmdebstrap", *options, image.SUITE, root, *image.SOURCES)
    shutil.copy(os.environ.get("PIP_CERT", os.devnull), root / "etc" / "pip.pem")
    return root


def inside(root: Path, command: str) -> list[str]:
    trust = ["PIP_CERT=/etc/pip.pem"] if "PIP_CERT" in os.environ else []
    own = [
        "PATH=/usr/local/bin:/usr/sbin:/usr/bin",
        "HOME=/root",
        "DEBIAN_FRONTEND=noninteractive",
        *trust,
    ]
    own += ["HOST=127.0.0.1", "TORRENT_NETWORK=loopback", "TORRENT_PORT=0", "PYTHONUNBUFFERED=1"]
    enter = ["unshare", "--mount", "sh", "-c", ENTER, "enter", str(root)]
    return [*enter, "env", "--ignore-environment", *own, "sh", "-c", command]


def run(root: Path, command: str) -> str:
    done = subprocess.run(
        inside(root, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@contextmanager
def started(root: Path, command: str) -> Iterator[None]:
    port = free_port()
    program = launch(inside(root, f"PORT={port} exec {command}"))
    output = Output(program)
    try:
        assert output.saw("Ferry answers on port", PATIENCE_SECONDS), output.text
        page = httpx.get(f"http://localhost:{port}/signin/", timeout=60, trust_env=False)
        assert page.status_code == 200
        yield
    finally:
        program.terminate()
        program.wait(60)
        output.close()
    assert "Traceback" not in output.text


@pytest.mark.container
def test_the_commands_of_readme_install_a_service_and_remove_it(debian, files):
    shutil.copytree(files, debian / "srv" / "release")
    for command in commands_of_readme("As a service"):
        said = run(debian, f"cd /srv/release && {command}")
    start = said.splitlines()[-1].removeprefix("install.sh: ")
    with started(debian, start):
        pass
    kept = {path.name for path in (debian / "var/lib/ferry").iterdir()}
    assert "ferry.sqlite3" in kept
    assert f"Ferry {release.VERSION}, " in run(debian, "ferry version")
    # An upgrade replaces the packages, and nothing else.
    (debian / "etc/ferry.env").write_text("PORT=8080\n")
    run(debian, "touch /opt/ferry/older; sh /srv/release/install.sh")
    assert not (debian / "opt/ferry/older").exists()
    assert "/opt/ferry/bin" in run(debian, "/opt/ferry/bin/pip --version; cat /opt/ferry/bin/pip")
    assert "ferry.new" not in run(debian, "cat /opt/ferry/pyvenv.cfg /opt/ferry/bin/activate")
    assert (debian / "etc/ferry.env").read_text() == "PORT=8080\n"
    run(debian, "sh /srv/release/install.sh --uninstall")
    assert is_gone(debian)
    assert {path.name for path in (debian / "var/lib/ferry").iterdir()} == kept


def is_gone(debian: Path) -> bool:
    places = ("opt/ferry", "etc/systemd/system/ferry.service", "usr/local/bin/ferry")
    return not any((debian / place).exists() for place in places)


# In place of systemd, which no chroot has, this notes each command, and what is installed by then.
SYSTEMCTL = "#!/bin/sh\necho $* with $(ls /opt) >>/told\n"


@pytest.mark.container
def test_the_installer_starts_the_service_where_systemd_runs(debian, files):
    again = shutil.copytree(files, debian / "srv/again")
    # The service doesn't start, so it needs none of the packages.
    (again / "requirements.lock").write_text("")
    (again / "SHA256SUMS").unlink()
    release.write_sums(again)
    (debian / "run/systemd/system").mkdir(parents=True)
    systemctl = debian / "usr/local/bin/systemctl"
    systemctl.write_text(SYSTEMCTL)
    systemctl.chmod(0o755)
    said = run(debian, f"{commands_of_readme('As a service')[0]} && sh /srv/again/install.sh")
    assert said.endswith("owner: journalctl --unit ferry\n")
    started = ["daemon-reload with ferry", "enable --quiet --now ferry with ferry"]
    assert told(debian) == ["stop --quiet ferry with ferry.new", *started]
    run(debian, "touch /var/lib/ferry/mine; sh /srv/again/install.sh")
    # The old packages run until all new ones have arrived.
    assert told(debian) == ["stop --quiet ferry with ferry ferry.new", *started]
    run(debian, "sh /srv/again/install.sh --uninstall")
    assert told(debian) == ["disable --quiet --now ferry with ferry", "daemon-reload with"]
    assert is_gone(debian)
    assert (debian / "var/lib/ferry/mine").exists()
    assert (debian / "etc/ferry.env").exists()
    shutil.rmtree(debian / "run/systemd")
    systemctl.unlink()


def told(debian: Path) -> list[str]:
    lines = (debian / "told").read_text().splitlines()
    (debian / "told").unlink()
    return lines


@pytest.mark.container
def test_the_commands_of_readme_start_a_checkout(debian):
    (debian / "srv/ferry").mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=BASE, check=True, stdout=subprocess.PIPE
    )
    unpack = ["tar", "--extract", f"--directory={debian}/srv/ferry"]
    subprocess.run(unpack, input=archive.stdout, check=True)
    install, start = commands_of_readme("From a checkout")
    run(debian, install)
    with started(debian, f"make --directory=/srv/ferry {start.removeprefix('make ')}"):
        pass
    assert (debian / "srv/ferry/data/ferry.sqlite3").is_file()


@pytest.mark.container
def test_the_compose_of_debian_reads_every_composition(debian, files):
    """It is of version 2; the tests of the machine itself take the oldest."""
    shutil.copytree(files, debian / "srv/compositions")
    run(debian, "apt update && apt install --yes --no-install-recommends docker-compose")
    assert "version 2." in run(debian, "docker-compose version")
    each = "docker-compose --file $each config --quiet || exit 1"
    run(
        debian,
        f"cd /srv/compositions && export ALLOWED_HOSTS=nas.local"
        f" && for each in compose*.yaml truenas.yaml; do {each}; done",
    )
