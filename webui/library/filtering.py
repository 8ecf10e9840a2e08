"""What the filter of a folder finds: names that contain every word, in any case."""

from collections.abc import Iterable


def words_of(query: str) -> list[str]:
    return fold_case(query).split()


def fold_case(text: str) -> str:
    return text.casefold()


def is_match(folded_name: str, words: Iterable[str]) -> bool:
    return all(word in folded_name for word in words)
