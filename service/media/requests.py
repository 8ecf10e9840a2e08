"""Requests from web processes to the worker, over a Unix socket: one line each way."""

import errno
import fcntl
import json
import logging
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from django.utils.crypto import salted_hmac

from service import database_connection, signals
from service.errors import Busy, CannotConvert, NotFound, NoWorker, Refusal

log = logging.getLogger("ferry.media")

Facts = dict[str, Any]
Answer = Callable[[Facts], Facts]
HasLeft = Callable[[], bool]
WaitingAnswer = Callable[[Facts, HasLeft], Facts]

SOCKET, NEW_SOCKET, LOCK = "media.sock", "media.new", "media.lock"
# The kernel limits the length of a socket's path.
LONGEST_PATH = 100
MOST_LINE_BYTES = 2**20
# Each request has a thread. The limits passed to `register` add up to no more.
MOST_WAITING = 64
QUESTION_SECONDS = 5
TELL_SECONDS = 1
# How often another worker checks whether the one with the socket is gone.
TAKE_OVER_SECONDS = 3.0
# How soon the server notices that it should stop.
STOP_LOOK_SECONDS = 1.0
PEER = struct.Struct("3i")
NO_SOCKET = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


class MediaServer:
    """The worker's side, which answers only processes of the worker's own user, or root.

    Of several workers on a machine, one has the socket; the others wait to take it over.
    """

    def __init__(self) -> None:
        self._folder = Path(settings.DATA_DIR)
        self._answers: dict[str, tuple[WaitingAnswer, threading.BoundedSemaphore]] = {}
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)

    def register(self, most: int, **answers: Answer) -> None:
        """Register answers by the kind of question.

        An answer runs in a thread of this server, and may raise Busy, CannotConvert, or NotFound.
        At most `most` of these questions wait at once; further ones get Busy. That way, requests
        for segments don't block requests for pictures.
        """
        self.register_waiting(most, **{kind: to_the_end(each) for kind, each in answers.items()})

    def register_waiting(self, most: int, **answers: WaitingAnswer) -> None:
        """Register answers that take long, and stop once the asker has left."""
        turns = threading.BoundedSemaphore(most)
        self._answers |= {kind: (answer, turns) for kind, answer in answers.items()}

    def serve(self, stopped: threading.Event) -> None:
        """Answer questions until stopped. Runs in its own thread."""
        with (self._folder / LOCK).open("a") as lock:
            while not stopped.is_set() and not is_taken(lock.fileno()):
                stopped.wait(TAKE_OVER_SECONDS)
            if not stopped.is_set():
                with listening(self._folder) as listener:
                    self._serve(listener, stopped)

    def _serve(self, listener: socket.socket, stopped: threading.Event) -> None:
        listener.settimeout(STOP_LOOK_SECONDS)
        with ThreadPoolExecutor(MOST_WAITING, thread_name_prefix="media-requests") as threads:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    self._receive(listener.accept()[0], threads)

    def _receive(self, connection: socket.socket, threads: ThreadPoolExecutor) -> None:
        connection.settimeout(QUESTION_SECONDS)
        if self._waiting.acquire(blocking=False):
            threads.submit(self._converse, connection)
            return
        with connection, suppress(OSError):
            connection.sendall(line_of(encode_refusal(Busy())))

    def _converse(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError, ValueError):
                if is_our_own(connection):
                    reply = self._answer(read_line(connection), lambda: has_left(connection))
                    connection.sendall(line_of(reply))
        finally:
            self._waiting.release()

    def _answer(self, question: Facts, has_asker_left: HasLeft) -> Facts:
        try:
            answer, turns = self._answers[question["kind"]]
            with take_turn(turns):
                return {"answer": answer(question, has_asker_left)}
        except (Busy, CannotConvert, NotFound) as refusal:
            return encode_refusal(refusal)
        except Exception:
            log.exception("no answer to a media request kind=%r", question.get("kind"))
            return encode_refusal(Busy())
        finally:
            close_old_connections()


def to_the_end(answer: Answer) -> WaitingAnswer:
    return lambda question, _has_left: answer(question)


@contextmanager
def take_turn(turns: threading.BoundedSemaphore, wait_seconds: float = 0) -> Iterator[None]:
    """Take a turn. Raises Busy if none is free within `wait_seconds`."""
    if not turns.acquire(timeout=wait_seconds):
        raise Busy
    try:
        yield
    finally:
        turns.release()


def ask(
    kind: str, timeout_seconds: float, client: socket.socket | None = None, **question: Any
) -> Facts:
    """Ask the worker, from a web process. Raises NoWorker, Busy, CannotConvert, NotFound.

    If the client disconnects meanwhile, hang up, so that the worker stops working for it: players
    abandon segments when their viewers seek.
    """
    began_at = time.monotonic()
    failure: Exception | None = None
    try:
        return _ask(kind, timeout_seconds, client, question)
    except Exception as error:
        failure = error
        raise
    finally:
        seconds = time.monotonic() - began_at
        signals.media_requested.send(None, kind=kind, seconds=seconds, failure=failure)


def _ask(kind: str, timeout_seconds: float, client: socket.socket | None, question: Facts) -> Facts:
    database_connection.give_back()
    try:
        with calling(Path(settings.DATA_DIR), timeout_seconds) as connection:
            connection.sendall(line_of({"kind": kind, **question}))
            if client is not None:
                await_reply(connection, client, timeout_seconds)
            reply = read_line(connection)
    except TimeoutError as late:
        raise Busy from late
    except (OSError, ValueError) as gone:
        raise NoWorker from gone
    if "answer" in reply:
        return dict(reply["answer"])
    raise refusal_in(reply)


def tell(kind: str, **question: Any) -> None:
    """Send the worker a question, and don't wait for the answer. Without a worker, do nothing."""
    with suppress(OSError), calling(Path(settings.DATA_DIR), TELL_SECONDS) as connection:
        connection.sendall(line_of({"kind": kind, **question}))


def await_reply(connection: socket.socket, client: socket.socket, timeout_seconds: float) -> None:
    """Wait until the worker replies. Raises Busy if it is late or the client disconnects."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(client, select.POLLRDHUP)
    if connection.fileno() not in dict(poll.poll(timeout_seconds * 1000)):
        raise Busy


def has_left(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


def encode_refusal(refusal: Refusal) -> Facts:
    why = refusal.why if isinstance(refusal, CannotConvert) else ""
    return {"refused": refusal.reason, "why": why}


def refusal_in(reply: Facts) -> Refusal:
    match reply.get("refused"):
        case CannotConvert.reason:
            return CannotConvert(str(reply.get("why", "")))
        case NotFound.reason:
            return NotFound()
    return Busy()


def line_of(facts: Facts) -> bytes:
    return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


def read_line(connection: socket.socket) -> Facts:
    """Read one line of JSON. Raises OSError, ValueError."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = connection.recv(65536)
        if not piece or len(line) > MOST_LINE_BYTES:
            raise ConnectionError("cut off")
        line += piece
    document = json.loads(line)
    return document if isinstance(document, dict) else {}


@contextmanager
def listening(folder: Path) -> Iterator[socket.socket]:
    """Listen at the socket; the caller holds the lock.

    This replaces a socket left by a killed worker. A socket gets its final name only once this
    process listens, so a client never finds one without a listener.
    """
    with socket.socket(socket.AF_UNIX) as listener, short_path(folder, NEW_SOCKET) as path:
        new = folder / NEW_SOCKET
        new.unlink(missing_ok=True)
        try:
            listener.bind(path)
        except OSError as trouble:
            if trouble.errno not in NO_SOCKET:
                raise
            # FAT and some network shares can't hold sockets; abstract sockets need no folder.
            (folder / SOCKET).unlink(missing_ok=True)
            listener.bind(name_without_folder())
            listener.listen(MOST_WAITING)
            yield listener
            return
        new.chmod(0o600)
        listener.listen(MOST_WAITING)
        new.rename(folder / SOCKET)
        try:
            yield listener
        finally:
            (folder / SOCKET).unlink(missing_ok=True)


@contextmanager
def calling(folder: Path, timeout_seconds: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_seconds)
        try:
            with short_path(folder, SOCKET) as path:
                connection.connect(path)
        except FileNotFoundError:
            connection.connect(name_without_folder())
            # No folder keeps other users from taking the abstract name first.
            if not is_our_own(connection):
                raise ConnectionRefusedError from None
        yield connection


def name_without_folder() -> str:
    """Return the name of an abstract socket, unique to this Ferry and impossible to guess."""
    return f"\0ferry-{salted_hmac('ferry media requests', str(settings.DATA_DIR)).hexdigest()[:16]}"


@contextmanager
def short_path(folder: Path, name: str) -> Iterator[str]:
    """Yield a socket's path, through its open folder if it is too long for the kernel."""
    path = str(folder / name)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield path
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def is_taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_our_own(connection: socket.socket) -> bool:
    """Check the peer's user, besides the socket's permissions, if the system reports it."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    facts = connection.getsockopt(socket.SOL_SOCKET, option, PEER.size)
    _pid, user, _group = PEER.unpack(facts)
    return user in (0, os.geteuid())
