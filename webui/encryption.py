"""Encrypt secrets at rest with keys derived from SECRET_KEY.

Each purpose has its own key, so that a secret of one can't be used for another.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotDecrypt(Exception):  # noqa: N818  Errors are nouns here.
    """The text was encrypted with another key, or has changed since."""


def encrypt(text: str, purpose: str = "connection") -> str:
    return _fernet(purpose).encrypt(text.encode()).decode()


def decrypt(encrypted: str, purpose: str = "connection") -> str:
    try:
        return _fernet(purpose).decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise CannotDecrypt from error


def _fernet(purpose: str) -> Fernet:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"ferry {purpose}".encode())
    return Fernet(base64.urlsafe_b64encode(derive.derive(settings.SECRET_KEY.encode())))
