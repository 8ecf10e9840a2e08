import errno
import os
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import Queue

import pytest
from django.conf import settings

from service import signals
from service.errors import Busy, CannotConvert, DiskFull, NotFound, NoWorker
from service.media.hls.player import MOST_ANSWERS, MOST_SEGMENTS
from service.media.serving import local_socket, media_server, signed_server
from service.media.serving.local_socket import LOCK, SOCKET
from service.media.serving.media_server import MediaServer
from service.media.serving.requests import MOST_BYTES, ask, tell
from service.media.work import MOST_PICTURES
from tests.service.media.waiting import wait_until


@pytest.fixture(autouse=True)
def folder(tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path
    # The server's threads close database connections, but these tests have no database.
    monkeypatch.setattr(media_server, "close_old_connections", lambda: None)
    # No setting shortens this, and a takeover would take seconds.
    monkeypatch.setattr(media_server, "TAKE_OVER_SECONDS", 0.02)
    return tmp_path


def serving(**answers):
    """Serve these answers; two requests of each kind may wait at once."""
    return serving_waiting(**{kind: to_the_end(answer) for kind, answer in answers.items()})


def to_the_end(answer):
    return lambda question, _has_left: answer(question)


@contextmanager
def serving_waiting(**answers):
    served, stopped = MediaServer(), threading.Event()
    for kind, answer in answers.items():
        served.register(2, **{kind: answer})
    thread = threading.Thread(target=served.serve, args=(stopped,))
    thread.start()
    try:
        wait_until((settings.DATA_DIR / SOCKET).exists)
        yield
    finally:
        stopped.set()
        thread.join()


def refuse(refusal):
    def answer(question):
        raise refusal

    return answer


def test_a_full_disk_is_no_failure_of_the_server(folder, caplog):
    with serving(full=refuse(DiskFull())), pytest.raises(Busy):
        ask("full", 5)
    assert not [each for each in caplog.records if each.exc_info]


def test_a_question_is_answered(folder):
    with serving(sum=lambda question: {"sum": question["a"] + question["b"]}):
        assert ask("sum", 5, a=1, b=2) == {"sum": 3}
        assert stat.S_IMODE((folder / SOCKET).stat().st_mode) == 0o600


def test_without_a_worker_it_says_so(folder):
    with pytest.raises(NoWorker):
        ask("sum", 5)
    with serving():
        pass
    with pytest.raises(NoWorker):
        ask("sum", 5)


def test_refusals_come_as_they_were_meant(folder):
    answers = {
        "busy": refuse(Busy()),
        "lost": refuse(NotFound()),
        "odd": refuse(CannotConvert("it is damaged")),
        "broken": refuse(ValueError("nobody's business")),
    }
    with serving(**answers):
        for kind, refusal in (("busy", Busy), ("lost", NotFound), ("broken", Busy)):
            with pytest.raises(refusal):
                ask(kind, 5)
        with pytest.raises(CannotConvert) as odd:
            ask("odd", 5)
        assert odd.value.why == "it is damaged"
        with pytest.raises(Busy):
            ask("unknown", 5)


def test_a_request_that_waits_too_long_fails(folder):
    leave = threading.Event()
    with serving(slow=lambda _asked: {"came": leave.wait(60)}):
        with pytest.raises(Busy):
            ask("slow", 0.05)
        leave.set()


@pytest.fixture
def browser():
    """Return both ends of a browser's connection to the web process."""
    theirs, ours = socket.socketpair()
    with theirs, ours:
        yield theirs, ours


def test_a_response_notices_that_the_browser_has_disconnected(browser):
    theirs, ours = browser
    has_begun, has_stopped = threading.Event(), threading.Event()

    def answer(_asked, has_left):
        has_begun.set()
        wait_until(has_left)
        has_stopped.set()
        return {}

    with serving_waiting(slow=answer), ThreadPoolExecutor(1) as threads:
        first = threads.submit(ask, "slow", 30, ours)
        assert has_begun.wait(60)
        assert not has_stopped.is_set()
        theirs.close()
        assert type(first.exception(10)) is Busy
        assert has_stopped.wait(60)


def test_a_browser_that_stays_connected_gets_the_answer(browser):
    _theirs, ours = browser
    with serving_waiting(here=lambda _asked, has_left: {"has_left": has_left()}):
        assert ask("here", 5, ours) == {"has_left": False}


def test_a_web_process_with_a_browser_does_not_wait_for_ever_either(browser):
    _theirs, ours = browser
    leave = threading.Event()
    with serving(slow=lambda _asked: {"came": leave.wait(60)}):
        with pytest.raises(Busy):
            ask("slow", 0.05, ours)
        leave.set()


def test_notifications_are_handled_without_a_response():
    tell("note", words="nobody listens yet")
    notes = Queue()
    with serving(note=lambda facts: notes.put(facts["words"])):
        tell("note", words="begin")
        assert notes.get(timeout=10) == "begin"


def test_a_long_path_works(folder, settings):
    settings.DATA_DIR = folder / ("deep" * 20) / ("deeper" * 20)
    settings.DATA_DIR.mkdir(parents=True)
    with serving(here=lambda _asked: {}):
        assert ask("here", 5) == {}


def test_the_second_worker_takes_over_the_socket(folder):
    with serving(who=lambda _asked: {"name": "first"}) as _first:
        second, stopped = MediaServer(), threading.Event()
        second.register(1, who=lambda _asked, _has_left: {"name": "second"})
        thread = threading.Thread(target=second.serve, args=(stopped,))
        thread.start()
        assert ask("who", 5) == {"name": "first"}
    wait_until((folder / SOCKET).exists)
    assert ask("who", 5) == {"name": "second"}
    stopped.set()
    thread.join()


def test_leftovers_of_a_killed_worker_block_nothing(folder):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(folder / SOCKET))
    (folder / LOCK).touch()
    with pytest.raises(NoWorker):
        ask("here", 5)
    served, stopped = MediaServer(), threading.Event()
    served.register(1, here=lambda _asked, _has_left: {})
    thread = threading.Thread(target=served.serve, args=(stopped,))
    thread.start()

    def is_answered():
        try:
            return ask("here", 5) == {}
        except NoWorker:
            return False

    wait_until(is_answered)
    stopped.set()
    thread.join()


def test_another_user_is_not_heard(folder, monkeypatch):
    with serving(here=lambda _asked: {}):
        assert ask("here", 5) == {}
        # Only root could connect as another user.
        monkeypatch.setattr(signed_server, "is_our_own", lambda _connection: False)
        with pytest.raises(NoWorker):
            ask("here", 5)


def test_the_user_of_the_peer_process_is_known():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert local_socket.is_our_own(ours)


class Peer:
    """A connection from a process of this user. Only root could really connect as another."""

    def __init__(self, user):
        self.user = user

    def getsockopt(self, *_option):
        return local_socket.PEER.pack(os.getpid(), self.user, 0)


def test_only_ferrys_own_user_and_root_are_heard():
    own = os.geteuid()
    heard = [user for user in (0, own, own + 1, 65534) if local_socket.is_our_own(Peer(user))]
    assert heard == [0, own]


def test_an_endless_request_is_cut(folder):
    with serving(here=lambda _asked: {}):
        with local_socket.calling(folder, 5) as caller, pytest.raises(OSError, match=r"pipe|reset"):
            caller.sendall(b"x" * 8 * MOST_BYTES)
        assert ask("here", 5) == {}


def test_random_input_does_no_harm(folder):
    with serving(here=lambda _asked: {}):
        for words in (
            b"\n",
            b"[]\n",
            b"POST /media-requests HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
            os.urandom(100).replace(b"\n", b"") + b"\n",
        ):
            with local_socket.calling(folder, 5) as connection:
                connection.sendall(words)
                connection.recv(1000)
        assert ask("here", 5) == {}


def test_requests_beyond_the_queue_are_refused(folder, monkeypatch):
    entered, leave = threading.Event(), threading.Event()
    # No setting lowers this limit, and the real one needs that many threads.
    monkeypatch.setattr(media_server, "MOST_WAITING", 1)

    def slow(_asked):
        entered.set()
        return {"came": leave.wait(60)}

    with serving(slow=slow):
        thread = threading.Thread(target=ask, args=("slow", 10))
        thread.start()
        assert entered.wait(60)
        with pytest.raises(Busy):
            ask("slow", 10)
        leave.set()
        thread.join()


def test_a_waiting_request_does_not_block_others(folder):
    entered, leave = threading.Semaphore(0), threading.Event()

    def slow(_asked):
        entered.release()
        return {"came": leave.wait(60)}

    with serving(slow=slow, quick=lambda _asked: {}), ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(ask, "slow", 10) for _ in range(2)]
        assert all(entered.acquire(timeout=10) for _ in waiting)
        with pytest.raises(Busy):
            ask("slow", 10)
        assert ask("quick", 10) == {}
        leave.set()
        assert [each.result() for each in waiting] == [{"came": True}] * 2
        assert ask("slow", 10) == {"came": True}


def test_however_many_threads_connect_at_once_none_is_cut_off(folder):
    with serving(sum=lambda question: {"sum": 1}), ExitStack() as opened:
        waiting = [
            opened.enter_context(socket.socket(socket.AF_UNIX))
            for _ in range(signed_server.MOST_ARRIVING + 20)
        ]
        for connection in waiting:
            connection.connect(str(folder / SOCKET))
        first, *_others = waiting
        first.settimeout(0.5)
        with pytest.raises(TimeoutError):
            first.recv(1)


def test_all_waiting_requests_fit_into_the_threads():
    assert MOST_SEGMENTS + MOST_ANSWERS + MOST_PICTURES <= media_server.MOST_WAITING


def test_requests_work_on_a_disk_without_sockets(folder, monkeypatch):
    """FAT can't hold sockets, but the tests' disk can."""
    bind = socket.socket.bind

    def refuse_in_folders(listener, address):
        if isinstance(address, str) and not address.startswith("\0"):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        bind(listener, address)

    monkeypatch.setattr(socket.socket, "bind", refuse_in_folders)
    served, stopped = MediaServer(), threading.Event()
    served.register(2, sum=lambda question, _has_left: {"sum": question["a"] + question["b"]})
    thread = threading.Thread(target=served.serve, args=(stopped,))
    thread.start()
    try:
        wait_until(lambda: is_answered(a=1, b=2))
        # Without a folder, another user could take the name first, but only root can try that.
        monkeypatch.setattr(local_socket, "is_our_own", lambda _connection: False)
        with pytest.raises(NoWorker):
            ask("sum", 5, a=1, b=2)
    finally:
        stopped.set()
        thread.join()
    assert not (folder / SOCKET).exists()
    with pytest.raises(NoWorker):
        ask("sum", 5)


def is_answered(**question):
    try:
        return ask("sum", 5, **question) == {"sum": 3}
    except NoWorker:
        return False


def test_each_request_is_reported_with_its_kind_and_its_failure():
    reports = []

    def report(kind, seconds, failure, **_signal):
        reports.append((kind, seconds >= 0, type(failure)))

    signals.media_requested.connect(report)
    try:
        with pytest.raises(NoWorker):
            ask("picture", 1)
        with serving(picture=lambda _question: {}):
            ask("picture", 5)
    finally:
        signals.media_requested.disconnect(report)
    assert reports == [("picture", True, NoWorker), ("picture", True, type(None))]
