"""Web Push: encrypt what only one browser can read (RFC 8291), and sign who sends it (RFC 8292)."""

import base64
import json
import os
from functools import cache
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

# Every text has this size, so that its length reveals nothing to the push service.
TEXT_BYTES = 3000
RECORD_BYTES = 4096
AUTH_BYTES = 16
TOKEN_SECONDS = 12 * 3600
# Apple's push service takes no address that isn't https or mailto, nor one on localhost.
UNKNOWN_SENDER = "mailto:ferry@ferry.example"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def public_key() -> str:
    """Return the key that browsers bind their subscriptions to."""
    return encode(point_of(_own_key(settings.SECRET_KEY)))


@cache
def _own_key(secret: str) -> ec.EllipticCurvePrivateKey:
    """Derive the key, so that all machines have the same one, and no file holds it."""
    stretched = derive(secret.encode(), b"", b"ferry web push", 48)
    number = int.from_bytes(stretched, "big") % (ORDER - 1) + 1
    return ec.derive_private_key(number, ec.SECP256R1())


def authorization(endpoint: str, page_url: str, now: float) -> str:
    """Return the header that says who sends, for this push service and half a day."""
    key, parts, page = _own_key(settings.SECRET_KEY), urlsplit(endpoint), urlsplit(page_url)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(now) + TOKEN_SECONDS,
        "sub": page_url if page.scheme == "https" else UNKNOWN_SENDER,
    }
    words = [json.dumps(each).encode() for each in ({"typ": "JWT", "alg": "ES256"}, claims)]
    text = ".".join(map(encode, words))
    r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
    signature = encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={text}.{signature}, k={public_key()}"


def encrypt(text: bytes, browser_key: str, auth: str) -> bytes:
    """Return the body of a push message. Raises ValueError if a key isn't one."""
    padded = text + b"\x02" + bytes(TEXT_BYTES - len(text))
    return seal(padded, browser_key, auth, ec.generate_private_key(ec.SECP256R1()), os.urandom(16))


def seal(
    padded: bytes, browser_key: str, auth: str, key: ec.EllipticCurvePrivateKey, salt: bytes
) -> bytes:
    theirs, ours = decode(browser_key), point_of(key)
    their_key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
    secret = key.exchange(ec.ECDH(), their_key)
    shared = derive(secret, decode(auth), b"WebPush: info\0" + theirs + ours, 32)
    content_key = derive(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derive(shared, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(ours)]) + ours
    return header + AESGCM(content_key).encrypt(nonce, padded, None)


def check_keys(browser_key: str, auth: str) -> None:
    """Raise ValueError unless a browser can have sent these."""
    if len(decode(auth)) != AUTH_BYTES:
        raise ValueError
    encrypt(b"", browser_key, auth)


def derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
