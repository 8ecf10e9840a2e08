"""A bucket of an S3 store: its address, its keys, and signed URLs."""

import hmac
from collections.abc import Mapping
from configparser import ConfigParser
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
NO_BUCKET = "The URL names no bucket, or more than a bucket, a prefix, and an endpoint"


@dataclass(frozen=True)
class Bucket:
    endpoint: str
    name: str
    prefix: str
    region: str
    key_id: str
    secret: str = field(repr=False)
    token: str = field(repr=False, default="")

    @classmethod
    def of(cls, url: str, environment: Mapping[str, str]) -> Self:
        """Return the bucket of `s3://bucket/prefix?endpoint=https://host`.

        Its keys are in the variables that all S3 clients read, or in the file that these name.
        Raises ValueError, KeyError.
        """
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        region = region or "us-east-1"
        endpoint = options.pop("endpoint", f"https://s3.{region}.amazonaws.com")
        host = urlsplit(endpoint)
        if parts.scheme != "s3" or not parts.netloc or options or not host.netloc:
            raise ValueError(NO_BUCKET)
        if host.scheme not in ("http", "https") or host.path.strip("/") or host.query:
            raise ValueError(NO_BUCKET)
        keys = _keys_of(environment)
        return cls(endpoint.rstrip("/"), parts.netloc, parts.path.strip("/"), region, *keys)

    def sign(
        self,
        method: str,
        key: str,
        seconds: int,
        query: Mapping[str, str] | None = None,
        *,
        endpoint: str = "",
    ) -> str:
        """Return a URL that allows one request to an object, or without a key, to the bucket."""
        base = endpoint or self.endpoint
        now = datetime.now(UTC)
        scope = f"{now:%Y%m%d}/{self.region}/s3/aws4_request"
        path = quote("/".join(filter(None, [self.name, self.prefix, key])) if key else self.name)
        signed = dict(query or {}) | {
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self.key_id}/{scope}",
            "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        signed |= {"X-Amz-Security-Token": self.token} if self.token else {}
        words = urlencode(sorted(signed.items()), quote_via=quote, safe="")
        host = urlsplit(base).netloc
        request = f"{method}\n/{path}\n{words}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
        digest = sha256(request.encode()).hexdigest()
        text = f"{ALGORITHM}\n{signed['X-Amz-Date']}\n{scope}\n{digest}"
        key_of_day = f"AWS4{self.secret}".encode()
        for word in scope.split("/"):
            key_of_day = hmac.digest(key_of_day, word.encode(), "sha256")
        signature = hmac.digest(key_of_day, text.encode(), "sha256").hex()
        return f"{base}/{path}?{words}&X-Amz-Signature={signature}"


def _keys_of(environment: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the id, the secret, and the token, if any. Raises ValueError, KeyError."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    if not environment.get(names[0]) and (path := environment.get("AWS_SHARED_CREDENTIALS_FILE")):
        file = ConfigParser(interpolation=None)
        file.read(path)
        section = file[environment.get("AWS_PROFILE", "default")]
        environment = {name: section.get(name, "") for name in names}
    key_id, secret, token = (environment.get(name, "") for name in names)
    if not key_id or not secret:
        raise ValueError("There are no keys")
    return key_id, secret, token
