"""A service's address: its paths, and which hosts may see the owner's credentials."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlencode, urlsplit

import httpx

from webui.v1.errors import NotFound
from webui.v1.values import ID

API = "/rest/"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Credentials:
    """The owner's account at the service, hidden from `repr`."""

    name: str = field(repr=False)
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if ":" in self.name:
            raise ValueError("a name with a colon cannot be sent by Basic authentication")

    @property
    def token(self) -> str:
        return base64.b64encode(f"{self.name}:{self.password}".encode()).decode()

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return what a service could leak by repeating a request."""
        return self.name, self.password, self.token


class Address:
    """The base URL of one service: scheme, host and port, and perhaps a prefix."""

    def __init__(self, base_url: str) -> None:
        url = _parse(base_url)
        if url.scheme not in DEFAULT_PORTS or not url.host:
            raise ValueError("a service's address begins with http:// or https:// and a host")
        if url.userinfo or url.query or url.fragment or "?" in base_url or "#" in base_url:
            raise ValueError("a service's address has no credentials, no ? and no #")
        if "/../" in f"{unquote(urlsplit(base_url).path)}/":
            raise ValueError("a service's address has no ..")
        self._prefix = url.raw_path.decode().rstrip("/")
        self.origin = origin_of(url)
        self.base_url = f"{url.scheme}://{url.netloc.decode()}{self._prefix}"

    def url_of(self, path: str, query: Mapping[str, str]) -> httpx.URL:
        """Return the URL of a path, whose ids `checked_id` has checked: they need no quotes."""
        query_string = f"?{urlencode(query, quote_via=quote, safe=':,')}" if query else ""
        return httpx.URL(f"{self.base_url}{API}{path}{query_string}")

    def is_own(self, url: httpx.URL) -> bool:
        return origin_of(url) == self.origin

    def is_api(self, url: httpx.URL) -> bool:
        """Return whether to send credentials: signed links of the same host need none."""
        path = url.path
        is_within = path.startswith(unquote(self._prefix) + API) and ".." not in path.split("/")
        return is_within and self.is_own(url)


def checked_id(value: str) -> str:
    """Return an id, checked again: it was checked when it was read, but may come from a URL."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise NotFound("no_such_id")
    return value


def origin_of(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme, 0)


def split_service_url(url: str) -> tuple[str, Credentials | None]:
    """Split `https://me%40example.org:secret@host/prefix` into a base URL and credentials."""
    before, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    userinfo, at, host = authority.rpartition("@")
    name, _colon, password = userinfo.partition(":")
    credentials = Credentials(unquote(name), unquote(password)) if at else None
    base_url = f"{before}{separator}{host}{slash}{path}"
    return Address(base_url).base_url, credentials


def _parse(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, ValueError):
        url = None
    if url is None or any(char <= " " or char in "\\\x7f" for char in base_url):
        # Raised without a cause, whose text would repeat a URL that may contain a password.
        raise ValueError("this is no address of a service")
    return url
