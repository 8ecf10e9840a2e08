"""Request a file from a server, and follow its redirects."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpcore
import httpx

from service.details import Details, Kind
from service.fetching.errors import (
    MOST_TRIES,
    MOST_TRIES_OF_NAMES,
    PermanentFailure,
    TemporaryFailure,
)
from service.fetching.http.wire import NoSuchHost

MOST_REDIRECTS = 10
LONGEST_ADDRESS = 8 * 1024
REDIRECTS = (301, 302, 303, 307, 308)
# Some programs read a backslash as a slash, and others don't.
CONFUSING = re.compile(r"[\x00-\x1f\x7f\\]")
MAGNET = re.compile(r"magnet:\?[^\x00-\x1f\x7f]+", re.IGNORECASE)
HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "Ferry"}
# The first match counts.
TROUBLES: tuple[tuple[type[Exception], Kind], ...] = (
    (httpcore.TimeoutException, "timeout"),
    (NoSuchHost, "no_such_host"),
    (httpcore.ConnectError, "unreachable"),
    (httpcore.NetworkError, "connection_lost"),
    (httpcore.ProtocolError, "bad_response"),
)


def ask(
    transport: httpx.BaseTransport, address: str, headers: Mapping[str, str]
) -> httpx.Response | str:
    """Follow redirects, and return an open response, or the magnet link that they lead to."""
    cookies = httpx.Cookies()
    url = check_url(address, httpx.URL())
    for _ in range(MOST_REDIRECTS + 1):
        answer = send(transport, url, headers, cookies)
        location = str(answer.headers.get("location", "")).strip()
        if answer.status_code not in REDIRECTS or not location:
            return answer
        answer.close()
        if MAGNET.fullmatch(location):
            return location
        url = check_url(location, url)
    raise PermanentFailure(Details("too_many_redirects", limit=MOST_REDIRECTS))


def check_url(address: str, base: httpx.URL) -> httpx.URL:
    """Check the form of a URL; its IP address is checked when connecting."""
    if len(address) > LONGEST_ADDRESS or CONFUSING.search(address):
        raise PermanentFailure(Details("address_unreadable"), "address_refused")
    try:
        url = base.join(address).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise PermanentFailure(Details("address_unreadable"), "address_refused") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise PermanentFailure(Details("address_scheme"), "address_refused")
    if url.userinfo:
        raise PermanentFailure(Details("address_password"), "address_refused")
    return url


def send(
    transport: httpx.BaseTransport,
    url: httpx.URL,
    headers: Mapping[str, str],
    cookies: httpx.Cookies,
) -> httpx.Response:
    """Send a request with earlier cookies: some servers set one with a redirect and require it."""
    request = httpx.Request("GET", url, headers={**HEADERS, **headers})
    cookies.set_cookie_header(request)
    answer = transport.handle_request(request)
    cookies.extract_cookies(answer)
    return answer


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors into our own kinds, since the libraries' messages may contain addresses."""
    try:
        yield
    except tuple(error_type for error_type, _ in TROUBLES) as error:
        kind = next(kind for error_type, kind in TROUBLES if isinstance(error, error_type))
        most_tries = MOST_TRIES_OF_NAMES if isinstance(error, NoSuchHost) else MOST_TRIES
        raise TemporaryFailure(Details(kind), most_tries=most_tries) from error
