"""A certificate authority for one home. It can sign only for that home's names and addresses.

The root signs one intermediate certificate, then its key is gone: it is never written anywhere. The
intermediate signs Ferry's own certificate. Verifiers may ignore limits on a root, and old ones read
only the root's, so both have the same limits, and both are marked critical.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from common.addresses import own
from common.addresses.networks import parse_address
from common.storage import durable

log = logging.getLogger("ferry.tls")

Key = ec.EllipticCurvePrivateKey
Name = x509.DNSName | x509.IPAddress

AUTHORITY_DAYS = 3650
# Browsers refuse certificates that are valid for longer.
LEAF_DAYS = 397
RENEW_DAYS = 60
# Other devices' clocks may be behind.
EARLIER = timedelta(days=1)
# A machine without a battery starts with a clock of long ago, or of a time to come. So the
# authority is valid from here on, and an earlier clock proves nothing.
FERRY_BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
# Endings that public DNS never answers.
HOME_DOMAINS = ("local", "home.arpa", "lan", "internal")
HOME_NETWORKS = [
    ip_network(network)
    for network in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8",
        "fc00::/7", "fe80::/10", "::1/128",
    )
]  # fmt: skip
# Limits on names don't limit email or code, so the intermediate may not sign for these at all.
FOR_SERVERS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
# No top-level domain has a digit, or a hyphen other than in xn--. Any other word may become one.
UNDELEGATED = re.compile(r"(?!xn--)(?=.*[0-9-])[a-z0-9-]{1,63}")


@dataclass(frozen=True)
class Authority:
    root: x509.Certificate
    intermediate: x509.Certificate
    key: Key

    def sign(self, names: list[Name], now: datetime) -> bytes:
        """Return a new key, a certificate for these names, and the intermediate's, as PEM."""
        key = new_key()
        since = max(now, FERRY_BEGAN) - EARLIER
        until = since + timedelta(LEAF_DAYS)
        draft = begin("Ferry", key, self.intermediate.subject, self.key, since, until)
        leaf = (
            draft.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(usage(is_authority=False), critical=True)
            .add_extension(FOR_SERVERS, critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return pem_of(key) + pem_of(leaf) + pem_of(self.intermediate)

    def permits(self, name: Name) -> bool:
        """Return whether the limits permit a name; the machine may have got others since."""
        limits = self.intermediate.extensions.get_extension_for_class(x509.NameConstraints).value
        return any(is_below(name, each) for each in limits.permitted_subtrees or ())


def load_or_make(folder: Path, own_names: Iterable[str], now: datetime) -> Authority:
    """Return the authority kept in a folder, and make it on first use."""
    path = folder / "authority.pem"
    if not path.exists():
        durable.make_folder(folder)
        made = make(own_names, now)
        durable.create(path, pem_of(made.key) + pem_of(made.intermediate) + pem_of(made.root))
        log.info("made a certificate authority for this home")
    content = path.read_bytes()
    intermediate, root = x509.load_pem_x509_certificates(content)
    key = load_pem_private_key(content, password=None)
    return Authority(root, intermediate, cast(Key, key))


def make(own_names: Iterable[str], now: datetime) -> Authority:
    root_key, key = new_key(), new_key()
    until = max(now, FERRY_BEGAN) + timedelta(AUTHORITY_DAYS)
    limits = x509.NameConstraints(permitted_subtrees(own_names), excluded_subtrees=None)
    # Devices show this name in their lists of authorities, beside those of other Ferrys.
    mark = f"{x509.random_serial_number():x}"[:8]
    title = f"Ferry at home {mark}"
    root_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, title)])

    def certify(subject: str, subject_key: Key, path_length: int) -> x509.Certificate:
        draft = begin(subject, subject_key, root_name, root_key, FERRY_BEGAN, until)
        basic = x509.BasicConstraints(ca=True, path_length=path_length)
        draft = draft.add_extension(basic, critical=True).add_extension(limits, critical=True)
        draft = draft.add_extension(usage(is_authority=True), critical=True)
        if subject_key is not root_key:
            draft = draft.add_extension(FOR_SERVERS, critical=False)
        return draft.sign(root_key, hashes.SHA256())

    root = certify(title, root_key, path_length=1)
    return Authority(root, certify(f"Ferry server {mark}", key, path_length=0), key)


def permitted_subtrees(own_names: Iterable[str]) -> list[x509.GeneralName]:
    domains = [*HOME_DOMAINS, *filter(is_safe_domain, own_names)]
    return [
        *map(x509.DNSName, dict.fromkeys(domains)),
        *map(x509.IPAddress, HOME_NETWORKS),
    ]


def is_safe_domain(name: str) -> bool:
    """Return whether the authority may sign for a name and all names below it."""
    if name.startswith(".") or parse_address(name.strip("[]")) or is_home_name(name):
        return False
    return "." in name or UNDELEGATED.fullmatch(name) is not None


def is_home_name(name: str) -> bool:
    return any(name == each or name.endswith(f".{each}") for each in HOME_DOMAINS)


def is_below(name: Name, subtree: x509.GeneralName) -> bool:
    if isinstance(name, x509.DNSName) and isinstance(subtree, x509.DNSName):
        return name.value == subtree.value or name.value.endswith(f".{subtree.value}")
    if isinstance(name, x509.IPAddress) and isinstance(subtree.value, IPv4Network | IPv6Network):
        return name.value in subtree.value
    return False


def names_for(host_names: Iterable[str]) -> list[Name]:
    """Return what this machine is called now: names first, then its addresses."""
    # A link-local address isn't enough to open a page: its URL would need an interface, too.
    usable = {address for address in own.all_addresses() if not address.is_link_local}
    hosts = {name: parse_address(name.strip("[]")) for name in host_names}
    # In a container, only the owner knows the addresses of the machine.
    usable |= {address for address in hosts.values() if address}
    exact = [name for name, address in hosts.items() if re.match(r"\w", name) and not address]
    addresses = sorted(usable, key=lambda each: (each.version, each))
    return [*map(x509.DNSName, exact), *map(x509.IPAddress, addresses)]


def is_good(content: bytes, authority: Authority, names: list[Name], now: datetime) -> bool:
    """Return whether a certificate has all names, is the authority's, and lasts for a while."""
    try:
        leaf, intermediate = x509.load_pem_x509_certificates(content)
        has = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    ends_at = leaf.not_valid_after_utc - timedelta(RENEW_DAYS)
    lasts = now < FERRY_BEGAN or leaf.not_valid_before_utc <= now < ends_at
    return lasts and intermediate == authority.intermediate and set(names) <= set(has)


def begin(  # noqa: PLR0913, PLR0917  A certificate has that many parts.
    subject: str, key: Key, issuer: x509.Name, issuer_key: Key, since: datetime, until: datetime
) -> x509.CertificateBuilder:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, subject)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(identifier, critical=False)
    )


def usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def new_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def pem_of(each: Key | x509.Certificate) -> bytes:
    if isinstance(each, x509.Certificate):
        return each.public_bytes(Encoding.PEM)
    return each.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
