"""A process that has sealed itself, as a hostile file would find it that took it over."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import tools

BASE = Path(__file__).resolve().parents[3]
SEALED = "import os, signal, socket\nfrom service.media.inside.sealing import seal\nassert {}\n"


@pytest.fixture(autouse=True)
def _landlock():
    if tried("", seals=True):
        tools.lacks("Landlock")


def tried(code: str, *, seals: bool) -> str:
    before = SEALED.format("seal()" if seals else "True")
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


def test_what_was_open_stays_so():
    code = "file = open('/etc/passwd')\nfrom service.media.inside import sealing\nassert seal()"
    assert tried(f"{code}\nassert file.read()", seals=False) == ""


def test_one_file_may_stay_readable():
    code = "seal('/etc/passwd')\nassert open('/etc/passwd').read()\n"
    assert tried(code, seals=False) == ""
    assert "PermissionError" in tried(f"{code}open('/etc/group')", seals=False)
    assert "PermissionError" in tried(f"{code}open('/etc/passwd', 'a')", seals=False)


def test_children_that_read_media_are_sealed(children, probe):
    assert probe(b"words")
    assert all(child.is_sealed for child in children._idle)
