import subprocess
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError
from django.utils import timezone

from host.tls import authority
from host.tls.authority import Authority
from tests.cases import each_case
from tests.host.tls import forgeries
from tests.host.tls.forgeries import Chain, dns, ip
from tests.tools import program

NOW = timezone.now()
HOME = authority.make(["nas-2", "films.example.org"], NOW)
SERVER = HOME.sign([dns("ferry.local"), ip("192.168.77.2")], NOW)
SERVER_KEY = load_pem_private_key(SERVER, password=None)
SERVER_CERTIFICATE = x509.load_pem_x509_certificates(SERVER)[0]
GOOD = forgeries.good(HOME)
FORGED = forgeries.forged(HOME, SERVER_KEY, SERVER_CERTIFICATE)


def is_accepted_here(chain: Chain) -> bool:
    try:
        subject: x509.GeneralName = x509.IPAddress(ip_address(chain.host))
    except ValueError:
        subject = x509.DNSName(chain.host)
    verifier = PolicyBuilder().store(Store([HOME.root])).build_server_verifier(subject)
    try:
        verifier.verify(chain.certificates[0], chain.certificates[1:])
    except VerificationError:
        return False
    return True


def write(folder: Path, chain: Chain, home: Authority = HOME) -> tuple[Path, Path, Path]:
    root, leaf, rest = (folder / f"{name}.pem" for name in ("root", "leaf", "rest"))
    root.write_bytes(authority.pem_of(home.root))
    leaf.write_bytes(authority.pem_of(chain.certificates[0]))
    rest.write_bytes(b"".join(map(authority.pem_of, chain.certificates[1:])))
    return root, leaf, rest


def is_accepted_by_openssl(folder: Path, chain: Chain, home: Authority = HOME) -> bool:
    root, leaf, rest = write(folder, chain, home)
    name = "-verify_ip" if chain.host[0].isdigit() else "-verify_hostname"
    command = [program("openssl"), "verify", "-purpose", "sslserver", name, chain.host]
    command += ["-CAfile", str(root), "-untrusted", str(rest), str(leaf)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def is_accepted_by_gnutls(folder: Path, chain: Chain) -> bool:
    root, leaf, rest = write(folder, chain)
    leaf.write_bytes(leaf.read_bytes() + rest.read_bytes())
    command = [program("certtool"), "--verify", "--verify-profile", "medium"]
    command += ["--verify-purpose", "1.3.6.1.5.5.7.3.1", "--verify-hostname", chain.host]
    command += ["--load-ca-certificate", str(root), "--infile", str(leaf)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@each_case("host", GOOD)
def test_devices_accept_what_the_authority_signs_for_the_home(host, tmp_path):
    assert is_accepted_here(GOOD[host])
    assert is_accepted_by_openssl(tmp_path, GOOD[host])


def test_twelve_forgeries_are_tried():
    assert len(FORGED) == 12


@each_case("case", FORGED)
def test_no_one_accepts_what_a_thief_of_the_keys_could_sign(case, tmp_path):
    assert not is_accepted_here(FORGED[case])
    assert not is_accepted_by_openssl(tmp_path, FORGED[case])


def test_gnutls_accepts_what_is_good_and_nothing_forged(tmp_path):
    assert all(is_accepted_by_gnutls(tmp_path, chain) for chain in GOOD.values())
    assert not [case for case in FORGED if is_accepted_by_gnutls(tmp_path, FORGED[case])]


def test_both_certificates_have_the_limits_and_are_critical():
    for certificate, path_length in ((HOME.root, 1), (HOME.intermediate, 0)):
        limits = certificate.extensions.get_extension_for_class(x509.NameConstraints)
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        assert limits.critical
        assert basic.critical
        assert basic.value.path_length == path_length


def test_the_roots_key_is_nowhere(tmp_path):
    home = authority.load_or_make(tmp_path / "tls", [], NOW)
    (path,) = (tmp_path / "tls").iterdir()
    assert path.read_text().count("PRIVATE KEY-----") == 2  # It begins and ends.
    assert home.key.public_key() == home.intermediate.public_key()
    assert home.key.public_key() != home.root.public_key()
    assert path.stat().st_mode & 0o077 == 0


def test_the_authority_is_made_once(tmp_path):
    first = authority.load_or_make(tmp_path, [], NOW)
    assert authority.load_or_make(tmp_path, ["nas-2"], NOW).root == first.root


@pytest.mark.parametrize(
    ("name", "is_permitted"),
    [
        (dns("ferry.local"), True),
        (dns("nas.home.arpa"), True),
        (dns("nas-2"), True),
        (dns("films.example.org"), True),
        (dns("example.org"), False),
        (dns("local.example.com"), False),
        (dns("mylocal"), False),
        (ip("10.1.2.3"), True),
        (ip("fd00::5"), True),
        (ip("100.64.0.1"), False),
        (ip("8.8.8.8"), False),
        (ip("2a00::1"), False),
    ],
)
def test_only_names_within_the_limits_are_asked_for(name, is_permitted):
    assert HOME.permits(name) == is_permitted


@each_case("name", ["media", "cloud", "xn--p1ai", ".example.org", "[fd00::1]", "local"])
def test_a_name_that_could_be_a_top_level_domain_is_no_limit(name):
    assert len(authority.permitted_subtrees([name])) == len(authority.permitted_subtrees([]))


def test_addresses_that_only_the_owner_knows_are_addresses():
    """As in a container: a name with digits would match no address that a browser opens."""
    names = authority.names_for(["192.168.1.5", "[fd00::5]", "nas.local", ".example.org", ""])
    assert {ip("192.168.1.5"), ip("fd00::5"), dns("nas.local")} <= set(names)
    assert not {dns("192.168.1.5"), dns("[fd00::5]"), dns(".example.org")} & set(names)
    assert authority.permitted_subtrees(["192.168.1.5"]) == authority.permitted_subtrees([])


@each_case("year", [1970, 2038])
def test_what_was_made_while_the_clock_was_wrong_is_good_once_it_is_right(year, tmp_path):
    wrong = datetime(year, 1, 1, tzinfo=UTC)
    home = authority.make([], wrong)
    content = home.sign([dns("ferry.local")], wrong)
    names = [dns("ferry.local")]
    assert authority.is_good(content, home, names, wrong)
    assert authority.is_good(content, home, names, NOW) == (year == 1970)
    leaf, _intermediate = x509.load_pem_x509_certificates(home.sign(names, NOW))
    assert is_accepted_by_openssl(
        tmp_path, Chain("ferry.local", b"", [leaf, home.intermediate]), home
    )


def test_a_clock_of_long_ago_replaces_no_good_certificate():
    assert is_good(days=-365 * 50)


def test_a_certificate_lasts_at_most_397_days():
    lasts = SERVER_CERTIFICATE.not_valid_after_utc - SERVER_CERTIFICATE.not_valid_before_utc
    assert lasts <= timedelta(days=397)
    assert isinstance(SERVER_KEY.curve, authority.ec.SECP256R1)
    used_for = SERVER_CERTIFICATE.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(used_for) == list(authority.FOR_SERVERS)


def is_good(home: Authority = HOME, names=("ferry.local",), days: int = 0) -> bool:
    wanted = [dns(name) for name in names]
    return authority.is_good(SERVER, home, wanted, NOW + timedelta(days=days))


def test_a_certificate_is_renewed_before_it_ends_and_for_each_new_name():
    assert is_good()
    assert is_good(days=300)
    assert not is_good(days=340)
    assert not is_good(days=-2)  # The clock was set back.
    assert not is_good(names=["ferry.local", "ferry-2.local"])
    assert not is_good(home=authority.make([], NOW))
    assert not authority.is_good(b"torn", HOME, [], NOW)
