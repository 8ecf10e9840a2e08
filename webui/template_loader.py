"""Load templates without the white space that only lays them out.

A line break and the indentation around it send one space between two words and inside a tag, and
nothing anywhere else. So each element can have its own line without making pages larger.
"""

import re

from django.template import Origin
from django.template.loaders import filesystem

CODE = r"{%.*?%}|{{.*?}}|{#.*?#}"
TAG = rf"""<[a-zA-Z/!](?:"(?:{CODE}|[^"])*"|'(?:{CODE}|[^'])*'|{CODE}|[^>"'])*>"""
# gettext looks sentences up as they are, and a text field shows every line break.
KEPT = rf"{{% blocktranslate\b.*?{{% endblocktranslate %}}|<textarea\b.*?</textarea>|{CODE}"
BREAK = r"\s*\n\s*"
PART = re.compile(
    rf"(?P<kept>{KEPT})|(?P<tag>{TAG})|(?P<break>{BREAK})|(?P<word>[^<{{\s]+|.)", re.DOTALL
)


class Loader(filesystem.Loader):
    def get_contents(self, origin: Origin) -> str:
        source = super().get_contents(origin)
        return without_layout(source) if str(origin.name).endswith(".html") else source


def without_layout(source: str) -> str:
    parts: list[str] = []
    is_after_word = is_after_break = False
    for part in PART.finditer(source):
        if part.lastgroup == "break":
            is_after_break = True
            continue
        is_word = part.lastgroup == "word"
        if is_after_break and is_after_word and is_word:
            parts.append(" ")
        is_tag = part.lastgroup == "tag"
        parts.append(re.sub(BREAK, " ", part[0]) if is_tag else part[0])
        is_after_word, is_after_break = is_word, False
    return "".join(parts)
