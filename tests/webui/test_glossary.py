"""Screens use the words of docs/glossary.md in every language."""

import re
from dataclasses import dataclass
from functools import cache

import pytest

from tests.running import BASE
from tests.webui.test_catalogue import PLACEHOLDERS, Message, catalog_of, messages


@dataclass(frozen=True)
class Row:
    english: list[str]
    german: list[str]
    spanish: list[str]
    avoid_in_english: list[str]
    avoid_in_german: list[str]

    @property
    def nouns(self) -> dict[str, list[str]]:
        """Return the translations of a noun. Verbs change too much to be looked for."""
        is_noun = bool(self.german) and self.german[0][0].isupper()
        return {"de": self.german if is_noun else [], "es": self.spanish}


def words_of(cell: str) -> list[str]:
    return [word.strip(" `") for word in cell.split(",") if word.strip()]


def rows() -> list[Row]:
    table = (BASE / "docs/glossary.md").read_text().split("\n## On screens\n")[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [Row(*map(words_of, line.split("|")[1:6])) for line in lines]


@pytest.fixture(scope="module", params=["de", "es"])
def language(request) -> str:
    return request.param


def texts(language: str) -> list[tuple[str, str]]:
    """Return the English and the translated words, without placeholders and tags."""
    return [bare(message) for message in messages((BASE / catalog_of(language)).read_text())]


def bare(message: Message) -> tuple[str, str]:
    english = PLACEHOLDERS.sub("", f"{message.words}\n{message.plural}")
    return english, PLACEHOLDERS.sub("", "\n".join(message.said))


@cache
def pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", re.IGNORECASE)


def has_word(text: str, word: str) -> bool:
    return bool(pattern(word).search(text))


def has_any(text: str, words: list[str]) -> bool:
    return any(word.lower() in text.lower() for word in words)


def test_no_message_has_a_word_to_avoid():
    said_in = texts("de")
    bad = []
    for row in rows():
        for english, german in said_in:
            bad += [(word, english) for word in row.avoid_in_english if has_word(english, word)]
            bad += [(word, german) for word in row.avoid_in_german if has_word(german, word)]
    assert bad == []


def test_every_word_is_on_a_screen():
    english, german = map("\n".join, zip(*texts("de"), strict=True))
    spanish = "\n".join(spanish for _english, spanish in texts("es"))
    assert [word for row in rows() for word in row.english if not has_word(english, word)] == []
    assert [word for row in rows() for word in row.german if not has_any(german, [word])] == []
    assert [word for row in rows() for word in row.spanish if not has_any(spanish, [word])] == []


def test_a_noun_is_always_translated_by_the_same_noun(language):
    nouns = [(row.english, row.nouns[language]) for row in rows() if row.nouns[language]]
    assert len(nouns) > 20
    said_in = texts(language)
    bad = [
        (words, english, said)
        for words, translations in nouns
        for english, said in said_in
        if any(has_word(english, word) for word in words) and not has_any(said, translations)
    ]
    assert bad == []
