"""What search compares: the words of a name, and the patterns that a query looks for in them.

" big buck bunny mkv " is the text of `Big_Buck-Bunny.mkv`: folded letters without marks, words
apart, and a space at either end. Characters of scripts without spaces are words, as are symbols.
So a pattern of three characters or more is a part of the text, wherever it is in the name.
"""

import re
import unicodedata
from collections.abc import Iterator

# Han and kana, which separate no words, and symbols such as emoji.
ALONE = (
    "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u2190-\u2bff\U0001f000-\U0001faff"
)
WORD = re.compile(rf"[{ALONE}]|[^\W_{ALONE}]+")
IS_ALONE = re.compile(rf"[{ALONE}]")
SHORTEST_PART = 3
MOST_PATTERNS = 16
LONGEST_QUERY = 255


def search_text(name: str) -> str:
    """Return the text of a name; it is never empty, which would mean that it isn't known yet."""
    return f" {' '.join(words_of(name))} "


def words_of(text: str) -> list[str]:
    # Folding a letter may yield one with a mark.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return WORD.findall("".join(each for each in folded if not unicodedata.combining(each)))


def patterns_of(query: str, *, at_start: bool = False) -> list[str]:
    """Return what a text must contain: a pattern for each part of the query between spaces.

    A pattern may begin within a word unless `at_start`, or unless its word is short.
    """
    return list(_patterns(query[:LONGEST_QUERY], at_start=at_start))[:MOST_PATTERNS]


def _patterns(query: str, *, at_start: bool) -> Iterator[str]:
    for part in query.split():
        words = words_of(part)
        if not words:
            continue
        text = " ".join(words)
        is_within = len(text) >= SHORTEST_PART and not IS_ALONE.match(text) and not at_start
        yield ("" if is_within else " ") + text + (" " if IS_ALONE.match(words[-1]) else "")


def trigrams_of(pattern: str) -> list[str]:
    return [pattern[start : start + 3] for start in range(len(pattern) - 2)]


def in_quotes(trigram: str) -> str:
    """Return a trigram as SQLite's full-text index takes it."""
    return '"{}"'.format(trigram.replace('"', '""'))
