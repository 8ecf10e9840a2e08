"""The image and the compose file agree with each other and with Ferry."""

import json
import os
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from contextlib import nullcontext
from xml.etree import ElementTree as ET

import pytest
import yaml
from django.core.management import get_commands

from config import settings
from host import containers, processes
from host.storage import release
from tests.cases import each_case
from tests.running import BASE
from tests.test_tree import tracked
from tests.tools import program

IMAGE = (BASE / "Containerfile").read_text()
FERRY = yaml.safe_load((BASE / "compose.yaml").read_text())["services"]["ferry"]
CLUSTER = yaml.safe_load((BASE / "compose.cluster.yaml").read_text())
MACHINES = {
    name: each for name, each in CLUSTER["services"].items() if each.get("image") == "ferry-cluster"
}


FOLDER = BASE / "docs/containers"
COMPOSITIONS = {
    path.name: yaml.safe_load(path.read_text())["services"]["ferry"]
    for path in (BASE / "compose.yaml", *FOLDER.glob("*.yaml"))
}
NETWORK = ("build", "network_mode", "ports", "depends_on", "environment", "user", "volumes")


def test_every_composition_mounts_what_the_image_writes_to():
    for ferry in COMPOSITIONS.values():
        (volume,) = ferry["volumes"]
        data = volume.partition(":")[2]
        assert variables_of(ferry)["DATA_DIR"] == data
        assert f"DATA_DIR={data} IN_CONTAINER=1\n" in IMAGE
        assert f"VOLUME {data}\n" in IMAGE


def variables_of(ferry) -> dict[str, str]:
    given = ferry["environment"]
    return given if isinstance(given, dict) else dict(each.partition("=")[::2] for each in given)


def test_the_compositions_pass_every_setting_and_differ_in_networks_alone():
    usual = {name: value for name, value in FERRY.items() if name not in NETWORK}
    for name, ferry in COMPOSITIONS.items():
        assert {key: value for key, value in ferry.items() if key not in NETWORK} == usual, name
        assert set(variables_of(ferry)) <= set(settings.env.names), name
    # In the container, no one looks for errors with DEBUG, and variants set where Ferry listens.
    assert set(settings.env.names) - set(variables_of(FERRY)) == {"DEBUG"}
    for name, ours in (
        ("compose.bridge.yaml", {"HTTPS_PORT"}),
        ("compose.vpn.yaml", {"TORRENT_PORT"}),
    ):
        missing = set(settings.env.names) - set(variables_of(COMPOSITIONS[name]))
        assert missing == {"DEBUG", "HOST", "PORT", *ours}, name


def test_every_file_names_the_image_of_this_version():
    named = [
        re.findall(r"(?:image: |\"image\": \"|Image=|<Repository>)(.*/?ferry:[\w.]+)", text)
        for path in (BASE / "compose.yaml", *FOLDER.iterdir())
        if (text := path.read_text())
    ]
    assert named == [[f"localhost/ferry:{release.version()}"]] * 7


@pytest.mark.slow
def test_old_versions_of_compose_read_every_composition():
    """Debian 12 has one of 2021, and newer ones read all that it reads."""
    compose = program("docker-compose")
    environment = os.environ | {"ALLOWED_HOSTS": "nas.local"}
    for path in (BASE / "compose.yaml", *FOLDER.glob("*.yaml")):
        command = [compose, "--file", path, "config", "--quiet"]
        subprocess.run(command, env=environment, check=True)
    refused = [compose, "--file", FOLDER / "compose.bridge.yaml", "config", "--quiet"]
    said = subprocess.run(refused, check=False, capture_output=True, text=True)
    assert "set it in .env, such as 192.168.1.5,nas.local" in said.stderr


def test_the_templates_of_other_programs_can_be_read():
    container = ET.parse(FOLDER / "unraid.xml").getroot()
    assert container.attrib == {"version": "2"}
    targets = {each.get("Target"): each for each in container.iter("Config")}
    assert targets.pop("/data").get("Type") == "Path"
    assert set(targets) - {"PUID", "PGID"} <= set(settings.env.names)
    assert all(each.text == each.get("Default") for each in targets.values())
    (template,) = json.loads((FOLDER / "portainer.json").read_text())["templates"]
    assert {each["name"] for each in template["env"]} <= set(settings.env.names)
    assert template["volumes"] == [{"container": "/data"}]
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(FOLDER / "ferry.container")
    assert unit["Container"]["HealthCmd"] == "ferry healthcheck"
    assert unit["Container"]["Volume"].endswith(":/data")
    assert unit["Container"]["ReadOnly"] == unit["Container"]["NoNewPrivileges"] == "true"


def test_the_image_gets_what_the_wheel_is_made_of_and_nothing_else():
    ignored, *kept = (BASE / ".dockerignore").read_text().splitlines()
    assert ignored == "*"
    names = {name.removeprefix("!") for name in kept if name.startswith("!")}
    needed = {str(path.relative_to(BASE)).split("/")[0] for path in tracked(*WHEEL)}
    assert names == needed | {"README.md", *map("requirements{}.lock".format, LOCKS)}


LOCKS = ("", "-build", "-cluster")


WHEEL = re.findall(
    r'"([\w.]+)"',
    re.search(r"only-include = \[(.*?)\]", (BASE / "pyproject.toml").read_text(), re.DOTALL)[1],
)


def test_a_container_has_time_to_stop():
    assert grace(FERRY) > processes.STOP_SECONDS
    assert all(grace(each) > processes.HAND_OVER_SECONDS for each in MACHINES.values())


def grace(service) -> int:
    return int(service["stop_grace_period"].removesuffix("s"))


def test_the_machines_of_a_cluster_differ_only_in_what_they_do_and_where():
    webs = [each for name, each in MACHINES.items() if name.startswith("web")]
    workers = {name: each for name, each in MACHINES.items() if name.startswith("worker")}
    assert len(webs) == len(workers) == 2
    assert all(each["environment"]["WORKER_ROLES"] == "none" for each in webs)
    assert all(
        each["environment"]["WORKER_ADDRESS"] == f"{name}:8100" for name, each in workers.items()
    )
    shared = [
        {name: value for name, value in each["environment"].items() if "WORKER" not in name}
        for each in MACHINES.values()
    ]
    assert all(each == shared[0] for each in shared)
    names = {name for each in MACHINES.values() for name in each["environment"]}
    assert names <= set(settings.env.names)
    for each in MACHINES.values():
        assert (BASE / each["build"]["args"]["LOCK"]).is_file()
        assert each["read_only"]


def test_the_workers_of_a_cluster_run_commands_that_exist():
    worker = CLUSTER["x-worker"]
    lines = [*worker["entrypoint"], " ".join(worker["healthcheck"]["test"])]
    commands = re.findall(r"\bferry ([\w-]+)", "\n".join(lines))
    assert len(commands) == 3
    assert set(commands) <= get_commands().keys()


def test_a_command_may_be_written_as_one_of_manage():
    command = [sys.executable, BASE / "manage.py", "manage", "work", "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "--check" in shown.stdout


def test_the_lock_of_a_cluster_adds_its_packages_to_those_of_one_machine():
    usual, more = (
        set(re.findall(r"^[\w-]+==[\w.]+", (BASE / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-cluster.lock")
    )
    assert usual < more
    added = {each.partition("==")[0] for each in more - usual}
    assert added == {"obstore", "psycopg", "psycopg-binary"}


def test_all_that_the_image_installs_is_in_a_lock():
    installations = re.findall(r"pip install (.+?)(?: \\)?$", IMAGE, re.MULTILINE)
    assert len(installations) == 3
    for options in installations:
        assert "--require-hashes" in options or "--no-index" in options, options
    built, developed = (
        set(re.findall(r"^[\w-]+==[\w.]+", (BASE / name).read_text(), re.MULTILINE))
        for name in ("requirements-build.lock", "requirements-dev.lock")
    )
    project = tomllib.loads((BASE / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) < built < developed


def test_nginx_takes_the_proxy_of_the_cluster(tmp_path):
    content = CLUSTER["configs"]["proxy"]["content"].replace("$$", "$")
    assert set(re.findall(r"server (web\d)", content)) == MACHINES.keys() - {"worker1", "worker2"}
    content = re.sub(r"web\d", "127.0.0.1", content)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {content} }}"
    )
    subprocess.run(
        [program("nginx", "/usr/sbin/nginx"), "-t", "-c", tmp_path / "nginx.conf"], check=True
    )


def test_puid_moves_from_root_to_a_user_who_owns_the_data(tmp_path, monkeypatch):
    done = []
    # The test itself must not become another user.
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("chown", "setgroups", "setgid", "setuid"):
        monkeypatch.setattr(os, name, lambda *given, name=name: done.append((name, *given)))
    for variable, value in {"PUID": "99", "PGID": "100", "DATA_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("IN_CONTAINER", raising=False)
    containers.become_user()
    assert done == []
    monkeypatch.setenv("IN_CONTAINER", "1")
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "library").mkdir()
    with pytest.raises(SystemExit, match=r"^PUID: .* has files of another user.*chown -R 99:100"):
        containers.become_user()
    assert done == []
    (tmp_path / "library").rmdir()
    containers.become_user()
    moves = [("setgroups", []), ("setgid", 100), ("setuid", 99)]
    assert done == [("chown", tmp_path, 99, 100), *moves]


@each_case(
    ("settings", "sentence"),
    [
        ({}, ""),
        ({"PUID": "12"}, ""),
        ({"PUID": "13"}, "PUID: Ferry runs as user 12 already"),
        ({"PUID": "nobody"}, "PUID and PGID: they must be numbers"),
        ({"PUID": "12", "PGID": "users"}, "PUID and PGID: they must be numbers"),
    ],
)
def test_a_puid_that_cannot_be_is_refused(settings, sentence, monkeypatch):
    # The test may run as any user.
    monkeypatch.setattr(os, "geteuid", lambda: 12)
    monkeypatch.setenv("IN_CONTAINER", "1")
    for variable in ("PUID", "PGID"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit) if sentence else nullcontext() as refused:
        containers.become_user()
    assert not sentence or str(refused.value).startswith(sentence)
