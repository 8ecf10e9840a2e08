"""A service made of a list of answers, and a clock that advances only when a test says so."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from webui.v1.client import Client
from webui.v1.network.address import Credentials

BASE_URL = "https://service.example"
PASSWORD = "kelp-and-tide-91"
ALICE = Credentials("alice@example.org", PASSWORD)
NOON = datetime(2026, 8, 31, 12, 0, tzinfo=UTC)
SAMPLES = Path(__file__).resolve().parents[2] / "samples"

Answering = Callable[[httpx.Request], httpx.Response]


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses = []

    def __call__(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)


@dataclass
class Service:
    """A service that gives its answers in order, repeats the last one, and records requests."""

    answers: list
    seen: list = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.seen.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, **options) -> Client:
        options = {"clock": self.clock, "sleep": self.clock.sleep, "now": self.clock.now} | options
        return Client(BASE_URL, ALICE, transport=httpx.MockTransport(self), **options)

    @property
    def calls(self) -> list[str]:
        return [f"{request.method} {request.url.raw_path.decode()}" for request in self.seen]


def service(*answers) -> Service:
    return Service(list(answers))


def routes(table: dict[str, httpx.Response], missing: Answering | None = None) -> Service:
    """Return a service that answers only these `METHOD /path`."""
    fallback = missing or (lambda request: page(404))
    return service(
        lambda request: (
            table[f"{request.method} {request.url.path}"]
            if f"{request.method} {request.url.path}" in table
            else fallback(request)
        )
    )


def sample(name: str) -> dict:
    return json.loads((SAMPLES / name).read_text())


def says(body: object = None, status: int = 200, **headers: str) -> httpx.Response:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx.Response(status, json={"result": True} if body is None else body, headers=named)


def page(status: int = 200, **headers: str) -> httpx.Response:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx.Response(status, html="<h1>Hello</h1>", headers=named)


def refuses(status: int, word: str) -> httpx.Response:
    return says({"status_code": status, "reason_phrase": word}, status)


def form_of(request: httpx.Request) -> dict[str, str]:
    return dict(httpx.QueryParams(request.content.decode()))
