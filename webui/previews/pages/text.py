"""The preview of a piece of text: as lines, a table, cues, or prose."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.addresses import Addresses, with_query
from webui.library.entries import Entry
from webui.previews.code_languages import label_of, language_of
from webui.previews.pages import layouts
from webui.previews.pages.layouts import CueRow, Table
from webui.previews.text_pieces import TextPiece
from webui.v1.errors import Failure
from webui.words import formatting
from webui.words.failures import ErrorMessage, message_of

READ = frozenset({"text", "code", "markdown", "table", "subtitle"})
ART = frozenset({"nfo", "diz"})
MOST_LINES = 4_000
MOST_ROWS = 500


# What highlights code and renders Markdown. Views pass both in, since pages do no I/O.
Highlight = Callable[[str, str], list[str | SafeString]]
Prose = Callable[[str], SafeString | None]


@dataclass(frozen=True)
class TextPart:
    """A text preview. `form` is lines, art, prose, table, cues, empty, or failed."""

    form: str
    lines: list[str | SafeString] = field(default_factory=list)
    prose: SafeString | None = None
    table: Table | None = None
    cues: list[CueRow] = field(default_factory=list)
    is_first: bool = True
    is_wrapped: bool = False
    more_url: str = ""
    more_page_url: str = ""
    more_text: str = ""
    lines_text: str = ""
    language: str = ""
    failure: ErrorMessage | None = None


def most_lines(entry: Entry) -> int:
    return MOST_ROWS if entry.preview == "table" else MOST_LINES


def is_art(entry: Entry) -> bool:
    return entry.extension in ART


def failed_part(failure: Failure) -> TextPart:
    return TextPart("failed", failure=message_of(failure))


def text_part(
    entry: Entry, piece: TextPiece, at: Addresses, highlight: Highlight, prose: Prose
) -> TextPart:
    more = urlencode({"from": piece.stop, "enc": piece.encoding})
    more_page = urlencode({"at": piece.stop, "enc": piece.encoding})
    page_url, content = at.preview(entry.key), content_of(entry, piece, highlight, prose)
    return replace(
        content,
        is_first=piece.start == 0,
        is_wrapped=entry.preview != "code",
        more_url="" if piece.is_last else f"{at.below}{entry.key}/text/?{more}",
        more_page_url="" if piece.is_last else with_query(page_url, more_page),
        more_text=more_text(piece, entry),
        lines_text=lines_text(len(content.lines)) if piece.is_whole else "",
        language="Markdown" if entry.preview == "markdown" else label_of(entry.name),
    )


def content_of(entry: Entry, piece: TextPiece, highlight: Highlight, prose: Prose) -> TextPart:
    text, has_head = piece.text, piece.start == 0
    if not text:
        return TextPart("empty")
    match entry.preview:
        case "markdown":
            if (html := prose(text)) is not None:
                return TextPart("prose", prose=html)
        case "table":
            if table := layouts.table_of(text, entry.extension, has_head=has_head):
                return TextPart("table", table=table)
        case "subtitle":
            if cues := layouts.cues_of(text, entry.extension):
                return TextPart("cues", cues=cues)
        case "code":
            if entry.extension == "json" and piece.is_whole:
                text = layouts.laid_out(text, MOST_LINES)
            return TextPart("lines", lines=highlight(text, language_of(entry.name)))
    lines: list[str | SafeString] = [*text.removesuffix("\n").split("\n")]
    return TextPart("art" if is_art(entry) else "lines", lines=lines)


def more_text(piece: TextPiece, entry: Entry) -> str:
    size_so_far = formatting.size_words(piece.stop)
    if not entry.size_bytes:
        return _("%(shown)s so far") % {"shown": size_so_far}
    sizes = {"shown": size_so_far, "size": formatting.size_words(entry.size_bytes)}
    return _("%(shown)s of %(size)s so far") % sizes


def lines_text(count: int) -> str:
    words = ngettext("%(count)s line", "%(count)s lines", count)
    return words % {"count": formatting.count_words(count)} if count else ""
