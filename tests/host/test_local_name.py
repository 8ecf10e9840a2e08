"""Ferry in a network of its own: no multicast leaves this machine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509

from host import local_name
from tests.running import launch, running
from tests.tools import needs, program

ADDRESS = "192.168.77.2"
START_SECONDS = 30
SETUP = f"""
set -e
ip link set lo up
ip link add eth0 type veth peer name eth1
ip link set eth1 up
ip link set eth0 up multicast on
ip addr add {ADDRESS}/24 dev eth0
ip route add 224.0.0.0/4 dev eth0
echo ready
exec sleep 600
"""


@pytest.fixture
def network() -> Iterator[tuple[str, ...]]:
    """Yield a prefix that runs a command in a network namespace with one interface."""
    unshare = (program("unshare"), "--net")
    needs([*unshare, "true"], "permission to make a network namespace")
    process = launch([*unshare, "sh", "-c", SETUP])
    assert process.stdout.readline() == "ready\n"
    yield ("nsenter", "--net", f"--target={process.pid}")
    process.kill()
    process.wait()
    process.stdout.close()


def names_in(data_dir: Path) -> set[str]:
    content = (data_dir / "tls" / "server.pem").read_bytes()
    leaf = x509.load_pem_x509_certificates(content)[0]
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in names}


def status(network: tuple[str, ...], port: int, host: str) -> str:
    url = f"http://{ADDRESS}:{port}/signin/"
    command = [*network, program("curl"), "-s", "-o", "/dev/null", "-w", "%{http_code}"]
    return subprocess.check_output([*command, "-H", f"Host: {host}:{port}", url], text=True)


@pytest.mark.slow
@pytest.mark.promise("two Ferrys in one network get two names")
def test_two_ferrys_in_one_network_get_two_names(tmp_path, network):
    common = {"HOST": "0.0.0.0", "LOCAL_NAME": "ferry"}
    with running(tmp_path / "a", prefix=network, HTTPS_PORT="8443", **common) as first:
        assert first.output.saw("found by name=ferry.local", START_SECONDS)
        assert first.output.saw("made a certificate names=ferry.local", START_SECONDS)
        assert f"http://ferry.local:{first.port}" in first.log
        with running(tmp_path / "b", prefix=network, HTTPS_PORT="8444", **common) as second:
            assert second.output.saw("found by name=ferry-2.local", START_SECONDS), second.log
            assert second.output.saw("made a certificate names=ferry-2.local", START_SECONDS), (
                second.log
            )
            assert f"scan this (http://ferry-2.local:{second.port})" in second.log
            assert {"ferry-2.local", ADDRESS} <= names_in(tmp_path / "b")
        assert "ferry.local" in names_in(tmp_path / "a")
        assert status(network, first.port, "ferry.local") == "200"
        assert status(network, first.port, "ferry-2.local") == "400"


def test_a_name_that_people_know_is_tried_first(settings, tmp_path):
    settings.DATA_DIR, settings.LOCAL_NAME = tmp_path, "films"
    assert local_name.candidates()[:3] == ["films", "films-2", "films-3"]
    (tmp_path / "local_name").write_text("films-3")
    assert local_name.candidates()[:3] == ["films-3", "films", "films-2"]
    assert local_name.current() == "films-3.local"


@pytest.mark.parametrize(("host", "name"), [("127.0.0.1", "ferry"), ("0.0.0.0", "off")])
def test_without_a_network_or_a_name_nothing_is_claimed(settings, tmp_path, host, name):
    settings.DATA_DIR, settings.HOST, settings.LOCAL_NAME = tmp_path, host, name
    (tmp_path / "local_name").write_text("ferry")
    assert not local_name.is_wanted()
    assert local_name.current() == ""
