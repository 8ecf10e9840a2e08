"""Screens use the words of docs/glossary.md in every language."""

import re
from dataclasses import dataclass
from functools import cache

import pytest
from django.utils.translation import get_language_info

from tests.running import BASE
from tests.webui.test_catalog import LANGUAGES, PLACEHOLDERS, Message, catalog_of, messages

NAMES = [get_language_info(code)["name"] for code in ("en", *LANGUAGES)]
HEAD = [*NAMES, "avoid in English", "avoid in German", "why"]


@dataclass(frozen=True)
class Row:
    english: list[str]
    translations: dict[str, list[str]]
    avoid: dict[str, list[str]]

    def nouns(self, language: str) -> list[str]:
        """Return the translations of a noun. Verbs change too much to be looked for."""
        words = self.translations[language]
        return [] if language == "de" and words and words[0][0].islower() else words


def rows() -> list[Row]:
    table = (BASE / "docs/glossary.md").read_text().split("\n## On screens\n")[1]
    head, _line, *lines = [line.split("|")[1:-1] for line in table.splitlines() if line[:1] == "|"]
    assert [name.strip() for name in head] == HEAD
    return [row(*map(words_of, cells[:-1])) for cells in lines]


def row(english: list[str], *cells: list[str]) -> Row:
    *translations, avoid_in_english, avoid_in_german = cells
    avoid = {"en": avoid_in_english, "de": avoid_in_german}
    return Row(english, dict(zip(LANGUAGES, translations, strict=True)), avoid)


def words_of(cell: str) -> list[str]:
    return [word.strip(" `") for word in cell.split(",") if word.strip()]


@pytest.fixture(scope="module", params=LANGUAGES)
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


def unquoted(text: str) -> str:
    return re.sub(r"“[^”]*”|„[^“]*“", "", text)


def test_no_message_has_a_word_to_avoid():
    # Names in quotes may be those of other programs' buttons.
    said_in = [(unquoted(english), unquoted(german)) for english, german in texts("de")]
    bad = []
    for row in rows():
        for english, german in said_in:
            bad += [(word, english) for word in row.avoid["en"] if has_word(english, word)]
            bad += [(word, german) for word in row.avoid["de"] if has_word(german, word)]
    assert bad == []


def test_every_english_word_is_on_a_screen():
    english = "\n".join(english for english, _said in texts("de"))
    assert [word for row in rows() for word in row.english if not has_word(english, word)] == []


def test_every_translation_is_on_a_screen(language):
    said = "\n".join(said for _english, said in texts(language))
    words = [word for row in rows() for word in row.translations[language]]
    assert [word for word in words if not has_any(said, [word])] == []


def test_a_noun_is_always_translated_by_the_same_noun(language):
    nouns = [(row.english, row.nouns(language)) for row in rows() if row.nouns(language)]
    assert len(nouns) > 20
    said_in = texts(language)
    bad = [
        (words, english, said)
        for words, translations in nouns
        for english, said in said_in
        if any(has_word(english, word) for word in words) and not has_any(said, translations)
    ]
    assert bad == []
