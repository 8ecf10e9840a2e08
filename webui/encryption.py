"""Encrypt secrets at rest with a key derived from SECRET_KEY."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotDecrypt(Exception):  # noqa: N818  Errors are nouns here.
    """The text was encrypted with another key, or has changed since."""


def encrypt(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise CannotDecrypt from error


def _fernet() -> Fernet:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"ferry connection")
    return Fernet(base64.urlsafe_b64encode(derive.derive(settings.SECRET_KEY.encode())))
