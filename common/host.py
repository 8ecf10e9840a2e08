"""What the two halves ask of the program that runs them; config/wiring.py says what answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from common.health import Finding, Report

if TYPE_CHECKING:
    import httpx
    from django.http import HttpRequest


class HealthReport(Protocol):
    def __call__(self, *, is_brief: bool = False) -> Report:
        """Return the report; a brief one leaves out what may take seconds."""


@dataclass(frozen=True)
class EmbeddedService:
    """The service in this process: how the site calls v1 there, and what only it can do."""

    account: str
    transport: Callable[["HttpRequest | None"], "httpx.BaseTransport"]
    credentials: Callable[[], tuple[str, str]]
    set_password: Callable[[str | None], None]
    set_space: Callable[[int], None]
    end_links: Callable[[], None]


@dataclass(frozen=True)
class Https:
    """Ferry's own https: its port, if it has one, and the certificate that devices import."""

    port: Callable[[], int | None]
    best_host: Callable[[str], str]
    root: Callable[[], bytes | None]


@dataclass(frozen=True)
class Host:
    embedded: EmbeddedService
    https: Https
    # The name by which devices in the home find Ferry; "" if there is none.
    local_name: Callable[[], str]
    report_health: HealthReport
    find_library_trouble: Callable[[], Finding | None]
    # Owners change some settings on the site; this returns the value that applies now.
    find_setting: Callable[[str], Any]
    # Whether a request for v1 has a token of the site. Raises v1's refusal if it doesn't open v1.
    admit_to_v1: Callable[["HttpRequest"], bool]


_make: Callable[[], Host] | None = None


def run_on(make: Callable[[], Host]) -> None:
    """Say how to make the host when it is first asked: many commands never ask it."""
    global _make  # noqa: PLW0603  One for the whole process.
    _make = cache(make)


def host() -> Host:
    if _make is None:
        raise RuntimeError("Django's apps aren't ready")
    return _make()
