"""Browsers that trust Ferry's authority trust it with this home, and with nothing else."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.browser.trust import ADDRESS
from tests.host.tls.forgeries import NAMES
from tests.running import Output, launch
from tests.tools import needs, program

pytestmark = pytest.mark.browser("Each browser checks certificates with its own code.")
HOSTS = sorted({host for host, _names in NAMES.values() if re.search("[a-z]", host)})
# All hosts of forgeries lead to this machine, and the files of the system are this test's.
SETUP = f"""
set -e
ip link set lo up
for address in 8.8.8.8/32 1.1.1.1/32 2001:4860:4860::8888/128; do ip addr add $address dev lo; done
ip link add eth0 type veth peer name eth1
ip link set eth1 up
ip link set eth0 up multicast on
ip addr add {ADDRESS}/24 dev eth0
ip route add 224.0.0.0/4 dev eth0
echo "127.0.0.1 localhost {" ".join(HOSTS)}" > "$1/hosts"
echo "{ADDRESS} ferry.local" >> "$1/hosts"
cp /etc/ssl/certs/ca-certificates.crt "$1/trusted.crt"
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/trusted.crt" /etc/ssl/certs/ca-certificates.crt
exec {sys.executable} -m tests.browser.trust "$1"
"""


@pytest.mark.promise("no browser accepts a forged certificate")
@pytest.mark.slow
def test_browsers_trust_this_home_and_nothing_else(tmp_path: Path) -> None:
    unshare = [program("unshare"), "--net", "--mount"]
    needs([*unshare, "true"], "permission to make a network namespace")
    process = launch([*unshare, "sh", "-c", SETUP, "sh", str(tmp_path)])
    output = Output(process)
    assert output.ends(500)
    process.wait()
    output.close()
    found = re.search(r"^REPORT (.*)$", output.text, re.MULTILINE)
    assert found, output.text
    report = json.loads(found[1])
    assert list(report) == ["chromium", "firefox", "webkit"]
    for browser, seen in report.items():
        assert seen["good"] == ["ferry.local", ADDRESS], browser
        assert seen["forged"] == [], browser
        assert seen["secure"] == ["ferry.local", ADDRESS], browser
