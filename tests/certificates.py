"""Make two certificates: an untrusted one, and one for a proxy that its test trusts."""

import ipaddress
import ssl
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def self_signed(folder: Path) -> ssl.SSLContext:
    """Return a context whose certificate names the right address: only its signature is wrong."""
    certificate, key = made("127.0.0.1", x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    path = folder / "both.pem"
    path.write_bytes(key + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def trusted(folder: Path, host: str) -> ssl.SSLContext:
    """Write `front.crt` and `front.key` for this host; return a context that trusts them."""
    certificate, key = made(host, x509.DNSName(host))
    (folder / "front.crt").write_bytes(certificate)
    (folder / "front.key").write_bytes(key)
    return ssl.create_default_context(cadata=certificate.decode())


def key_mark(folder: Path) -> str:
    """Return the hash of `front.crt`'s public key, in the form that Chromium's option takes."""
    certificate = x509.load_pem_x509_certificate((folder / "front.crt").read_bytes())
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    key = certificate.public_key().public_bytes(serialization.Encoding.DER, form)
    return b64encode(sha256(key).digest()).decode()


def made(name: str, subject: x509.GeneralName) -> tuple[bytes, bytes]:
    """Return a certificate and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([subject]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    return certificate.public_bytes(pem), secret
