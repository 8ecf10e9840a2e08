"""Fetch one URL into one folder."""

import logging
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

import httpx
from msgspec import structs

from service.details import Details
from service.fetching import resume_point
from service.fetching.errors import FetchStopped, PermanentFailure, TemporaryFailure
from service.fetching.events import FetchEvent, Head, MagnetFound, TorrentFound, Waiting
from service.fetching.http import responses
from service.fetching.http.content import PartialFile, translate_disk_errors
from service.fetching.http.requests import ask, translate_errors
from service.fetching.http.responses import ResponseFacts
from service.fetching.http.wire import Transport
from service.fetching.job import FolderJob
from service.fetching.resume_point import ResumePoint, fingerprint_of
from service.fetching.retries import Retries
from service.torrents.events import Complete

log = logging.getLogger("ferry.fetch")

MOST_TORRENT_BYTES = 10 * 2**20
# How much of the content shows whether it is a torrent file.
START_BYTES = 64
# Longer waits are reported, and let another transfer run meanwhile; shorter ones change nothing.
REPORT_SECONDS = 4.0
# How long a new rate limit may take to work.
CHANGE_SECONDS = 0.25


class Fetch(FolderJob):
    """One fetch, which runs in a thread until it ends, whatever the server does.

    attempt ──> Head sent ──> proceed ──> bytes ──> Complete
       ^                                    │
       └── wait, twice as long each time <──┘ failure (bytes stay, and the next attempt resumes)

    An attempt resumes from what is safely on disk if the server confirms that it still has the
    same content; else it starts over. `proceed` holds for one Head: other content needs another.
    Before the first attempt, it takes over what a worker of another machine had fetched.
    """

    def __init__(self, key: str, url: str, folder: Path) -> None:
        """`folder` gets the file `0` and `resume.json`."""
        super().__init__(key, folder)
        self.url = url
        self._is_restored = False
        self._head: Head | None = None
        self._furthest_bytes = 0
        self._may_be_torrent = True

    def _run(self) -> FetchEvent:
        retries = Retries()
        while True:
            try:
                if outcome := self._attempt():
                    return outcome
            except TemporaryFailure as failure:
                seconds = retries.wait_after(failure, self._furthest_bytes)
                message = "fetch waits to retry key=%s tries=%s reason=%r"
                log.info(message, self.key, retries.tries, str(failure))
                self._wait(failure, retries.tries, seconds)

    def _wait(self, failure: TemporaryFailure, tries: int, seconds: float) -> None:
        if seconds >= REPORT_SECONDS:
            details = structs.replace(failure.details, tries=tries if tries > 1 else 0)
            self._means.tell(Waiting(self.key, details, seconds))
        self._pace.pause(self._waiter, seconds)

    def _attempt(self) -> FetchEvent | None:
        """Return the outcome, or None if the response was released before `proceed` was called."""
        if self._head is not None:
            self._may_go.wait()
        self._waiter.check()
        resume = self._find_resume_point()
        if resume is not None and resume.is_complete:
            return self._reuse(resume)
        self._note(resume.safe_bytes if resume else 0)
        self._waiter.allow(self._pace.quiet_seconds)
        with closing(Transport(self._means.road, self._waiter)) as transport, translate_errors():
            answer = ask(transport, self.url, headers_for(resume))
            if isinstance(answer, str):
                return MagnetFound(self.key, answer)
            with closing(answer):
                return self._receive(answer, resume)

    def _find_resume_point(self) -> ResumePoint | None:
        resume = resume_point.read(self.folder, self.url)
        checkpoints = self._means.checkpoints
        if self._is_restored or checkpoints is None:
            return resume
        here_bytes = resume.safe_bytes if resume else 0
        checkpoints.restore(self.key, self.folder, here_bytes, self._waiter.check)
        self._is_restored = True
        return resume_point.read(self.folder, self.url)

    def _reuse(self, resume: ResumePoint) -> FetchEvent | None:
        """Report a file that another process fetched, but could no longer report."""
        if not self._may_take(head_of(self.key, resume.facts)):
            return None
        self.done_bytes = self.wanted_bytes = resume.safe_bytes
        return Complete(self.key)

    def _receive(self, answer: httpx.Response, resume: ResumePoint | None) -> FetchEvent | None:
        status = answer.status_code
        if resume is not None and status in (206, 416):
            return self._rest(answer, resume)
        if status in (200, 203):
            return self._whole(answer)
        details = Details("http_status", status=status)
        if responses.may_pass(status):
            now = self._pace.today()
            raise TemporaryFailure(details, responses.retry_after(answer.headers, now))
        raise PermanentFailure(details)

    def _rest(self, answer: httpx.Response, resume: ResumePoint) -> FetchEvent | None:
        facts = responses.facts_of_rest(answer.headers, resume.facts, resume.safe_bytes)
        if answer.status_code == 416 and is_whole(answer, resume):
            return self._store(iter(()), resume)
        if answer.status_code == 416 or facts is None:
            with translate_disk_errors():
                resume_point.forget(self.folder)
            raise TemporaryFailure(Details("content_changed"))
        return self._store(answer.iter_raw(), replace(resume, facts=facts))

    def _whole(self, answer: httpx.Response) -> FetchEvent | None:
        facts = responses.facts_of(answer)
        chunks = answer.iter_raw()
        start = self._start(chunks)
        chunks = chain([start], chunks)
        if self._may_be_torrent and responses.is_torrent(facts, start, MOST_TORRENT_BYTES):
            return self._torrent(chunks, facts)
        return self._store(chunks, ResumePoint(fingerprint_of(self.url), facts))

    def _start(self, chunks: Iterator[bytes]) -> bytes:
        start = b""
        for chunk in chunks:
            self._waiter.allow(self._pace.quiet_seconds)
            start += chunk
            if len(start) >= START_BYTES:
                break
        return start

    def _torrent(self, chunks: Iterator[bytes], facts: ResponseFacts) -> FetchEvent | None:
        if not self._may_take(head_of(self.key, facts, is_torrent=True)):
            return None
        content = bytearray()
        for chunk in self._arriving(chunks):
            content += chunk
            if len(content) > MOST_TORRENT_BYTES:
                self._may_be_torrent = False
                raise TemporaryFailure(Details("torrent_with_extra_data"))
        return TorrentFound(self.key, bytes(content))

    def _store(self, chunks: Iterator[bytes], resume: ResumePoint) -> FetchEvent | None:
        self._refuse_beyond_limit(resume.facts.size_bytes)
        if not self._may_take(head_of(self.key, resume.facts)):
            return None
        key, checkpoints = self.key, self._means.checkpoints
        with closing(PartialFile(key, self.folder, resume, checkpoints)) as content:
            try:
                self._write(chunks, content, resume.facts.size_bytes)
            except BaseException as failure:
                self._save(content, is_leaving=isinstance(failure, FetchStopped))
                raise
            content.make_safe(is_complete=True)
        self.wanted_bytes = content.size_bytes
        return Complete(self.key)

    def _may_take(self, head: Head) -> bool:
        """Wait for `proceed`, up to a timeout, since a response is open; return whether it came."""
        if head != self._head:
            self._may_go.clear()
            self._head = head
            self._means.tell(head)
        self.wanted_bytes = head.size_bytes
        if not self._may_go.wait(self._pace.hold_seconds):
            return False
        self._waiter.check()
        self._waiter.allow(self._pace.quiet_seconds)
        self.phase = "downloading"
        return True

    def _write(self, chunks: Iterator[bytes], content: PartialFile, size_bytes: int) -> None:
        self._note(content.size_bytes)
        safe_at = self._pace.clock()
        for chunk in self._arriving(chunks):
            self._refuse_beyond_limit(content.size_bytes + len(chunk))
            content.write(chunk[: size_bytes - content.size_bytes] if size_bytes else chunk)
            self._note(content.size_bytes)
            if content.size_bytes == size_bytes:
                return
            is_due = self._pace.clock() - safe_at >= self._pace.safe_every_seconds
            if is_due and not self._is_worker_silent():
                content.make_safe()
                safe_at = self._pace.clock()
        if content.size_bytes < size_bytes:
            raise TemporaryFailure(Details("content_cut_off"))

    def _arriving(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield chunks, within the rate limits; each restarts the timeout."""
        self.is_receiving = True
        try:
            for chunk in chunks:
                self._waiter.check()
                self._pay(len(chunk))
                self._await_worker()
                yield chunk
                self._waiter.allow(self._pace.quiet_seconds)
        finally:
            self.is_receiving = False

    def _pay(self, size_bytes: int) -> None:
        """Wait for as long as the rate limits demand, which may change meanwhile."""
        self.received_bytes += size_bytes
        throttles = (self._means.throttle, self.throttle)
        bills = [(throttle, throttle.take(size_bytes)) for throttle in throttles]
        self._waiter.read_bytes = min(throttle.read_bytes for throttle in throttles)
        while seconds := max(throttle.seconds_until(paid_bytes) for throttle, paid_bytes in bills):
            self._pace.pause(self._waiter, min(seconds, CHANGE_SECONDS))

    def _note(self, done_bytes: int) -> None:
        self.done_bytes = done_bytes
        self._furthest_bytes = max(self._furthest_bytes, done_bytes)

    def _refuse_beyond_limit(self, size_bytes: int) -> None:
        most_bytes = self._pace.most_bytes
        if most_bytes and size_bytes > most_bytes:
            raise PermanentFailure(Details("file_too_large", limit=most_bytes), "too_large")

    def _save(self, content: PartialFile, *, is_leaving: bool) -> None:
        """Make the bytes safe to resume, unless none will or they are another worker's.

        Ignore a full disk.
        """
        if self.may_continue and not self._is_worker_silent():
            with suppress(PermanentFailure):
                content.make_safe()
                if is_leaving:
                    content.save_rest()


def headers_for(resume: ResumePoint | None) -> dict[str, str]:
    if resume is None:
        return {}
    return {"Range": f"bytes={resume.safe_bytes}-", "If-Range": resume.facts.validator}


def head_of(key: str, facts: ResponseFacts, *, is_torrent: bool = False) -> Head:
    name, size_bytes, content_type = facts.name, facts.size_bytes, facts.content_type
    can_resume = facts.validator != ""
    return Head(key, name, size_bytes, content_type, is_torrent, facts.is_page, can_resume)


def is_whole(answer: httpx.Response, resume: ResumePoint) -> bool:
    """Return whether the server has nothing after the bytes on disk."""
    part = responses.content_range(answer.headers)
    size_bytes = resume.facts.size_bytes or resume.safe_bytes
    return part is not None and part.size_bytes == resume.safe_bytes == size_bytes
