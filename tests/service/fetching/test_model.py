"""Any mix of misbehaviors: what a fetch completes is content that the server really had."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.torrents.events import Complete
from tests.misbehaving import Misbehaviour, answers, chunk, head, resetting, serving, whole
from tests.service.fetching.servers import CONTENT, Side, file, first_of, in_turn, url_of

OLD, NEW = CONTENT[:200_000], CONTENT[::-1][:150_000]
ETAGS = {OLD: '"old"', NEW: '"new"'}
PLACES = st.integers(0, 200_000)
Manner = Callable[[bytes], Misbehaviour]


def cut(after: int) -> Manner:
    return lambda content: file(content, ETAGS[content], cut_after=after)


def cut_in_chunks(after: int) -> Manner:
    return lambda content: answers(
        head(Transfer_Encoding="chunked", ETag=ETAGS[content]), chunk(content[:after] or b"x")
    )


def reset(after: int) -> Manner:
    return lambda content: resetting(
        head(Content_Length=str(len(content)), ETag=ETAGS[content]), content[:after]
    )


def whole_though_a_part_was_wanted(_after: int) -> Manner:
    return lambda content: answers(whole(content, ETag=ETAGS[content])[:-1])


def another_part(shift: int) -> Manner:
    """Answer with another part than the requested one, and say so in Content-Range."""

    def manner(content: bytes) -> Misbehaviour:
        def misbehave(wire):
            first = first_of(wire) + 1 + shift % 1_000
            said = f"bytes {first}-{len(content) - 1}/{len(content)}"
            wire.send(whole(content[first:], "206 Part", Content_Range=said) if first_of(wire)
                      else whole(b"", "503 Oh"))  # fmt: skip

        return misbehave

    return manner


def busy(_after: int) -> Manner:
    return lambda _content: answers(whole(b"<h1>Oh</h1>", "503 Oh"))


MANNERS = [cut, cut_in_chunks, reset, whole_though_a_part_was_wanted, another_part, busy]
BAD = st.tuples(st.sampled_from(MANNERS), PLACES)


@pytest.mark.slow
@given(st.lists(BAD, max_size=4), st.lists(BAD, max_size=3), st.booleans())
@settings(max_examples=30)
def test_a_complete_fetch_equals_the_servers_content(before, after, is_changed):
    last = NEW if is_changed else OLD
    turns = [manner(place)(OLD) for manner, place in before]
    turns += [manner(place)(last) for manner, place in after]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(in_turn(*turns, file(last, ETAGS[last]))) as server,
    ):
        side = Side(Path(folder))
        assert side.fetch(url_of(server)) == Complete("7")
        # The old content may have arrived before the server changed it; a mixture never does.
        assert side.content in (OLD, last)
        assert side.heads[-1].size_bytes in (0, len(side.content))
        side.fetching.stop(5)
