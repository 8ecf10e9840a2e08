"""Highlight code and render Markdown, as a program that typesetting_process.py runs.

The program reads one text and writes one result. On a malicious text, patterns can run forever.
Python can't stop a thread, but it can stop a process, and this one also limits itself.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

CPU_SECONDS = 2
# On a slow machine, color the first lines of a long text instead of none.
COLORING_SECONDS = 1.5
MEMORY_BYTES = 768 * 2**20
MOST_ANSWERED = 4 * 2**20

Line = list[tuple[str, str]]


def code(question: dict[str, str]) -> list[Line]:
    """Return lines of pieces, each with the letter of its class: keyword, string, number, comment.

    Return only the lines that were finished in time.
    """
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415  Only one of the two is needed.

    lexer = get_lexer_by_name(question["language"], stripnl=False, ensurenl=False)
    lines: list[Line] = [[]]
    for kind, text in lexer.get_tokens(question["text"]):
        first, *others = text.split("\n")
        add(lines[-1], letter_of(str(kind)), first)
        for other in others:
            lines.append([])
            add(lines[-1], letter_of(str(kind)), other)
        if time.process_time() > COLORING_SECONDS:
            return lines[:-1]
    return lines


def add(line: Line, letter: str, text: str) -> None:
    if not text:
        return
    if line and line[-1][0] == letter:
        text = line.pop()[1] + text
    line.append((letter, text))


LETTERS = {
    "Token.Comment": "c",
    "Token.Keyword.Constant": "n",
    "Token.Keyword": "k",
    "Token.Operator.Word": "k",
    "Token.Name.Tag": "k",
    "Token.Literal.String": "s",
    "Token.Literal": "n",
    "Token.Generic.Deleted": "d",
    "Token.Generic.Inserted": "s",
}


def letter_of(kind: str) -> str:
    return next((letter for name, letter in LETTERS.items() if kind.startswith(name)), "")


def markdown(question: dict[str, str]) -> str:
    """Render Markdown without raw HTML. Headings are one level lower, since the page has its own;
    of pictures, only the words remain."""
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = parser.parse(question["text"])
    for token in walk(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.type == "image":
            token.type, token.tag = "text", ""
    return str(parser.renderer.render(tokens, parser.options, {}))


def walk(tokens: list[Any]) -> Iterator[Any]:
    for token in tokens:
        yield token
        yield from token.children or ()


KINDS: dict[str, Callable[[dict[str, str]], object]] = {"code": code, "markdown": markdown}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    question = json.load(sys.stdin.buffer)
    answer = json.dumps(KINDS[question["kind"]](question))
    if len(answer) <= MOST_ANSWERED:
        sys.stdout.write(answer)


if __name__ == "__main__":
    main()
