"""Every package in the lock has a wheel for arm64, whose image only such a machine can build."""

import re

from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from release.audit import versions_of
from tests.running import BASE

LOCK = (BASE / "requirements.lock").read_text()
# The image has Python 3.13, and Debian 13 glibc 2.41.
PYTHON = (3, 13)
PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in range(17, 42)]
TAGS = {*cpython_tags(PYTHON, platforms=PLATFORMS), *compatible_tags(PYTHON, "cp313", PLATFORMS)}


def test_every_package_of_the_lock_has_a_recorded_wheel_for_arm64():
    elsewhere = set(re.findall(r"^([\w-]+)==\S+ ; sys_platform == 'win32'", LOCK, re.MULTILINE))
    found = {}
    for line in (BASE / "release/arm64.sums").read_text().splitlines():
        digest, file = line.split("  ")
        assert f"--hash=sha256:{digest}" in LOCK, file
        name, found[name], _build, tags = parse_wheel_filename(file)
        assert tags & TAGS, file
    assert found == {
        name: version for name, version in versions_of(LOCK).items() if name not in elsewhere
    }
