"""The certificate that Ferry shows: the worker renews it, and web processes read it again."""

import logging
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.conf import settings
from django.utils import timezone

from common.addresses import own
from common.addresses.networks import parse_address
from common.storage import durable
from host import local_name
from host.tls import authority, context
from host.tls.authority import Authority
from webui import owner_settings

log = logging.getLogger("ferry.tls")


def load_authority() -> Authority:
    # Names of owners may change at any time, and an authority lasts for years.
    names = [*own.names(), *settings.TRUSTED_HOSTS]
    return authority.load_or_make(context.folder(), names, timezone.now())


def renew(now: datetime) -> None:
    """Make a certificate if there is none, if it ends soon, or if this machine has a new name."""
    if not settings.HTTPS_PORT or settings.TLS_CERT:
        return
    home = load_authority()
    hosts = [
        local_name.current(),
        *own.names(),
        *settings.TRUSTED_HOSTS,
        *owner_settings.host_names(),
    ]
    names = list(filter(home.permits, authority.names_for(hosts)))
    path, _key = context.files()
    if path.exists() and authority.is_good(path.read_bytes(), home, names, now):
        return
    with durable.replacing(path, by_many=True) as draft:
        draft.write_bytes(home.sign(names, now))
    log.info("made a certificate names=%s", ",".join(str(name.value) for name in names))


def renew_or_log() -> None:
    """Renew before Ferry starts; without a certificate, Ferry continues with http."""
    try:
        renew(timezone.now())
    except (OSError, ValueError) as trouble:
        log.error("https: there is no certificate: %s", trouble)  # noqa: TRY400  One line will do.


def root() -> bytes | None:
    """Return the certificate that devices import, in DER; None if the owner brought another."""
    if settings.TLS_CERT:
        return None
    try:
        return load_authority().root.public_bytes(Encoding.DER)
    except (OSError, ValueError):
        return None


def best_host(host: str) -> str:
    """Return a host of this machine that the certificate names: the same one if possible."""
    if settings.TLS_CERT:
        return host
    names = named_in(context.files()[0])
    usable = [local_name.current(), *map(str, own.lan()), *own.names()]
    return host if host.strip("[]") in names else next(filter(names.__contains__, usable), host)


def named_in(path: Path) -> set[str]:
    try:
        leaf = x509.load_pem_x509_certificates(path.read_bytes())[0]
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return set()
    return {str(parse_address(str(each.value)) or each.value) for each in names}
