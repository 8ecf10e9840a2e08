"""The engine dies, hangs, or is killed with its worker; the other torrents continue."""

import itertools
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.torrents import client
from service.torrents.client import Engine
from service.torrents.crash_blame import PROOF_SECONDS
from service.torrents.events import (
    Complete,
    Metadata,
    Restarted,
    Status,
    TorrentBroken,
    TorrentGone,
)
from service.torrents.process import BASE, COMMAND
from tests.cases import each_case
from tests.service.media.waiting import wait_until
from tests.service.torrents.holding import LOOPBACK, AwaitedEngine, holding
from tests.swarm import torrent

PAYLOAD = bytes(range(256)) * 700
# Like a torrent that crashes libtorrent, this ends the whole process at once.
CULPRIT = """
import os, signal, sys
from service.torrents import __main__
from service.torrents.engine import child, torrent

assert hasattr(torrent.EngineTorrent, "{method}")

class Deadly(torrent.EngineTorrent):
    def {method}(self, *arguments):
        if self.order.key in {keys}:
            os.kill(os.getpid(), signal.SIGSEGV)
        super().{method}(*arguments)

    @property
    def is_in_hand(self):
        return self.order.key == {slow!r} or super().is_in_hand

class Child(child.EngineProcess):
    torrent = Deadly

__main__.main(Child)
"""


BUSY = """
from pathlib import Path
from service.torrents import __main__
from service.torrents.engine import child

class Busy(child.EngineProcess):
    def obey(self, document):
        while "ping" in document and not Path({free!r}).exists():
            pass
        super().obey(document)

__main__.main(Busy)
"""


def deadly(tmp_path, method, *keys, slow=""):
    """Return the command of an engine that `keys` crash in `method`; `slow` stays in hand."""
    script = tmp_path / "deadly.py"
    script.write_text(CULPRIT.format(method=method, keys=keys, slow=slow))
    return (sys.executable, str(script))


@pytest.mark.promise("a killed engine restarts")
@pytest.mark.slow
def test_a_killed_engine_restarts_and_continues(own, seeds, tmp_path):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    own.add("1", made.magnet(), may_download=True)
    own.wait(Status, "1")
    killed = own.engine.pid
    os.kill(killed, signal.SIGKILL)
    restarted = own.wait(Restarted)
    assert restarted == Restarted(())
    assert own.engine.pid != killed
    own.add("2", made.magnet(peer=seeds.address))
    own.wait(Complete, "2")


@pytest.mark.slow
def test_a_hanging_engine_is_replaced():
    now = 0.0
    with running(lambda: now) as engine:
        until(engine, lambda: has_answered(engine, now))
        os.kill(engine.pid, signal.SIGSTOP)
        wait_until(lambda: facts_of(engine.pid)[0] == "T")
        hung, now = engine.pid, 3.0
        engine.poll()
        now = 12.9
        assert engine.is_alive(now)
        now = 13.1
        assert not engine.is_alive(now)
        assert Restarted(()) in engine.poll()
        assert engine.pid != hung
        until(engine, lambda: has_answered(engine, now))
        assert engine.is_alive(now)


def test_a_busy_engine_is_not_mistaken_for_a_hanging_one(tmp_path):
    """The engine may take as long as it needs on a busy machine."""
    now, free = 0.0, tmp_path / "free"
    with running(lambda: now, busy(tmp_path, free)) as engine:
        first = engine.pid
        while now < 24:
            now += 8
            wait_for_computing(first)
            assert engine.poll() == []
        assert engine.pid == first
        free.touch()
        until(engine, lambda: has_answered(engine, now))
        assert engine.pid == first


@pytest.mark.slow
def test_an_engine_that_never_responds_is_replaced(tmp_path, monkeypatch):
    # No setting shortens this, and ten seconds of computing would prove no more.
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.3)
    now = 0.0
    with running(lambda: now, busy(tmp_path, tmp_path / "never")) as engine:
        first = engine.pid
        while engine.pid == first:
            wait_for_computing(first)
            now += 0.1
            assert now < 100
            engine.poll()


@each_case("line", ["[]", "{}", '{"event": "Complete"}', '{"files": 1}'])
def test_an_engine_that_writes_nonsense_is_replaced(tmp_path, line):
    script = tmp_path / "nonsense.py"
    script.write_text(f"import sys\nprint({line!r}, flush=True)\nsys.stdin.read()\n")
    with running(time.monotonic, (sys.executable, str(script))) as engine:
        first = engine.pid
        until(engine, lambda: engine.pid not in {first, None})


@contextmanager
def running(clock, command=COMMAND):
    engine = AwaitedEngine(LOOPBACK, clock, command)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(0.2)


def busy(tmp_path, free):
    script = tmp_path / "busy.py"
    script.write_text(BUSY.format(free=str(free)))
    return (sys.executable, str(script))


def has_answered(engine, now):
    """Return whether every ping is answered: any other would have timed out by then."""
    return engine.is_alive(now + 10**6)


def facts_of(pid):
    """Return the fields of a process's stat file, from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def wait_for_computing(pid):
    before = facts_of(pid)[11:13]
    wait_until(lambda: facts_of(pid)[11:13] != before)


def until(engine, is_so):
    for _ in range(1200):
        engine.poll()
        if is_so():
            return
        engine.wait(0.1)
    raise AssertionError("the engine does not answer")


def test_torrents_removed_while_the_engine_dies_stay_removed(own):
    own.add("1", torrent("x", PAYLOAD), may_download=False)
    own.wait(Metadata, "1")
    os.kill(own.engine.pid, signal.SIGSTOP)
    own.engine.remove("1")
    os.kill(own.engine.pid, signal.SIGKILL)
    own.wait(TorrentGone, "1")
    own.wait(Restarted)


@pytest.mark.promise("a torrent that crashes the engine is set aside")
@pytest.mark.slow
def test_a_torrent_that_crashes_the_engine_is_set_aside_after_three_times(
    tmp_path, seeds, monkeypatch
):
    """The engine restarts at once each time, as no setting shortens the pauses."""
    monkeypatch.setattr(client, "LONGEST_PAUSE_SECONDS", 0)
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    with holding(tmp_path, deadly(tmp_path, "_load", "13")) as held:
        for _ in range(3):
            held.add("13", torrent("evil", PAYLOAD * 2))
            assert held.wait(Restarted, where=lambda each: bool(each.suspects)).suspects == ("13",)
        assert held.wait(TorrentBroken, "13").word == "engine_crashed"
        held.add("13", torrent("evil", PAYLOAD * 2))
        assert held.wait(TorrentBroken, "13").word == "engine_crashed"
        held.add("1", made.magnet(peer=seeds.address))
        held.wait(Complete, "1")


@pytest.mark.slow
@each_case("slow", ["", "3"])
def test_a_torrent_that_crashes_the_engine_later_is_found(tmp_path, slow):
    """The culprit isn't in hand then, but another torrent may be: each returns alone."""
    now = 0.0
    torrents = [(key, torrent(key, PAYLOAD)) for key in ("1", "2", "3")]
    with holding(tmp_path, deadly(tmp_path, "take_status", "2", slow=slow), lambda: now) as held:
        for key, made in torrents:
            held.add(key, made)
        strikes = []
        for _ in range(1200):
            for event in held.engine.poll():
                if isinstance(event, Restarted):
                    strikes += event.suspects
                    for key, made in torrents:
                        held.add(key, made)
            owes_nothing = held.engine.pid is None or has_answered(held.engine, now)
            held.engine.wait(0.1)
            now += 0.5 if owes_nothing else 0.02
            if len(strikes) == 3:
                break
    assert strikes == ["2"] * 3


@pytest.mark.slow
def test_a_torrent_that_passed_its_trial_is_not_suspected_later(tmp_path):
    now = 0.0
    torrents = {key: torrent(key, PAYLOAD) for key in ("1", "2")}
    with holding(tmp_path, clock=lambda: now) as held:

        def answer():
            until(held.engine, lambda: has_answered(held.engine, now))

        for _ in range(2):
            for key, made in torrents.items():
                held.add(key, made)
            for key in torrents:
                held.wait(Status, key)
                answer()
                now += PROOF_SECONDS
            answer()
            os.kill(held.engine.pid, signal.SIGKILL)
            assert held.wait(Restarted) == Restarted(())


def test_the_engine_dies_with_its_worker(tmp_path):
    """It dies even if the worker is killed: a second engine would write to the same files."""
    worker = textwrap.dedent("""
        import signal, sys
        from service.torrents.client import Engine
        from tests.service.torrents.holding import LOOPBACK
        engine = Engine(LOOPBACK)
        engine.start()
        print(engine.pid, flush=True)
        signal.pause()
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", worker], cwd=BASE, stdout=subprocess.PIPE, text=True
    )
    engine = os.pidfd_open(int(process.stdout.readline()))
    process.kill()
    process.wait()
    process.stdout.close()
    assert wait_for_exit(engine)


def wait_for_exit(process, within_seconds=60):
    try:
        return bool(select.select([process], [], [], within_seconds)[0])
    finally:
        os.close(process)


def test_neither_arguments_nor_environment_tell_a_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "unspeakable")
    with holding(tmp_path, proxy="socks5://me:unspeakable@127.0.0.1:1") as held:
        held.add("1", torrent("x", PAYLOAD), may_download=False)
        held.wait(Metadata, "1")
        place = Path(f"/proc/{held.engine.pid}")
        assert b"service.torrents" in place.joinpath("cmdline").read_bytes()
        assert b"PYTHONPATH" in place.joinpath("environ").read_bytes()
        assert b"unspeakable" not in place.joinpath("cmdline").read_bytes()
        assert b"unspeakable" not in place.joinpath("environ").read_bytes()


def test_a_process_that_can_not_live_is_started_ever_more_rarely(tmp_path):
    now = 0.0
    engine = Engine(LOOPBACK, clock=lambda: now, command=(sys.executable, "-c", "pass"))
    engine.start()
    starts = []
    while now < 60:
        if Restarted(()) in engine.poll():
            starts.append(now)
        if engine.pid is not None:
            assert wait_for_exit(os.pidfd_open(engine.pid))
        now += 0.5
    engine.stop(1)
    pauses = [after - before for before, after in itertools.pairwise(starts)]
    assert pauses == sorted(pauses)
    assert pauses[-1] > 15


@pytest.mark.slow
def test_a_malformed_line_ends_the_process(tmp_path):
    script = 'import sys; print(\'{"event": "Complete"}\', flush=True); sys.stdin.read()'
    engine = AwaitedEngine(LOOPBACK, command=(sys.executable, "-c", script))
    engine.start()
    first = engine.pid
    until(engine, lambda: engine.pid != first)
    engine.stop(1)


def test_stopping_a_hanging_engine_takes_no_longer_than_it_may(tmp_path):
    engine = Engine(LOOPBACK)
    engine.start()
    process = os.pidfd_open(engine.pid)
    os.kill(engine.pid, signal.SIGSTOP)
    engine.stop(0.2)
    assert wait_for_exit(process, within_seconds=0)
