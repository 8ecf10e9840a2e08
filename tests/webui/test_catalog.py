"""The catalog of each language is complete and up to date."""

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.utils.translation import to_locale

from tests.people import page
from tests.running import BASE
from tests.sources import tree_of
from tests.tools import program

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != "en"]
SPEAKING = ("common", "config", "host", "service", "templates", "webui")
PLACEHOLDERS = re.compile(r"%\(\w+\)[sd]|%%|\{\w+\}|</?\w[^>]*>")
LINE = re.compile(r'(?:(msg\w+)(?:\[(\d)\])? )?(".*")')
PLURALS = re.compile(r"nplurals=(\d); plural=(.*);")
ENDINGS = str.maketrans("。：？！", ".:?!")


@dataclass(frozen=True)
class Message:
    context: str
    words: str
    plural: str
    said: tuple[str, ...]
    is_fuzzy: bool

    @property
    def key(self) -> tuple[str, str, str]:
        return self.context, self.words, self.plural

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return each form in English and in the language, whose last form is the plural."""
        english = [self.words] * (len(self.said) - 1) + [self.plural or self.words]
        return list(zip(english, self.said, strict=True))


def messages(text: str) -> list[Message]:
    found = [message(block) for block in re.split(r"\n\s*\n", text) if "\nmsgid " in f"\n{block}"]
    assert found[0].words == ""
    return found[1:]


def message(block: str) -> Message:
    fields: dict[str, list[str]] = {}
    name = ""
    for line in block.splitlines():
        if part := LINE.fullmatch(line):
            name = f"{part[1]}{part[2] or ''}" if part[1] else name
            fields.setdefault(name, []).append(ast.literal_eval(part[3]))
    whole = {name: "".join(parts) for name, parts in fields.items()}
    said = tuple(words for name, words in sorted(whole.items()) if name.startswith("msgstr"))
    is_fuzzy = any(re.match(r"#,.*\bfuzzy\b", line) for line in block.splitlines())
    return Message(
        whole.get("msgctxt", ""), whole["msgid"], whole.get("msgid_plural", ""), said, is_fuzzy
    )


def plurals(header: str) -> tuple[str, str]:
    """Return how many plural forms a catalog has, and the rule that chooses one."""
    match = PLURALS.search(header)
    assert match
    return match[1], match[2]


def catalog_of(language: str) -> Path:
    return Path(f"webui/locale/{to_locale(language)}/LC_MESSAGES/django.po")


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def translated(language) -> list[Message]:
    return messages((BASE / catalog_of(language)).read_text())


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    """The messages of the code, extracted from a copy as `make messages` does."""
    program("xgettext")
    copy = tmp_path_factory.mktemp("spoken")
    for folder in SPEAKING:
        leave_out = shutil.ignore_patterns("__pycache__", "locale")
        shutil.copytree(BASE / folder, copy / folder, ignore=leave_out)
    shutil.copy(BASE / "manage.py", copy)
    german = catalog_of("de")
    (copy / german).parent.mkdir(parents=True)
    header, _messages = (BASE / german).read_text().split("\n\n", 1)
    (copy / german).write_text(header)
    command = [sys.executable, "manage.py", "makemessages", "--locale=de", "--no-location"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return messages((copy / german).read_text())


def test_all_that_the_code_says_is_in_the_catalog_and_nothing_else(translated, spoken):
    assert len(spoken) > 600
    keys = {each.key for each in translated}
    assert {each.key for each in spoken} - keys == set(), "make messages, then translate"
    assert keys - {each.key for each in spoken} == set(), "make messages"


def test_no_sentence_is_inside_an_f_string_where_xgettext_misses_it():
    calls = [
        (path, each.lineno)
        for folder in SPEAKING
        for path in (BASE / folder).rglob("*.py")
        for string in ast.walk(tree_of(path))
        if isinstance(string, ast.JoinedStr)
        for each in ast.walk(string)
        if isinstance(each, ast.Call) and ast.unparse(each.func) in ("_", "gettext", "ngettext")
    ]
    assert calls == []


def test_all_of_it_is_translated(language, translated):
    forms, _rule = plurals((BASE / catalog_of(language)).read_text())
    for each in translated:
        assert not each.is_fuzzy, each
        assert len(each.said) == (int(forms) if each.plural else 1), each
        assert all(words.strip() for words in each.said), each


def test_translations_fill_in_what_the_english_fills_in(translated):
    for each in translated:
        for english, words in each.pairs:
            assert fills(words) == fills(english), each


def fills(words: str) -> Counter[str]:
    return Counter(PLACEHOLDERS.findall(words))


def test_translations_speak_as_plainly_as_the_english(translated):
    for each in translated:
        for english, words in each.pairs:
            ends = {words[-1:].translate(ENDINGS), english[-1:]}
            assert not {"!", "！"} & set(words), each
            assert "..." not in words, each
            assert len(ends) == 1 or not ends & set(".?:"), each


def test_the_compiled_catalog_says_the_same(language, translated):
    with (BASE / catalog_of(language)).with_suffix(".mo").open("rb") as file:
        compiled = dict(GNUTranslations(file)._catalog)  # noqa: SLF001  Nothing else lists all.
    assert plurals(compiled.pop("")) == plurals((BASE / catalog_of(language)).read_text())
    written = {}
    for each in translated:
        key = f"{each.context}\x04{each.words}" if each.context else each.words
        if each.plural:
            written |= {(key, number): words for number, words in enumerate(each.said)}
        else:
            written[key] = each.said[0]
    assert compiled == written


@override_settings(LANGUAGES=[("en", "English"), ("he", "Hebrew")])
def test_a_language_that_is_read_from_the_right_turns_the_page(db):
    stranger = Client(headers={"host": "localhost"})
    directions = [
        page(stranger.get("/signin/", headers={"accept-language": language})).html["dir"]
        for language in ("en", "he")
    ]
    assert directions == ["ltr", "rtl"]
