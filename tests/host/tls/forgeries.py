"""Certificates that a thief of Ferry's keys would want, signed with every key that Ferry keeps."""

from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from django.utils import timezone

from host.tls.authority import (
    FOR_SERVERS,
    Authority,
    Key,
    Name,
    begin,
    new_key,
    pem_of,
    usage,
)


@dataclass(frozen=True)
class Chain:
    host: str
    """What the client connects to."""
    key: bytes
    certificates: list[x509.Certificate]
    """The server's first, without the root."""

    @property
    def pem(self) -> bytes:
        return b"".join(map(pem_of, self.certificates))


def dns(name: str) -> Name:
    return x509.DNSName(name)


def ip(address: str) -> Name:
    return x509.IPAddress(ip_address(address))


# What a name constraint has to catch: the host that a client opens, and all names.
NAMES = {
    "another domain": ("example.com", [dns("example.com")]),
    "a public address": ("8.8.8.8", [ip("8.8.8.8")]),
    "a public address of IPv6": ("2001:4860:4860::8888", [ip("2001:4860:4860::8888")]),
    "a domain beside ours": ("example.com", [dns("ferry.local"), dns("example.com")]),
    "an address beside ours": ("1.1.1.1", [dns("ferry.local"), ip("1.1.1.1")]),
    "an ending without a dot": ("notlocal", [dns("notlocal")]),
    "our name within another": ("ferry.local.example.com", [dns("ferry.local.example.com")]),
    "a wildcard": ("example.com", [dns("*.com")]),
    "a common name alone": ("example.com", []),
}


def good(authority: Authority) -> dict[str, Chain]:
    names = {"ferry.local": dns("ferry.local"), "192.168.77.2": ip("192.168.77.2")}
    return {host: chain(host, authority, list(names.values())) for host in names}


def forged(authority: Authority, server_key: Key, server: x509.Certificate) -> dict[str, Chain]:
    """Return twelve forgeries. The last ones try chains that are too long, or signed by no one."""
    made = {case: chain(host, authority, names) for case, (host, names) in NAMES.items()}
    key = new_key()
    below = certify("Below", key, authority.intermediate, authority.key, is_authority=True)
    middle = [below, authority.intermediate]
    made["an authority below"] = leaf("ferry.local", [dns("ferry.local")], below, key, middle)
    middle = [server, authority.intermediate]
    made["Ferry's own key"] = leaf("ferry.local", [dns("ferry.local")], server, server_key, middle)
    names = [dns("example.com")]
    made["the root's name"] = leaf("example.com", names, authority.root, authority.key, [])
    return made


def chain(host: str, authority: Authority, names: list[Name]) -> Chain:
    issuer = authority.intermediate
    return leaf(host, names, issuer, authority.key, [issuer])


def leaf(
    host: str,
    names: list[Name],
    issuer: x509.Certificate,
    issuer_key: Key,
    rest: list[x509.Certificate],
) -> Chain:
    key = new_key()
    certificate = certify(host, key, issuer, issuer_key, names=names)
    return Chain(host, pem_of(key), [certificate, *rest])


def certify(
    subject: str,
    key: Key,
    issuer: x509.Certificate,
    issuer_key: Key,
    *,
    is_authority: bool = False,
    names: list[Name] = [],  # noqa: B006  Never changed.
) -> x509.Certificate:
    since = timezone.now() - timedelta(days=1)
    until = since + timedelta(days=300)
    draft = begin(subject, key, issuer.subject, issuer_key, since, until)
    basic = x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None)
    draft = draft.add_extension(basic, critical=True)
    draft = draft.add_extension(usage(is_authority=is_authority), critical=True)
    if not is_authority:
        draft = draft.add_extension(FOR_SERVERS, critical=False)
    if names:
        draft = draft.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return draft.sign(issuer_key, hashes.SHA256())
