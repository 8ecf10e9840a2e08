"""A browser with its push service, which decrypts by RFC 8291, without Ferry's code."""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

AUTH = b"sixteen bytes ok"


def text_of(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def bytes_of(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._point = self._key.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )

    def form(self, url: str) -> dict[str, str]:
        return {"url": url, "key": text_of(self._point), "auth": text_of(AUTH)}

    def read(self, body: bytes) -> dict[str, Any]:
        """Decrypt a message, with HKDF in its two steps."""
        salt, length, sender, sealed = body[:16], body[20], body[21:86], body[86:]
        assert (int.from_bytes(body[16:20], "big"), length) == (4096, 65)
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = hmac.digest(AUTH, self._key.exchange(ec.ECDH(), theirs), "sha256")
        info = b"WebPush: info\0" + self._point + sender
        root = hmac.digest(salt, hmac.digest(shared, info + b"\1", "sha256"), "sha256")
        key = hmac.digest(root, b"Content-Encoding: aes128gcm\0\1", "sha256")[:16]
        nonce = hmac.digest(root, b"Content-Encoding: nonce\0\1", "sha256")[:12]
        text, mark, _padding = AESGCM(key).decrypt(nonce, sealed, None).rpartition(b"\2")
        assert mark
        return json.loads(text)


def is_signed(header: str) -> dict[str, Any]:
    """Return the claims of an Authorization header. Raises InvalidSignature."""
    token, key = header.removeprefix("vapid t=").split(", k=")
    signed, _dot, signature = token.rpartition(".")
    raw = bytes_of(signature)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes_of(key))
    public.verify(encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))
    return json.loads(bytes_of(signed.split(".")[1]))
