"""The languages of films and subtitles, as file names spell them."""

import re
from dataclasses import dataclass

from django.conf.locale import LANG_INFO
from django.utils.translation import gettext as _

# ISO 639-2 codes for the most common languages of films, both codes if a language has two.
LONG_WORDS = """
ara:ar baq:eu eus:eu bel:be ben:bn bos:bs bul:bg cat:ca ces:cs cze:cs chi:zh zho:zh cym:cy
wel:cy dan:da deu:de ger:de dut:nl nld:nl ell:el gre:el eng:en epo:eo est:et fas:fa per:fa
fil:tl fin:fi fra:fr fre:fr geo:ka kat:ka gle:ga glg:gl heb:he hin:hi hrv:hr hun:hu hye:hy
arm:hy ice:is isl:is ind:id ita:it jpn:ja kan:kn kaz:kk khm:km kor:ko lav:lv lit:lt mac:mk
mkd:mk mal:ml may:ms msa:ms mon:mn nob:nb nno:nn nor:no pol:pl por:pt pob:pt-br ron:ro
rum:ro rus:ru slk:sk slo:sk slv:sl spa:es sqi:sq alb:sq srp:sr swe:sv tam:ta tel:te tha:th
tgl:tl tur:tr ukr:uk urd:ur vie:vi zht:zh-hant
"""
LONGEST_LABEL = 60
BETWEEN = re.compile(r"[\s._()\[\],+-]+")
# `pt-BR` and `zh-Hant` count as one word.
REGIONAL = re.compile(
    r"(?i)(?<![a-z0-9])([a-z]{2})[-_](br|pt|hans|hant|cn|tw|hk|gb|us|mx|es)(?![a-z0-9])"
)
LONG_CODES = dict(word.split(":") for word in LONG_WORDS.split())
OTHERS = {"zh": ("Chinese", "中文"), "tl": ("Filipino", "Filipino"), "iw": ("Hebrew", "עברית")}
OTHERS |= {"jp": ("Japanese", "日本語"), "cn": ("Chinese", "中文"), "cz": ("Czech", "Čeština")}
TRUE_CODES = {"iw": "he", "jp": "ja", "cn": "zh", "cz": "cs"}

# Before Unicode, texts in these languages were all encoded in Windows-1252.
WESTERN = frozenset({
    *("af", "ca", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "gl", "is", "it", "nb"),
    *("nl", "nn", "no", "pt", "pt-br", "sv"),
})  # fmt: skip


# The English and native names of languages, by code.
NAMES = {
    code: (str(facts["name"]), str(facts["name_local"]))
    for code, facts in LANG_INFO.items()
    if "name" in facts
} | OTHERS
BY_NAME = {
    name.casefold(): code
    for code, names in reversed(NAMES.items())
    for name in names
    if code not in TRUE_CODES
} | {"brazilian": "pt-br", "castilian": "es", "latino": "es", "mandarin": "zh"}


@dataclass(frozen=True)
class Sidecar:
    id: str
    language: str  # "" if the name doesn't say
    label: str
    url: str  # of its words as WebVTT


def code_of(word: str) -> str:
    """Return the code of `en`, `eng`, `English`, `deutsch`, or `pt-BR`; empty for other words."""
    key = word.casefold().replace("_", "-")
    key = LONG_CODES.get(key, key)
    if key in NAMES:
        return TRUE_CODES.get(key, key)
    return BY_NAME.get(key, "")


def own_name(code: str) -> str:
    """Return the native name, since it is the language's speakers who look for it."""
    name = NAMES[code][1]
    return name[:1].upper() + name[1:]


def code_and_label(words: str) -> tuple[str, str]:
    """Return the code of a file name's language, and the menu's label. Search from the end, since
    the words may begin with a film's title."""
    parts = [part for part in BETWEEN.split(REGIONAL.sub(r"\1=\2", words)) if part]
    codes = [code_of(part.replace("=", "-")) for part in reversed(parts)]
    code = next(filter(None, codes), "")
    if not code:
        code = next(filter(None, (code_of(part[:2]) for part in parts if "=" in part)), "")
    label = own_name(code) if code else " ".join(parts).replace("=", "-")
    if "forced" in parts:
        label = _("%(language)s, forced") % {"language": label}
    elif not {"sdh", "cc"}.isdisjoint(parts):
        label = _("%(language)s, for the hard of hearing") % {"language": label}
    return code, label[:LONGEST_LABEL]
