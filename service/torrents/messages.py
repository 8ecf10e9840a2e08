"""Encode orders and events as lines of JSON of bounded length, and check them when reading."""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar, get_args

import msgspec

from service.torrents import events
from service.torrents.events import Event, FileOf, Metadata
from service.torrents.orders import EngineSettings, Order, TransferLimits

# The longest line is an order with a magnet link of up to 64 KiB, which escapes may make six times
# as long, and the indexes of up to 100,000 unwanted files.
LONGEST_LINE = 2**21
MOST_FILES = 100_000
LONGEST_PATH = 64 * 1024
FILES_PER_LINE_BYTES = 2**18

Document = dict[str, Any]
EVENTS = {kind.__name__: kind for kind in get_args(events.Event)}
OrderKind = TypeVar("OrderKind", Order, EngineSettings, TransferLimits)


class Garbled(Exception):  # noqa: N818  Errors are nouns here.
    """A line that neither the worker nor the engine writes."""


class Lines:
    """A decoder of documents from bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, piece: bytes) -> list[Document]:
        """Return the documents that this piece completes. Raises Garbled."""
        self._rest += piece
        *whole, rest = self._rest.split(b"\n")
        self._rest = rest
        if any(len(line) > LONGEST_LINE for line in (*whole, rest)):
            raise Garbled
        return [document_of(line) for line in whole]


def document_of(line: bytes | bytearray) -> Document:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Garbled from error
    if not isinstance(document, dict):
        raise Garbled
    return document


def line_of(document: Document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def lines_of_event(event: Event) -> Iterator[bytes]:
    """Yield an event's lines. A torrent's files come first, in extra lines: there may be many."""
    if isinstance(event, Metadata):
        for some in in_portions(event.files):
            yield line_of({"files": msgspec.to_builtins(some), "key": event.key})
        event = replace(event, files=())
    yield line_of({"event": type(event).__name__, **msgspec.to_builtins(event)})


def in_portions(files: tuple[FileOf, ...]) -> Iterator[list[FileOf]]:
    portion: list[FileOf] = []
    letters = 0
    for each in files:
        if letters > FILES_PER_LINE_BYTES // 6:
            yield portion
            portion, letters = [], 0
        portion.append(each)
        letters += sum(map(len, each.path)) + 50
    yield portion


class EventReader:
    """A reader that joins a torrent's files, from their separate lines, with its metadata."""

    def __init__(self) -> None:
        self._files: list[FileOf] = []
        # Keep each name once: files share their folders' names, perhaps a hundred per file.
        self._names: dict[str, str] = {}

    def event(self, document: Document) -> Event | None:
        """Return the event, or None for a portion of files. Raises Garbled."""
        if "files" in document and "event" not in document:
            self._files += map(self._share_names, convert(document["files"], list[FileOf]))
            if len(self._files) > MOST_FILES * 2 + 1:
                raise Garbled
            return None
        kind = EVENTS.get(document.pop("event", ""))
        if kind is None:
            raise Garbled
        read: Event = build(kind, document)
        if isinstance(read, Metadata):
            read, self._files = replace(read, files=tuple(self._files)), []
            self._names = {}
        return read

    def _share_names(self, file: FileOf) -> FileOf:
        path = tuple(self._names.setdefault(name, name) for name in file.path)
        return msgspec.structs.replace(file, path=path)


def order_document(order: Order | EngineSettings | TransferLimits) -> Document:
    return {"order": type(order).__name__, **asdict(order)}


def order_of(document: Document, kind: type[OrderKind]) -> OrderKind:
    """Return the order, settings, or limits in a document. Raises Garbled."""
    if document.pop("order", "") != kind.__name__:
        raise Garbled
    order: OrderKind = build(kind, document)
    return order


def build(kind: type[Any], document: Document) -> Any:
    if document.keys() != {each.name for each in fields(kind)}:
        raise Garbled
    return convert(document, kind)


def convert(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Garbled from error
