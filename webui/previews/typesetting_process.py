"""Highlight code and render Markdown, within limits on time and memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from webui.limiter import Limiter

PROGRAM = Path(__file__).with_name("typesetting.py")
MOST_SECONDS = 4
MOST_COLOURED = 100_000
LONGEST_LINE = 3_000
LETTERS = frozenset("cknsd")

TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre"),
    *("code", "em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
SCHEMES = {"http", "https", "mailto"}

turns = Limiter(2, wait_seconds=MOST_SECONDS)


def highlight(text: str, language: str) -> list[str | SafeString]:
    """Return highlighted lines. Lines beyond the limit stay plain, as do all if coloring fails."""
    lines = text.removesuffix("\n").split("\n")
    count = len(lines) if len(text) <= MOST_COLOURED else text.count("\n", 0, MOST_COLOURED)
    head, tail = lines[:count], lines[count:]
    if not language or any(len(line) > LONGEST_LINE for line in head):
        return [*head, *tail]
    answer = ask_child({"kind": "code", "language": language, "text": "\n".join(head)})
    if not isinstance(answer, list):
        return [*head, *tail]
    finished_lines = answer[: len(head)]
    return [*map(highlight_line, finished_lines), *head[len(finished_lines) :], *tail]


def highlight_line(line: list[list[str]]) -> SafeString:
    """Escape the text, which strangers wrote. The letters are our own."""
    parts = [
        f'<span class="{letter}">{escape(text)}</span>' if letter in LETTERS else escape(text)
        for letter, text in line
    ]
    return mark_safe("".join(parts))  # noqa: S308  Each part is escaped.


def prose(text: str) -> SafeString | None:
    """Return HTML, or None if rendering fails; the text is then shown as lines."""
    html = ask_child({"kind": "markdown", "text": text})
    if not isinstance(html, str):
        return None
    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        attribute_filter=elsewhere,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(cleaned)  # noqa: S308  Cleaned of all but the tags above.


def elsewhere(tag: str, attribute: str, value: str) -> str | None:
    """Drop relative links, which would lead to some page of Ferry."""
    if tag == "a" and attribute == "href":
        scheme, colon, _rest = value.partition(":")
        return value if colon and scheme.lower() in SCHEMES else None
    return value


def ask_child(question: dict[str, str]) -> Any:
    """Return None if the child takes too long or costs too much, or if too many ask at once."""
    try:
        with turns.one():
            result = subprocess.run(  # noqa: S603  Our own program; the text is its input.
                [sys.executable, "-I", str(PROGRAM)],
                input=json.dumps(question).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                timeout=MOST_SECONDS,
                check=True,
            )
            return json.loads(result.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None
