"""Answer the requests of web processes, in the worker."""

import logging
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import close_old_connections

from common.storage import database_connection
from common.storage.locks import try_lock
from service.errors import Busy, CannotConvert, DiskFull, NotFound, StoreAway
from service.media.content_folders import StoredContent, content_of
from service.media.serving import workers
from service.media.serving.local_socket import LOCK, listening
from service.media.serving.requests import Facts, encode_refusal, listening_at
from service.media.serving.signed_server import SignedServer
from service.models import File

log = logging.getLogger("ferry.media")

HasLeft = Callable[[], bool]
Answer = Callable[[Facts, HasLeft], Facts]

# Each request has a thread. The limits passed to `register` add up to no more.
MOST_WAITING = 64
# How often another worker checks whether the one with the socket is gone.
TAKE_OVER_SECONDS = 3.0


class MediaServer:
    """The worker's side. On its own machine, it answers only processes of its user, or root.

    Of several workers on a machine, one has the socket; the others wait to take it over.
    """

    def __init__(self) -> None:
        self._folder = Path(settings.DATA_DIR)
        self._answers: dict[str, tuple[Answer, threading.BoundedSemaphore]] = {}
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)

    def register(self, most: int, **answers: Answer) -> None:
        """Register answers by the kind of question.

        An answer runs in a thread of this server, and may raise Busy, CannotConvert, NotFound,
        DiskFull, or StoreAway. The client gets the last two as Busy: it may try again. An answer
        that takes long stops once the client has left.
        At most `most` of these questions wait at once; further ones get Busy. That way, requests
        for segments don't block requests for pictures.
        """
        turns = threading.BoundedSemaphore(most)
        self._answers |= {kind: (answer, turns) for kind, answer in answers.items()}

    def serve_others(self, address: str, stopped: threading.Event) -> None:
        """Answer the questions of other machines until stopped. Runs in its own thread."""
        announced_at = -workers.RENEW_SECONDS
        with listening_at(address) as listener, self._server_at(listener) as server:
            while not stopped.is_set():
                if time.monotonic() - announced_at >= workers.RENEW_SECONDS:
                    workers.announce(address)
                    close_old_connections()
                    announced_at = time.monotonic()
                server.receive()
            workers.withdraw(address)

    def serve(self, stopped: threading.Event) -> None:
        """Answer questions until stopped. Runs in its own thread."""
        with (self._folder / LOCK).open("a") as lock:
            while not stopped.is_set() and not try_lock(lock.fileno()):
                stopped.wait(TAKE_OVER_SECONDS)
            if not stopped.is_set():
                with listening(self._folder) as listener, self._server_at(listener) as server:
                    while not stopped.is_set():
                        server.receive()

    def _server_at(self, listener: socket.socket) -> SignedServer:
        return SignedServer(listener, self.answer, MOST_WAITING)

    def answer(self, question: Facts, connection: socket.socket) -> Facts:
        try:
            answer, turns = self._answers[question["kind"]]
            with take_turn(self._waiting), take_turn(turns):
                return {"answer": answer(question, partial(has_left, connection))}
        except (Busy, CannotConvert, NotFound) as refusal:
            return encode_refusal(refusal)
        except (DiskFull, StoreAway) as trouble:
            log.warning("media request refused kind=%r: %r", question.get("kind"), trouble)
            return encode_refusal(Busy())
        except Exception:
            log.exception("no answer to a media request kind=%r", question.get("kind"))
            return encode_refusal(Busy())
        finally:
            close_old_connections()


@dataclass(frozen=True)
class FileRequest:
    source: StoredContent
    question: Facts
    has_left: HasLeft = lambda: False


def of_file(answer: Callable[[FileRequest], Facts]) -> Answer:
    """Wrap an answer for questions that name a file.

    The worker looks up the file's blob itself, so a process that can reach the socket, and nothing
    more, can't learn or choose a path.
    """

    def answer_for_file(question: Facts, has_left: HasLeft) -> Facts:
        file_id = question.get("file")
        rows = File.objects.filter(pk=file_id if type(file_id) is int else 0)
        file = rows.only("sha1", "size_bytes", "blob").first()
        if file is None:
            raise NotFound
        # What it answers may have to be made first.
        database_connection.give_back()
        return answer(FileRequest(StoredContent(content_of(file), file.blob), question, has_left))

    return answer_for_file


@contextmanager
def take_turn(turns: threading.BoundedSemaphore) -> Iterator[None]:
    """Take a turn. Raises Busy if none is free."""
    if not turns.acquire(blocking=False):
        raise Busy
    try:
        yield
    finally:
        turns.release()


def has_left(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
