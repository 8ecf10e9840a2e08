"""What search compares where the site searches itself: words without case, marks, and punctuation.

" big buck bunny mkv " is the text of `Big_Buck-Bunny.mkv`. Characters of scripts without spaces
are words.
"""

import re
import unicodedata
from collections.abc import Iterator

ALONE = "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han and kana
WORD = re.compile(rf"[{ALONE}]|[^\s{ALONE}]+")
PUNCTUATION = re.compile(r"[^\w\u2190-\u2bff\U0001f000-\U0001faff]|_")  # and no symbols
SHORTEST_PART = 3
MOST_PATTERNS = 16


def search_text(name: str) -> str:
    return f" {' '.join(words_of(name))} "


def words_of(text: str) -> list[str]:
    # Folding a letter may yield one with a mark.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(each for each in folded if not unicodedata.combining(each))
    return WORD.findall(PUNCTUATION.sub(" ", plain))


def patterns_of(query: str, *, at_start: bool) -> list[str]:
    """Return what a text must contain: a pattern for each part of the query between spaces.

    A pattern may begin within a word unless `at_start`, or unless it is short.
    """
    return [*_patterns(query, at_start=at_start)][:MOST_PATTERNS]


def _patterns(query: str, *, at_start: bool) -> Iterator[str]:
    for part in query.split():
        text = " ".join(words_of(part))
        if text:
            yield text if len(text) >= SHORTEST_PART and not at_start else f" {text}"


def trigrams_of(pattern: str) -> list[str]:
    return [pattern[start : start + 3] for start in range(len(pattern) - 2)]
