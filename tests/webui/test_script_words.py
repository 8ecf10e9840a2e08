"""The words that scripts show, and the JSON block that carries them."""

import json
import re

import pytest
from django.conf import settings
from django.utils import translation

from tests.people import page
from webui.script_words import SUBJECTS, plural

SCRIPTS = {
    path.relative_to(settings.BASE_DIR): path.read_text()
    for path in (settings.BASE_DIR / "static/js").rglob("*.js")
}
ALL = "\n".join(SCRIPTS.values())
# A choice among words is written `words.subject[key]`; the keys then stand somewhere as strings.
CHOSEN = set(re.findall(r"\bwords\.(\w+)\[", ALL))
WORDS = [(subject, key) for subject, words in SUBJECTS.items() for key in words()]


def names() -> set[tuple[str, str]]:
    whole = set(re.findall(r"\bwords\.(\w+)\.(\w+)", ALL))
    for keys, subject in re.findall(r"const \{ ([\w, ]+) \} = words\.(\w+);", ALL):
        whole |= {(subject, key) for key in keys.split(", ")}
    return whole


def test_scripts_use_only_words_that_exist():
    assert len(names()) > 50
    assert names() - set(WORDS) == set()


def test_no_word_is_sent_for_nothing():
    unused = {
        (subject, key)
        for subject, key in set(WORDS) - names()
        if subject not in CHOSEN or not re.search(rf"[\"']{key}[\"']", ALL)
    }
    assert unused == set()


@pytest.mark.django_db
def test_a_page_has_its_words_in_one_block(alice):
    shown = page(alice.client.get("/"))
    (block,) = shown.select("script[type='application/json']")
    words = json.loads(block.string)
    assert block["id"] == "words"
    assert set(words) == {"shell", "selection", "files", "upload", "time"}
    assert words["files"]["drop"]["1"].startswith("{count} item.")


def test_each_plural_form_has_a_number_that_selects_it():
    def polish(count: int) -> str:
        if count == 1:
            return "plik"
        is_few = 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14
        return "pliki" if is_few else "plików"

    assert plural(polish) == {0: "plików", 1: "plik", 2: "pliki"}


def test_words_are_in_the_language_of_the_reader():
    with translation.override("de"):
        german = SUBJECTS["upload"]()
    assert german["left"] != SUBJECTS["upload"]()["left"]
