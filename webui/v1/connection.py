"""Send requests: to which host, how often, for how long, and in which form."""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import inf
from typing import Literal, Self, TypeVar

import httpx

from webui.v1 import answers, links, records
from webui.v1.answers import Answer
from webui.v1.calls import Call
from webui.v1.dialect import KEPT, Dialect, Naming
from webui.v1.errors import (
    Failure,
    Forbidden,
    Rejected,
    TooMany,
    Unauthorized,
    Unavailable,
    Unreadable,
)
from webui.v1.links import Download, Link, LinkCheck
from webui.v1.network import sockets as network
from webui.v1.network.address import Address, Credentials
from webui.v1.network.sockets import AddressCheck, Deadline, Network
from webui.v1.records import Playable

Value = TypeVar("Value")
Outcome = Answer | Download | str
Send = Callable[[Call, Deadline], Outcome]

RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})
# By these, a service says that it did nothing.
NOT_READY = frozenset({408, 425, 501, 503})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
CONTENT = frozenset({200, 206, 304, 416})
PLAYLIST_BEGINS = (b"#EXTM3U", b"\xef\xbb\xbf#EXTM3U")
UNHEALTHY = (Unavailable, Unauthorized, Forbidden, TooMany)
JSON_HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip"}
MOST_REDIRECTS = 5
# A service whose session has expired leads there instead of to the file.
SIGN_IN = re.compile(r"/(sign|log)[-_]?in/?$", re.IGNORECASE)
# Sent with listings by a service that puts added items into the folder that `folder_id` names.
KEEPS_HEADER = "Ferry-Keeps"
API_POOL = httpx.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=5)
STREAM_POOL = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=5)

# Both log whole URLs, and a signed link is a secret.
for chatty in ("httpx", "httpcore"):
    logging.getLogger(chatty).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the client waits, and how much it accepts, before it gives up."""

    call_seconds: float = 20.0
    add_seconds: float = 45.0
    connect_seconds: float = 5.0
    idle_seconds: float = 15.0
    stream_idle_seconds: float = 60.0
    slowest_upload_bytes_per_second: int = 32 * 1024
    pauses_seconds: tuple[float, ...] = (0.2, 0.8)
    most_answer_bytes: int = 96 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Health:
    """How the last calls went. `last_error` is the reason of a failure, or None if all is well.

    `last_failure` is its class: the reason alone doesn't distinguish wrong credentials from a
    service that is down.
    """

    last_ok_at: datetime | None = None
    last_error_at: datetime | None = None
    last_error: str | None = None
    latency_seconds: float | None = None
    last_failure: type[Failure] | None = None


class ServiceConnection:
    """One service, reached from any number of threads, and what is known about it.

    `may_follow` decides about each link of a foreign service to another host before the link is
    returned or followed, and `may_connect(host, address)` about each address from which bytes of
    such a host are fetched. `on_wait` is called before each call, and `on_decision` when the
    dialect grows. `request_id` returns the ID to send with a call, and `on_call` gets the seconds
    that it took and its failure. Credentials and the ID go only to the service's own /rest paths.
    """

    def __init__(  # noqa: PLR0913  Everything that a test or another program may want to replace.
        self,
        base_url: str,
        credentials: Credentials | None,
        *,
        transport: httpx.BaseTransport | None = None,
        naming: Naming | Literal["auto"] = "auto",
        dialect: Dialect | None = None,
        on_decision: Callable[[Dialect], None] = lambda _dialect: None,
        is_ours: bool = False,
        may_follow: LinkCheck = lambda _url: True,
        may_connect: AddressCheck | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[], None] = lambda: None,
        request_id: Callable[[], str] = str,
        on_call: Callable[[float, Failure | None], None] = lambda _seconds, _failure: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        dialect = Dialect.ours() if is_ours else (dialect or Dialect())
        self.address = Address(base_url)
        self.dialect = dialect if naming == "auto" else replace(dialect, naming=naming)
        self.is_ours = is_ours
        self.health = Health()
        self._on_decision = on_decision
        self._on_wait, self._request_id, self._on_call = on_wait, request_id, on_call
        self._lock = threading.Lock()
        self._token = credentials.token if credentials else ""
        self._secrets = credentials.spellings if credentials else ()
        self._may_follow = may_follow
        self._patience = patience or Patience()
        self._clock, self._sleep, self._now = clock, sleep, now
        streams = transport or Network(STREAM_POOL, may_connect, self.address.origin[1:])
        self._api = self._make_client(transport or Network(API_POOL), self._patience.idle_seconds)
        self._streams = self._make_client(streams, self._patience.stream_idle_seconds)

    def _make_client(self, transport: httpx.BaseTransport, idle_seconds: float) -> httpx.Client:
        timeout = httpx.Timeout(idle_seconds, connect=self._patience.connect_seconds)
        return httpx.Client(
            transport=transport,
            timeout=timeout,
            headers={"User-Agent": "Ferry"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
            follow_redirects=False,
        )

    def close(self) -> None:
        self._api.close()
        self._streams.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.address.base_url}>"

    def ask(self, forms: Sequence[Call], read: Callable[[Answer], Value | None]) -> Value:
        """Return what `read` makes of a JSON response that passed v1's rules."""
        with self._record_health(), note_outcome(forms[0]):
            outcome = self._send_known_form(forms, self._request_answer)
            if not isinstance(outcome, Answer):
                raise Unreadable("not_v1")
            self._check(outcome, is_question=not forms[0].changes)
            if outcome.headers.get(KEEPS_HEADER) == "folder_id":
                self._learn({"folder_id": KEPT})
            value = read(outcome)
            if value is None:
                raise Unreadable("not_v1")
            return value

    def fetch(
        self, forms: Sequence[Call], headers: Mapping[str, str] | None = None
    ) -> Link | Download:
        """Return a permitted link elsewhere, or the bytes if the service sends them itself."""
        with self._record_health():
            outcome = self._send_known_form(forms, self._sending(headers))
            if isinstance(outcome, Answer):
                self._check(outcome)
                raise Unreadable("not_v1", status=outcome.status)
            return Link(outcome, self.is_ours) if isinstance(outcome, str) else outcome

    def locate(self, call: Call) -> Playable:
        """Locate a film. Services answer in JSON, by a redirect, or with the playlist itself."""
        with self._record_health():
            outcome = self._send_known_form([call], self._sending(None))
            if isinstance(outcome, str):
                return Playable(outcome)
            if isinstance(outcome, Download):
                raw = self.whole(outcome, answers.MOST_PLAYLIST_BYTES)
                if raw.startswith(PLAYLIST_BEGINS):
                    return Playable()
                outcome = Answer(outcome.status, httpx.Headers(), answers.decode(raw))
            self._check(outcome)
        playable = records.playable(outcome.body or {})
        if playable is None:
            raise Unreadable("not_v1")
        return playable

    def _sending(self, headers: Mapping[str, str] | None) -> Send:
        def send(call: Call, deadline: Deadline) -> Outcome:
            url = self.address.url_of(call.path, call.query)
            request = self._request(self._streams, call.method, url, bytes_headers(headers), call)
            return self._follow_redirects(request, deadline, stop_elsewhere=True)

        return send

    def open(
        self,
        source: Link | Download | str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        *,
        insists: bool = True,
    ) -> Download:
        """Open the bytes behind a link, for what the site streams itself. Each redirect is checked.

        Without `insists`, don't wait for a busy service. Bytes that came without a link are open.
        """
        if isinstance(source, Download):
            return source
        url = links.resolve(source if isinstance(source, str) else source.url)

        def send(call: Call, deadline: Deadline) -> Outcome:
            request = self._request(
                self._streams, call.method, self._check_url(url), bytes_headers(headers)
            )
            return self._follow_redirects(request, deadline, stop_elsewhere=False)

        outcome = self._send_with_retries(Call(method, "", may_repeat=insists), send)
        if isinstance(outcome, Answer):
            self._check(outcome if self.address.is_api(url) else _judge_link(outcome))
        if not isinstance(outcome, Download):
            raise Unreadable("not_v1")
        return outcome

    def whole(self, source: Link | Download, most_bytes: int) -> bytes:
        """Return all bytes of something small; raise `Unreadable("too_large")` if it isn't.

        Read them within the time of one call, then close the download in any case.
        """
        download = self.open(source)
        deadline = Deadline(self._clock, self._patience.call_seconds)
        with deadline.apply(), download:
            return answers.read_small(download, deadline, most_bytes)

    def check_message(self, download: Download) -> None:
        """Raise the refusal that a service sent in place of bytes, if it is one."""
        raw = self.whole(download, answers.MOST_ERROR_BYTES)
        self._check(Answer(download.status, httpx.Headers(), answers.decode(raw)))

    def _send_known_form(self, forms: Sequence[Call], send: Send) -> Outcome:
        """Return the response to the first form that the service knows, and remember that form."""
        *earlier, last = forms
        for call in earlier:
            outcome = self._send_with_retries(call, send)
            if not _is_unknown(outcome, call):
                self._decide(call, outcome, is_proven=False)
                return outcome
        outcome = self._send_with_retries(last, send)
        self._decide(last, outcome, is_proven=bool(earlier))
        return outcome

    def _decide(self, call: Call, outcome: Outcome, *, is_proven: bool) -> None:
        """Remember a form. `is_proven`: the service doesn't know the other, so a 404 means gone."""
        if isinstance(outcome, Answer):
            refused = outcome.status in (401, 403, 405, 429) or outcome.status >= 500
            unclear = outcome.status == 404 and not is_proven
            if not outcome.is_own or refused or unclear:
                return
        self._learn(call.decides)

    def _learn(self, decided: Mapping[str, str]) -> None:
        if all(getattr(self.dialect, name) for name in decided):
            return  # A decision stands.
        with self._lock:
            before, self.dialect = self.dialect, self.dialect.with_decision(decided)
            if self.dialect != before:
                self._on_decision(self.dialect)

    def _send_with_retries(self, call: Call, send: Send) -> Outcome:
        """Send a call, and repeat it if that is allowed and useful.

        Repeat it at most as often as there are pauses, and never beyond the deadline. Never send an
        add again that may have arrived.
        """
        self._on_wait()
        deadline = Deadline(self._clock, self._seconds_for(call))
        pauses = iter(self._patience.pauses_seconds)
        may_be_done = False
        while True:
            try:
                outcome = send(call, deadline)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                was_never_sent = network.was_never_sent(error)
                may_repeat = was_never_sent or (call.may_repeat and network.is_retryable(error))
                may_be_done = may_be_done or not was_never_sent
                if not may_repeat or not self._pause(next(pauses, None), deadline):
                    raise network.failure_of(error, was_sent=may_be_done) from error
                continue
            if not isinstance(outcome, Answer):
                return outcome
            if call.removes and may_be_done and outcome.status == 404:
                return replace(outcome, status=200, body={})
            if not call.may_repeat or outcome.status not in RETRYABLE_STATUSES:
                return outcome
            pause = next(pauses, None)
            wait = answers.retry_after_of(outcome.headers, self._now())
            if not self._pause(pause if wait is None or pause is None else wait, deadline):
                return outcome
            may_be_done = may_be_done or outcome.status != 429

    def _pause(self, seconds: float | None, deadline: Deadline) -> bool:
        if seconds is None or seconds >= deadline.remaining():
            return False
        self._sleep(seconds)
        return True

    def _seconds_for(self, call: Call) -> float:
        patience = self._patience
        if call.seconds is not None:
            return call.seconds
        if call.upload is not None:
            size_bytes = inf if call.upload.size_bytes is None else call.upload.size_bytes
            return patience.add_seconds + size_bytes / patience.slowest_upload_bytes_per_second
        return patience.add_seconds if call.is_add else patience.call_seconds

    def _request_answer(self, call: Call, deadline: Deadline) -> Answer:
        url = self.address.url_of(call.path, call.query)
        request = self._request(self._api, call.method, url, {**JSON_HEADERS, **call.headers}, call)
        with deadline.apply(), closing(self._api.send(request, stream=True)) as response:
            most_bytes = self._patience.most_answer_bytes
            return answers.read(response, deadline, most_bytes, call.row_keys)

    def _follow_redirects(
        self, request: httpx.Request, deadline: Deadline, *, stop_elsewhere: bool
    ) -> Outcome:
        """Follow redirects. With `stop_elsewhere`, return the first URL outside the API instead."""
        for _hop in range(MOST_REDIRECTS):
            with deadline.apply():
                response = self._streams.send(request, stream=True)
            if response.status_code in CONTENT:
                return Download(response)
            if response.status_code not in REDIRECTS:
                with deadline.apply(), closing(response):
                    return answers.read(response, deadline, answers.MOST_ERROR_BYTES)
            response.close()
            url = self._check_url(links.resolve(response.headers.get("Location", ""), request.url))
            if stop_elsewhere and not self.address.is_api(url):
                if url.host == request.url.host and SIGN_IN.search(url.path):
                    raise Unreadable("redirected", status=response.status_code)
                return str(url)
            method = "HEAD" if request.method == "HEAD" else "GET"
            request = self._request(self._streams, method, url, bytes_headers(request.headers))
        raise Unreadable("too_many_redirects")

    def _request(
        self,
        client: httpx.Client,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        call: Call | None = None,
    ) -> httpx.Request:
        """Build a request. Only this method adds the credentials, and only within the API."""
        content = call.content() if call else None
        headers = {**(call.content_headers() if call else {}), **headers}
        request = client.build_request(method, url, headers=headers, content=content)
        if self.address.is_api(url):
            if self._token:
                request.headers["Authorization"] = f"Basic {self._token}"
            if request_id := self._request_id():
                request.headers["X-Request-Id"] = request_id
        return request

    def _check_url(self, url: httpx.URL) -> httpx.URL:
        # Our own service names its host as the browser knows it.
        if self.is_ours or self.address.is_own(url) or self._may_follow(str(url)):
            return url
        raise Unreadable("refused_link")

    def _check(self, answer: Answer, *, is_question: bool = False) -> None:
        """Raise a refusal. To a question, one with status 200 is unreadable: GETs aren't wrong."""
        try:
            answers.check(answer, self._secrets, self._now())
        except Rejected as refused:
            if not is_question or answer.status >= 400:
                raise
            raise Unreadable(
                refused.reason, status=answer.status, said=refused.said, message=refused.message
            ) from refused

    @contextmanager
    def _record_health(self) -> Iterator[None]:
        """Record how a call went. A service that only refuses the request is still well."""
        start = self._clock()
        try:
            yield
        except Failure as failure:
            self._note(self._clock() - start, failure)
            raise
        self._note(self._clock() - start, None)

    def _note(self, seconds: float, failure: Failure | None) -> None:
        if isinstance(failure, UNHEALTHY):
            self.health = replace(
                self.health,
                last_error_at=self._now(),
                last_error=failure.reason,
                last_failure=type(failure),
            )
        else:
            self.health = replace(
                self.health,
                last_ok_at=self._now(),
                last_error=None,
                last_failure=None,
                latency_seconds=seconds,
            )
        self._on_call(seconds, failure)


@contextmanager
def note_outcome(call: Call) -> Iterator[None]:
    """Note with a failure whether the service may have made the change that the call is for."""
    try:
        yield
    except Unavailable as failure:
        if call.changes and failure.was_sent and failure.status not in NOT_READY:
            failure.outcome = "unknown"
        raise


def bytes_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {"Accept": "*/*", "Accept-Encoding": "identity", **links.sent_on(headers)}


def _judge_link(answer: Answer) -> Answer:
    """Return what a failure elsewhere says about the service."""
    if answer.status in (404, 410):
        # The link is dead. That says nothing about the file, which the service lists.
        raise Unreadable("dead_link", status=answer.status)
    # A 401 says nothing about the owner's credentials, which never went there.
    return replace(answer, status=403) if answer.status == 401 else answer


def _is_unknown(outcome: Outcome, call: Call) -> bool:
    """Return whether the service lacks this path. If a path names nothing, no 404 can mean gone."""
    return isinstance(outcome, Answer) and (
        outcome.is_missing_route or (outcome.status == 404 and not call.names_something)
    )
