"""Screens use the words of docs/glossary.md, in English and in German."""

import re
from dataclasses import dataclass

import pytest

from tests.running import BASE
from tests.webui.test_catalogue import PLACEHOLDERS, Message, catalog_of, messages


@dataclass(frozen=True)
class Row:
    english: list[str]
    german: list[str]
    avoid_in_english: list[str]
    avoid_in_german: list[str]


def words_of(cell: str) -> list[str]:
    return [word.strip(" `") for word in cell.split(",") if word.strip()]


def rows() -> list[Row]:
    table = (BASE / "docs/glossary.md").read_text().split("\n## On screens\n")[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [Row(*map(words_of, line.split("|")[1:5])) for line in lines]


@pytest.fixture(scope="module")
def catalog() -> list[Message]:
    return messages((BASE / catalog_of("de")).read_text())


def texts(message: Message) -> tuple[str, str]:
    """Return the English and the German words, without placeholders and tags."""
    english = PLACEHOLDERS.sub("", f"{message.words}\n{message.plural}")
    return english, PLACEHOLDERS.sub("", "\n".join(message.said))


def has_word(text: str, word: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", text, re.IGNORECASE))


def test_no_message_has_a_word_to_avoid(catalog):
    bad = []
    for message in catalog:
        english, german = texts(message)
        for row in rows():
            bad += [(word, english) for word in row.avoid_in_english if has_word(english, word)]
            bad += [(word, german) for word in row.avoid_in_german if has_word(german, word)]
    assert bad == []


def test_every_word_is_on_a_screen(catalog):
    english, german = map("\n".join, zip(*map(texts, catalog), strict=True))
    assert [word for row in rows() for word in row.english if not has_word(english, word)] == []
    missing = [word for row in rows() for word in row.german if word.lower() not in german.lower()]
    assert missing == []


def test_a_noun_is_always_translated_by_the_same_noun(catalog):
    bad = []
    for row in (row for row in rows() if row.german and row.german[0][0].isupper()):
        for message in catalog:
            english, german = texts(message)
            if any(has_word(english, word) for word in row.english):
                is_same = any(word.lower() in german.lower() for word in row.german)
                bad += [] if is_same else [(row.english, english, german)]
    assert bad == []
