"""Ferry installed as a package, without git: in an environment with nothing else of Ferry."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.running import BASE, START_SECONDS, Output, free_port, launch
from tests.service.working import until
from tests.test_tree import tracked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(build, cwd=BASE, check=True, capture_output=True)
    return next(folder.glob("ferry_server-*-py3-none-any.whl"))


@pytest.fixture(scope="module")
def ferry(wheel, tmp_path_factory) -> Path:
    """Return the installed command. The packages that Ferry needs are those of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True, timeout=START_SECONDS)
    names = {path.name for path in packages.iterdir()} - {"needed.pth"}
    assert {re.sub(r"-[\d.]+\.dist-info", " facts", name) for name in names} == {
        "ferry",
        "ferry_server facts",
    }
    return folder / "bin" / "ferry"


def test_a_wheel_has_every_file_of_the_program_and_no_other(wheel):
    folders = ("common", "config", "host", "service", "static", "templates", "webui")
    ours = tracked(*folders, "manage.py", "Procfile", "pyproject.toml")
    expected = {f"ferry/{path.relative_to(BASE)}" for path in ours}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == expected
    assert "ferry/webui/locale/de/LC_MESSAGES/django.mo" in names


def environment(home: Path, **settings: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"HOME": str(home), "HOST": "127.0.0.1", "TORRENT_NETWORK": "loopback"}
    return kept | own | {"TORRENT_PORT": "0", "PYTHONUNBUFFERED": "1"} | settings


@contextmanager
def running(ferry: Path, folder: Path, **settings: str):
    """Run the command in a folder that has nothing to do with Ferry."""
    program = launch([ferry, "run"], cwd="/", env=environment(folder, **settings))
    output = Output(program)
    try:
        assert output.saw("Ferry answers on port", START_SECONDS), output.text
        yield output
    finally:
        program.terminate()
        program.wait(START_SECONDS)
        output.close()


@pytest.mark.promise("the installed package works")
def test_the_installed_command_serves_pages_in_every_language_and_works(ferry, tmp_path):
    port = free_port()
    site = f"http://localhost:{port}"
    with running(ferry, tmp_path, PORT=str(port)) as output:
        german = {"Accept-Language": "de"}
        page = httpx.get(f"{site}/signin/", headers=german, timeout=60, trust_env=False).text
        assert "Ferry einrichten" in page
        links = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page)
        assert len(links) > 1
        for link in links:
            assert httpx.get(f"{site}{link}", timeout=60, trust_env=False).status_code == 200
        check = [ferry, "work", "--check"]
        until(lambda: not subprocess.run(check, env=environment(tmp_path), check=False).returncode)
    assert "Traceback" not in output.text
    # By default, everything is in the user's own folder for data, where upgrades change nothing.
    assert (tmp_path / ".local/share/ferry/data/ferry.sqlite3").is_file()
    packages = next(ferry.parents[1].glob("lib/python*/site-packages/ferry"))
    assert not (packages / "data").exists()


def test_the_commands_of_the_image_start_it_and_report_its_health(ferry, tmp_path):
    """Test as much of the image as possible without building it, in every run."""
    image = (BASE / "Containerfile").read_text()
    commands = re.findall(r"^(?:ENTRYPOINT|CMD) (.+)$", image, re.MULTILINE)
    assert [word for command in commands for word in json.loads(command)] == ["ferry", "run"]
    check = re.search(r"^HEALTHCHECK .+ CMD (.+)$", image, re.MULTILINE)[1]
    search = f"{ferry.parent}:{os.environ['PATH']}"
    settings = {"PORT": str(free_port()), "DATA_DIR": str(tmp_path / "data"), "PATH": search}
    look = partial(subprocess.run, ["sh", "-c", check], env=environment(tmp_path, **settings))
    with running(ferry, tmp_path, **settings):
        assert look().returncode == 0
    assert look(capture_output=True).returncode != 0


def test_settings_of_an_installed_ferry_are_beside_its_data(ferry, tmp_path):
    home = tmp_path / "xdg" / "ferry"
    home.mkdir(parents=True)
    (home / ".env").write_text("DATA_DIR=elsewhere\nPORT=70000\n")
    variables = environment(tmp_path, XDG_DATA_HOME=str(home.parent))
    refused = subprocess.run(
        [ferry, "prepare"], env=variables, cwd="/", capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert refused.stderr.startswith("PORT: ")
    (home / ".env").write_text("DATA_DIR=elsewhere\n")
    subprocess.run([ferry, "prepare"], env=variables, cwd="/", check=True, capture_output=True)
    assert (home / "elsewhere" / "ferry.sqlite3").is_file()
