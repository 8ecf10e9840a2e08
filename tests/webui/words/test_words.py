"""Every word that people read goes through gettext, as a made-up language shows."""

import json
import re
from collections.abc import Iterator

import pytest
from bs4 import BeautifulSoup, Comment
from django.utils import translation
from django.utils.translation import trans_real

from tests.cases import each_case
from tests.people import page
from webui.templatetags.site import pieces_of
from webui.transfers import states
from webui.words.formatting import units

pytestmark = pytest.mark.django_db
# Words that Ferry doesn't translate: Django's, data, keys, and the name of the program.
NOT_OURS = re.compile(
    r"(· )?Ferry|alice|[A-Za-z?]|Esc|F2|[\d\W]+|[\d.,]+ [KMGT]B|curl .*|a\.example"
    r"|owner@example\.org|PRO, [\d.]+ GB"
)
SPOKEN = [
    "aria-label",
    "title",
    "alt",
    "placeholder",
]


ASKED = "/add/?text=magnet:%3Fxt=urn:btih:" + "8" * 40 + "&url=http://a.example/&text=x:y"


class Marked:
    """A language in which every translated sentence is enclosed in « and »."""

    def __enter__(self):
        translation.activate("en")
        self.catalog = trans_real.translation("en")
        self.plain = self.catalog.gettext, self.catalog.ngettext
        gettext, ngettext = self.plain
        self.catalog.gettext = lambda words: f"«{without_context(gettext(words))}»" * bool(words)
        self.catalog.ngettext = lambda one, many, n: f"«{ngettext(one, many, n)}»"
        forget_translations()

    def __exit__(self, *_error):
        self.catalog.gettext, self.catalog.ngettext = self.plain
        forget_translations()


def forget_translations() -> None:
    """Clear what is translated once for each language: this one is called English, too."""
    units.cache_clear()
    pieces_of.cache_clear()


def without_context(words: str) -> str:
    return words.rpartition(trans_real.CONTEXT_SEPARATOR)[2]


def english(soup: BeautifulSoup) -> list[str]:
    """Return the text outside « and », except the names of languages and elements with
    translate=no."""
    for name in soup.select("body [lang], body [translate=no]"):
        name.extract()
    block = soup.select_one("script#words")
    assert block is not None
    texts = list(sentences(json.loads(block.extract().string)))
    texts += [str(node) for node in soup.find_all(string=True) if not isinstance(node, Comment)]
    texts += [tag[name] for name in SPOKEN for tag in soup.select(f"[{name}]")]
    whole, shorter = "", "\n".join(texts)
    while whole != shorter:  # One sentence may contain another, or a tag.
        whole, shorter = shorter, re.sub(r"«[^«»]*»", "", shorter)
    left = [line.strip() for line in whole.splitlines()]
    return [text for text in left if text and not NOT_OURS.fullmatch(text) and text != "html"]


def sentences(words: dict | str) -> Iterator[str]:
    """Yield the sentences of a JSON block, which has a form for each plural category."""
    if isinstance(words, str):
        yield words
    else:
        for each in words.values():
            yield from sentences(each)


@each_case(
    "path",
    [
        "/",
        "/transfers/",
        "/account/",
        "/account/server/",
        "/account/limits/",
        "/files/largest/",
        "/files/deleted/",
        "/search/",
        "/search/?q=film",
        "/add/",
        ASKED,
        "/offline/",
        "/nowhere/",
        "/signout/",
        "/signin/",
    ],
)
def test_no_sentence_escapes_translation(alice, path):
    if path == "/signin/":
        alice.client.logout()
    with Marked():
        soup = page(alice.client.get(path))
    assert "«" in soup.get_text()
    assert english(soup) == []


def test_every_state_of_a_transfer_is_translated(alice, storage):
    for state in sorted(states.ENDED | set(states.BANDS) - {states.GONE}):
        storage.transfer("alice", state=state, size=10**10, progress=50, connected_to=2)
    with Marked():
        soup = page(alice.client.get("/transfers/"))
    assert len(soup.select(".transfer")) > 5
    assert english(soup) == []


def test_refusals_of_forms_are_translated(alice):
    with Marked():
        soup = page(alice.client.post("/account/password/", {"old_password": "wrong"}))
    assert soup.select("[aria-invalid=true]")
    assert english(soup) == []
