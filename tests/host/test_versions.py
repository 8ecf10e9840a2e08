"""Versions of what runs, and the holes that some of them have."""

import re
import subprocess
import sys
from contextlib import nullcontext
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from host import versions
from tests.cases import each_case
from tests.running import BASE
from tests.swarm import Redirecting, WebSeed, serving_http

VERSIONS = {"Ferry": "0.1.0", "Python": "3.13.5", "FFmpeg": "9.0.2-17-g2a571b6068"} | {
    "PyAV": "18.1.0",
    "libtorrent": "2.1.1",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["version", "--version"])
def test_the_command_prints_what_runs(name, tmp_path):
    command = [sys.executable, BASE / "manage.py", name]
    environment = {"DATA_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    lines = said.stdout.splitlines()
    assert [re.split(r" (?=\d)", line)[0] for line in lines] == list(versions.running())
    assert re.fullmatch(r"Ferry \d+\.\d+\.\d+, released on \d{4}-\d\d-\d\d", lines[0])
    assert all(re.search(r" \d+\.\d+", line) for line in lines)
    assert said.stderr == ""


def test_what_ferry_brings_has_no_known_hole():
    assert [*versions.known_holes(versions.running())] == []


@each_case(
    ("program", "version", "has_hole"),
    [
        ("FFmpeg", "8.0.1", True),
        ("FFmpeg", "8.1", False),
        ("PyAV's FFmpeg", "8.0.1", True),
        ("PyAV's FFmpeg", "8.1.2", False),
        ("FFmpeg", "7.1.5", True),
        # Debian fixes holes without a new number.
        ("FFmpeg", "5.1.6-0+deb12u1", False),
        # A build from a branch says no number.
        ("FFmpeg", "N-118000-gabcdef", False),
        ("FFmpeg", "", False),
        # Fixed in two lines, so an older line is judged by the newer one.
        ("libtorrent", "2.0.13", True),
        ("libtorrent", "2.0.14", False),
        ("libtorrent", "2.0.15", False),
        ("libtorrent", "2.1.0", True),
        ("libtorrent", "2.1.1", False),
        ("libtorrent", "2.2.0", False),
        ("libtorrent", "1.2.20", True),
    ],
)
def test_a_version_is_compared_with_its_own_line(program, version, has_hole):
    found = [*versions.known_holes(VERSIONS | {program: version})]
    assert bool(found) == has_hole
    assert all(each.startswith(f"{program} {version}: ") for each in found)


def test_each_hole_is_of_a_program_that_runs():
    assert {hole.program for hole in versions.HOLES} <= set(versions.running())


@each_case(
    ("names", "sentence"),
    [
        (["0.1.0"], "No newer Ferry is out."),
        (["0.0.9"], "No newer Ferry is out."),
        (["0.9.0", "0.10.0", "0.2.0"], "Ferry 0.10.0 is out."),
        ([], "RELEASES_URL: it can't be read: it answers 200"),
    ],
)
def test_a_newer_release_is_looked_for_only_where_the_owner_says(
    names, sentence, settings, tmp_path
):
    sums = [f"{'0' * 64}  ferry_server-{name}-py3-none-any.whl\n" for name in names]
    (tmp_path / "SHA256SUMS").write_text("".join(sums))
    latest = Redirecting()
    with serving_http(WebSeed(folder=tmp_path)) as web, serving_http(latest):
        # Pages of releases often redirect to the newest.
        latest.to = f"{web.url}/SHA256SUMS"
        settings.RELEASES_URL = f"{latest.url}/latest/SHA256SUMS"
        said = StringIO()
        with pytest.raises(CommandError, match=sentence) if not names else nullcontext():
            call_command("versions", stdout=said)
    assert not names or said.getvalue().splitlines()[-1] == sentence


def test_without_an_address_nothing_is_asked(settings, monkeypatch):
    settings.RELEASES_URL = ""
    # Any request would fail.
    monkeypatch.delattr("httpx.Client")
    said = StringIO()
    call_command("versions", stdout=said)
    assert said.getvalue().count("\n") == len(versions.running())
