"""Request a file from a server, and follow its redirects."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpcore
import httpx

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
TROUBLES: tuple[tuple[type[Exception], str], ...] = (
    (httpcore.TimeoutException, "The server stopped responding."),
    (NoSuchHost, "Ferry couldn't find a server with this name."),
    (httpcore.ConnectError, "Ferry can't reach the server."),
    (httpcore.NetworkError, "The connection was lost."),
    (httpcore.ProtocolError, "The server's response was incomplete or invalid."),
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
    raise PermanentFailure(f"The address redirects more than {MOST_REDIRECTS} times.")


def check_url(address: str, base: httpx.URL) -> httpx.URL:
    """Check the form of a URL; its IP address is checked when connecting."""
    if len(address) > LONGEST_ADDRESS or CONFUSING.search(address):
        raise PermanentFailure("The address can't be read.", "address_refused")
    try:
        url = base.join(address).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise PermanentFailure("The address can't be read.", "address_refused") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise PermanentFailure("Only http and https addresses are fetched.", "address_refused")
    if url.userinfo:
        raise PermanentFailure(
            "Addresses with a name or password in them aren't fetched.", "address_refused"
        )
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
    """Translate errors into our own words, since the libraries' messages may contain addresses."""
    try:
        yield
    except tuple(kind for kind, _ in TROUBLES) as error:
        words = next(words for kind, words in TROUBLES if isinstance(error, kind))
        most_tries = MOST_TRIES_OF_NAMES if isinstance(error, NoSuchHost) else MOST_TRIES
        raise TemporaryFailure(words, most_tries=most_tries) from error
