"""A table of tests: the words of each row of the specification, and a function that tests it."""

from collections.abc import Callable

from tests.contract.speaking import V1

Shows = Callable[[V1], None]


class Rows(dict[str, Shows]):
    def __call__(self, words: str) -> Callable[[Shows], Shows]:
        def add(shows: Shows) -> Shows:
            assert words not in self, words
            self[words] = shows
            return shows

        return add
