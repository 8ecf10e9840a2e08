import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.names import key_of
from service.library.bulk_insert import FolderTree as PlantedTree
from service.library.bulk_insert import NewFile
from service.library.tree_names import TorrentTree
from tests.cases import each_case
from tests.service.builders import stored

NAMES = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["a", "A", "é", "e\u0301", "..", ".", "a (2)", "", "\0", "x" * 300, "a/b"]),
)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=5).map(tuple), min_size=1, max_size=12)


@pytest.mark.slow
@given(PATHS)
def test_every_file_has_a_name_that_the_library_takes(paths):
    named = TorrentTree(paths, most_depth=3).paths()
    assert len(named) == len(paths)
    planted = PlantedTree([NewFile(path, stored()) for path in named])
    assert len(planted.files) == len(paths)
    assert planted.depth <= 3


@each_case(
    ("paths", "named"),
    [
        ([("a",), ("a",)], [("a",), ("a (2)",)]),
        (
            [("a.txt",), ("a.txt",), ("a (2).txt",)],
            [("a.txt",), ("a (2).txt",), ("a (2) (2).txt",)],
        ),
        ([("a",), ("a", "b")], [("a (2)",), ("a", "b")]),
        ([("é", "x"), ("e\u0301", "x")], [("é", "x"), ("é", "x (2)")]),
        ([("..", "..", "etc")], [("_", "_", "etc")]),
        ([("A",), ("a",)], [("A",), ("a",)]),
    ],
)
def test_names_are_compared_as_in_the_library(paths, named):
    found = TorrentTree(paths, most_depth=100).paths()
    assert [tuple(map(key_of, path)) for path in found] == [
        tuple(unicodedata.normalize("NFC", name) for name in path) for path in named
    ]


def test_too_deep_a_file_keeps_its_name_and_loses_folders():
    deep = tuple(str(number) for number in range(5000))
    assert TorrentTree([deep], most_depth=4).paths() == [("0", "1", "2", "4999")]


def test_ten_thousand_twins_take_no_time():
    started = time.thread_time()
    assert len(set(TorrentTree([("a",)] * 10_000, most_depth=9).paths())) == 10_000
    assert time.thread_time() - started < 5
