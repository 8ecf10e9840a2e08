"""Send notices that wait: each once, however often Ferry is killed, and none for ever."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from django.db import close_old_connections, connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from common.storage import database_connection, row_cache
from webui.encryption import CannotDecrypt
from webui.models import Channel, Notice
from webui.notices.channels import may_send, policy
from webui.notices.messages import Message, message_of
from webui.v1.network.sockets import Deadline, Network

log = logging.getLogger("ferry.notices")

THREADS = 4
CALL_SECONDS = 10.0
# How long a channel keeps its thread while others wait for one.
TURN_SECONDS = 5
# Longer than a call: nothing else tells that the worker which claimed a notice was killed.
CLAIM = timedelta(seconds=30)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(hours=1)
LIFETIME = timedelta(days=1)
LIMITS = httpx.Limits(max_connections=THREADS, max_keepalive_connections=THREADS)
GONE, TOO_MANY = (404, 410), 429

Send = Callable[[Message], httpx.Response]


class Sender:
    """Send what is due in a few threads, which channels take in turns: slow receivers and those of
    many notices delay others by seconds."""

    def __init__(self, send: Send | None = None) -> None:
        self._send = send or post
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="notices")
        self._busy: dict[int, Future[None]] = {}
        self._is_stopping = False

    def round(self, now: datetime) -> None:
        if not row_cache.read("notices wait", has_waiting):
            return
        self._busy = {pk: each for pk, each in self._busy.items() if not each.done()}
        due = Channel.objects.filter(pk__in=find_due(now).order_by().values("channel"))
        for pk in due.exclude(pk__in=list(self._busy)).values_list("pk", flat=True):
            self._busy[pk] = self._pool.submit(self.take_turn, pk)

    def stop(self) -> None:
        """Wait for messages that are being sent; the next worker sends the rest."""
        self._is_stopping = True
        self._pool.shutdown(cancel_futures=True)

    def take_turn(self, channel_id: int) -> None:
        """Send what waits, and what comes in the meantime. The next round continues."""
        turn_ends_at = time.monotonic() + TURN_SECONDS
        try:
            skip_syncs()
            while time.monotonic() < turn_ends_at and not self._is_stopping:
                notice = find_due(timezone.now()).filter(channel=channel_id).first()
                if notice is None:
                    break
                send_one(notice.pk, self._send, timezone.now())
        except Exception:
            log.exception("notices failed")
        finally:
            close_old_connections()


def skip_syncs() -> None:
    """Let this thread's writes survive kills, but not power cuts, after which one is told again."""
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA synchronous = NORMAL")


def has_waiting() -> bool:
    return Notice.objects.filter(send_at__isnull=False).exists()


def find_due(now: datetime) -> QuerySet[Notice]:
    """Find what is due, and what waits longer than anything should: the clock was set back."""
    return Notice.objects.filter(
        is_over("send_at", now)
        & (Q(channel__resumes_at=None) | is_over("channel__resumes_at", now))
    ).order_by("pk")


def is_over(column: str, now: datetime) -> Q:
    return Q(**{f"{column}__lte": now}) | Q(**{f"{column}__gt": now + 2 * LONGEST_PAUSE})


def send_one(pk: int, send: Send, now: datetime) -> None:
    """Send a notice, unless another worker does."""
    notice = find_due(now).filter(pk=pk).select_related("channel__device").first()
    if notice is None or not claim(notice, now):
        return
    if now - notice.at > LIFETIME or not Channel.alive().filter(pk=notice.channel_id).exists():
        finish(notice)
        return
    try:
        message = message_of(notice)
        database_connection.give_back()
        response = send(message) if may_send(notice.channel.kind, message.url) else None
    except CannotDecrypt:
        notice.channel.delete()
    except Exception as error:  # noqa: BLE001  Anything may go wrong at another server.
        log.warning("notice failed host=%s: %s", notice.channel.host, type(error).__name__)
        put_off(notice, now, "no_connection")
    else:
        judge(notice, response, now)


def claim(notice: Notice, now: datetime) -> bool:
    rows = Notice.objects.filter(pk=notice.pk, send_at=notice.send_at)
    return rows.update(send_at=now + CLAIM, attempts=notice.attempts + 1) > 0


def judge(notice: Notice, response: httpx.Response | None, now: datetime) -> None:
    status, trouble = (response.status_code if response is not None else 0), ""
    if not 200 <= status < 300:
        log.warning("notice refused host=%s status=%d", notice.channel.host, status)
        if status in GONE and notice.channel.kind == Channel.Kind.DEVICE:
            notice.channel.delete()
            return
        if response is not None and (status == TOO_MANY or status >= 500):
            put_off(notice, now, "busy", pause_in(response))
            return
        trouble = "refused"
    if trouble != notice.channel.trouble:
        Channel.objects.filter(pk=notice.channel_id).update(trouble=trouble)
    finish(notice)


def pause_in(response: httpx.Response) -> timedelta:
    with suppress(ValueError, OverflowError):
        return timedelta(seconds=max(0, int(response.headers.get("Retry-After", ""))))
    return timedelta(0)


def put_off(notice: Notice, now: datetime, trouble: str, least: timedelta = timedelta(0)) -> None:
    """Let the whole channel wait, twice as long each time. A notice that was withdrawn meanwhile
    stays so."""
    pause = FIRST_PAUSE * 2 ** min(notice.attempts, 10)
    resumes_at = now + min(max(pause, least), LONGEST_PAUSE)
    Channel.objects.filter(pk=notice.channel_id).update(resumes_at=resumes_at, trouble=trouble)
    Notice.objects.filter(pk=notice.pk, send_at__isnull=False).update(send_at=resumes_at)


def finish(notice: Notice) -> None:
    Notice.objects.filter(pk=notice.pk).update(send_at=None)


def post(message: Message) -> httpx.Response:
    """Post to where people may send, without redirects, and without reading the answer's body."""
    with Deadline(time.monotonic, CALL_SECONDS).apply():
        url, headers, content = message
        with client().stream("POST", url, headers=headers, content=content) as response:
            return response


@cache
def client() -> httpx.Client:
    return httpx.Client(
        transport=Network(LIMITS, policy().may_connect),
        headers={"User-Agent": "Ferry", "Accept": "*/*"},
        # People share the client, and one's cookies aren't another's.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=CALL_SECONDS,
        trust_env=False,
    )
