"""Checksums of files, in one go or while they arrive."""

import hashlib
import os
import zlib
from threading import Event

import pytest

from service.store.sums import LARGE_CHUNK_BYTES, Sums, sums_of
from tests.cases import each_case

CONTENT = os.urandom(3 * LARGE_CHUNK_BYTES + 5)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    with (tmp_path / "file").open("rb", buffering=0) as file:
        yield file


def facts(content):
    return (len(content), hashlib.sha1(content).hexdigest(), zlib.crc32(content))


def facts_of(sums):
    return (sums.size_bytes, sums.sha1.hexdigest(), sums.crc32)


@each_case("until", [0, 1, LARGE_CHUNK_BYTES, 3 * LARGE_CHUNK_BYTES, len(CONTENT)])
def test_sums_begun_while_a_file_arrived_are_continued(file, until):
    begun, reported = Sums(), []
    begun.hash_ahead(file, until, Event())
    assert facts_of(begun) == facts(CONTENT[:until])
    assert facts_of(sums_of(file, reported.append, begun)) == facts(CONTENT)
    assert sum(reported) == len(CONTENT)


def test_sums_are_continued_step_by_step(file):
    sums = Sums()
    for until in (7, 7, 5, 2 * LARGE_CHUNK_BYTES, len(CONTENT), len(CONTENT) + 100):
        sums.hash_ahead(file, until, Event())
    assert facts_of(sums) == facts(CONTENT)


def test_an_import_that_fails_leaves_the_sums_begun_as_they_were(file):
    def refuse(_size_bytes):
        if _size_bytes != 9:
            raise InterruptedError

    begun = Sums()
    begun.hash_ahead(file, 9, Event())
    with pytest.raises(InterruptedError):
        sums_of(file, refuse, begun)
    assert facts_of(begun) == facts(CONTENT[:9])
    assert facts_of(sums_of(file, lambda _size_bytes: None, begun)) == facts(CONTENT)
