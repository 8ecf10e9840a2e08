"""A choice of a torrent's files: what isn't wanted takes no traffic, and can be wanted later."""

import os
import random
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace

import pytest

from service.torrents.events import Complete, FileProgress, Metadata
from service.torrents.orders import Order
from tests.service.media.waiting import wait_until
from tests.service.torrents.holding import holding
from tests.service.torrents.watching import watching
from tests.swarm import BLOCK_BYTES, KINDS, torrent

PIECE_BYTES = 32 * 1024
SIZES = random.Random(40)
FORTY = {(f"{n:02}.mkv",): SIZES.randbytes(SIZES.randrange(50_000, 150_000)) for n in range(40)}
LIMIT = 500_000


def saving_often(tmp_path):
    """Return the command of an engine that saves progress five times a second: no setting does."""
    script = tmp_path / "saving_often.py"
    script.write_text(
        "from service.torrents import __main__\n"
        "from service.torrents.engine import child\n"
        "child.STATUS_SECONDS = child.RESUME_SECONDS = 0.2\n__main__.main()\n"
    )
    return (sys.executable, str(script))


def all_but(*wanted):
    return tuple(set(range(40)) - set(wanted))


def bytes_of(indexes):
    contents = list(FORTY.values())
    return sum(len(contents[index]) for index in indexes)


def borders_of(indexes):
    """Return the most bytes that the pieces at the borders of these files have of others."""
    return 2 * len(set(indexes)) * PIECE_BYTES


def check(held, key, indexes):
    for index in indexes:
        content = (held.folder(key) / str(index)).read_bytes()
        assert content == list(FORTY.values())[index], index


def on_disk(held, key):
    return {int(each.name) for each in held.folder(key).iterdir() if each.name.isdecimal()}


@pytest.mark.promise("two of forty files")
def test_a_choice_of_two_files_takes_no_more_than_their_pieces(held, seeds, tmp_path):
    made = torrent("x", FORTY, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    held.add("7", made.magnet(peer=seeds.address), unwanted=all_but(5, 20))
    held.wait(Complete, "7")
    check(held, "7", (5, 20))
    assert on_disk(held, "7") == {5, 20}
    assert seeds.uploaded_bytes(made) <= bytes_of((5, 20)) + borders_of((5, 20))
    parts = sum(each.stat().st_size for each in held.folder("7").glob(".*.parts"))
    # libtorrent's own file has a header, and at most a piece for each border.
    assert parts <= 5 * PIECE_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_files_wanted_later_arrive_and_nothing_twice(held, seeds, tmp_path, kind):
    made = torrent("x", FORTY, kind=kind, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    held.add("7", made.magnet(peer=seeds.address), may_download=False)
    files = [each for each in held.wait(Metadata, "7").files if not each.is_padding]
    index_of = [each.index for each in files]
    held.engine.choose("7", tuple(index_of[n] for n in all_but(5, 6, 20)), 1)
    held.engine.proceed("7")
    held.wait(Complete, "7", where=lambda each: each.choice == 1)
    held.engine.choose("7", tuple(index_of[n] for n in all_but(5, 7, 20)), 2)
    held.wait(Complete, "7", where=lambda each: each.choice == 2)
    held.engine.choose("7", (), 3)
    held.wait(Complete, "7", where=lambda each: each.choice == 3)
    for n, content in enumerate(FORTY.values()):
        assert (held.folder("7") / str(index_of[n])).read_bytes() == content
    # A hybrid's files are padded to whole pieces, and libtorrent fetches the padding in a block.
    padding_bytes = 40 * BLOCK_BYTES if kind == "hybrid" else 0
    assert seeds.uploaded_bytes(made) <= bytes_of(range(40)) + padding_bytes


def test_a_smaller_choice_completes_at_once(held, seeds, tmp_path):
    made = torrent("x", FORTY, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(LIMIT)
    held.add("7", made.magnet(peer=seeds.address), may_download=False)
    held.wait(Metadata, "7")
    held.engine.proceed("7")
    progress = held.wait(FileProgress, "7", where=lambda each: 100 in each.percents)
    there = [n for n, percent in enumerate(progress.percents) if percent == 100]
    held.engine.choose("7", all_but(*there), 1)
    held.wait(Complete, "7", where=lambda each: each.choice == 1)
    check(held, "7", there)
    assert seeds.uploaded_bytes(made) < bytes_of(range(40))


def test_a_file_can_be_wanted_while_the_piece_it_shares_arrives(held, seeds, tmp_path):
    """libtorrent can't move a piece that has a beginning and no end."""
    made = torrent("x", {("a",): b"a" * 2**19, ("b",): b"b" * 2**21}, piece_bytes=2**20)
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(200_000)
    held.add("7", made.magnet(peer=seeds.address), unwanted=(1,))
    wait_until(lambda: seeds.uploaded_bytes(made) > 2**19 + 100_000)
    seeds.limit_upload(0)
    held.engine.choose("7", (), 1)
    held.complete("7", made)
    assert seeds.uploaded_bytes(made) == 2**19 + 2**21


def test_a_magnet_that_chooses_files_writes_nothing_before_it_may(held, seeds, tmp_path):
    made = torrent("x", FORTY, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    with watching(held.folder("7")) as watch:
        held.add("7", f"{made.magnet(peer=seeds.address)}&so=0-39", may_download=False)
        held.wait(Metadata, "7")
        assert not any(name.startswith("x") or name.isdecimal() for name in watch.names())
    assert not (held.folder("7") / "x").exists()
    assert seeds.uploaded_bytes(made) == 0


@pytest.mark.slow
@pytest.mark.promise("a choice changes under kills of the engine", cases=["0"])
@pytest.mark.parametrize("seed", range(6))
def test_choices_change_under_kills_and_nothing_is_fetched_twice(seeds, tmp_path, seed):
    """Half of ten changes are followed by a kill, at a random moment.

    In the end, every file is wanted, so what the seeder sent beyond them was sent twice. A kill
    costs what arrived since the engine last saved its progress, and what was on its way: here, it
    saves every 0.2 seconds, so half a second of what the seeder sends. A kill in the moment of a
    change also costs the pieces that weren't whole: each change may leave some.
    """
    made = torrent("x", FORTY, piece_bytes=PIECE_BYTES)
    seeds.give(made, tmp_path / "given")
    seeds.limit_upload(LIMIT)
    dice, wanted = random.Random(seed), {0}
    kills = 0
    with ExitStack() as engines:
        held = engines.enter_context(holding(tmp_path, saving_often(tmp_path)))
        order = Order(
            "7", str(held.folder("7")), made.magnet(peer=seeds.address), may_download=True
        )
        held.engine.add(replace(order, unwanted=all_but(*wanted)))
        held.wait(Metadata, "7")
        for number in range(1, 11):
            wanted = set(dice.sample(range(40), dice.randrange(1, 20)))
            held.engine.choose("7", all_but(*wanted), number)
            for _ in range(dice.randrange(8)):
                held.engine.wait(0.1)
                held.events += held.engine.poll()
            if dice.random() < 0.5:
                kills += 1
                os.kill(held.engine.pid, signal.SIGKILL)
                held = engines.enter_context(holding(tmp_path, saving_often(tmp_path)))
                held.engine.add(replace(order, unwanted=all_but(*wanted), choice=number))
        held.wait(Complete, "7", where=lambda each: each.choice == 10)
        check(held, "7", wanted)
        held.engine.choose("7", (), 11)
        held.wait(Complete, "7", where=lambda each: each.choice == 11)
        check(held, "7", range(40))
    sent_twice = seeds.uploaded_bytes(made) - bytes_of(range(40))
    assert sent_twice <= kills * (LIMIT / 2 + 4 * PIECE_BYTES)
