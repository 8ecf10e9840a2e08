"""Decide which proxies to trust, and which host names are ours."""

import logging
import re
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponseBase
from django.http.request import split_domain_port

from common.addresses import own as addresses
from common.addresses.networks import Address, parse_address
from common.http import request_ids
from host import local_name
from webui import owner_settings
from webui.errors import answers as error_answers
from webui.http.requests import Answer, middleware

log = logging.getLogger("ferry.front")


def believe_proxy(environ: dict[str, Any]) -> None:
    """Take a request's ID, address, scheme, and host from the headers of a trusted proxy.

    Drop these headers from anyone else, so that nothing behind this can be misled. Calls within
    this process don't come here: they keep what the request has for which they are made.
    """
    request_id = environ.pop("HTTP_X_REQUEST_ID", "")
    client, scheme, host = (
        environ.pop(f"HTTP_X_FORWARDED_{name}", "") for name in ("FOR", "PROTO", "HOST")
    )
    peer = parse_address(environ.get("REMOTE_ADDR", ""))
    if is_trusted(peer):
        environ["REMOTE_ADDR"] = nearest_stranger(client, str(peer))
        if scheme in ("http", "https"):
            environ["wsgi.url_scheme"] = scheme
        if host:
            environ["HTTP_HOST"] = host
    else:
        request_id = ""
    request_ids.begin(request_id)


def nearest_stranger(forwarded_for: str, peer: str) -> str:
    """Return the last address in the chain that isn't a trusted proxy's."""
    for word in reversed(forwarded_for.split(",")):
        address = parse_address(without_port(word.strip()))
        if address is None:
            break
        peer = str(address)
        if not is_trusted(address):
            break
    return peer


def without_port(text: str) -> str:
    """Remove the port: some proxies write `192.0.2.1:5678` and `[2001:db8::1]:5678`."""
    match = re.fullmatch(r"([\d.]+|\[.*\]):\d+", text)
    return match[1] if match else text


def is_trusted(address: Address | None) -> bool:
    return address is not None and any(address in each for each in settings.TRUSTED_PROXIES)


@middleware
def refuse_foreign_host(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Guard against DNS rebinding: refuse strangers' host names that resolve to this machine."""
    host = request.META.get("HTTP_HOST", "")
    if not is_ours(host):
        log.warning("refused host=%r address=%s", host[:100], request.META.get("REMOTE_ADDR"))
        return error_answers.foreign_host(request)
    return get_response(request)


def is_ours(host: str) -> bool:
    """Return whether a host is ours, parsed as Django does so that both accept the same."""
    name, _port = split_domain_port(host)
    if name in ("localhost", *settings.TRUSTED_HOSTS) or name in addresses.names():
        return True
    if name.endswith(".local") and name == local_name.current():
        return True
    if any(ours.startswith(".") and name.endswith(ours) for ours in settings.TRUSTED_HOSTS):
        return True
    address = parse_address(name)
    if address is not None and (address.is_loopback or address in addresses.own_addresses):
        return True
    return bool(name) and name in owners_names()


_owners_names: list[str] = []


def owners_names() -> list[str]:
    """Return the names that owners added, or those last read while the database is away."""
    global _owners_names  # noqa: PLW0603  One for the whole process.
    with suppress(DatabaseError):
        _owners_names = owner_settings.host_names()
    return _owners_names
