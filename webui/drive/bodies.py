"""Read what programs send in XML, and the bytes of their files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from xml.etree import ElementTree as ET

from django.http import HttpRequest

from webui.drive.refusals import Refused
from webui.http.bodies import RequestReader
from webui.uploads.receiving import parse_bytes

MOST_XML_BYTES = 64 * 1024
MOST_DEPTH, MOST_ELEMENTS = 32, 2_000
# Each name contains its namespace in full.
LONGEST_NAMESPACE = 300
# Each entry of a folder answers each of these properties.
MOST_NAMES, MOST_NAME_CHARACTERS = 100, 8_000
PIECE_BYTES = 2**18
DAV = "{DAV:}"


class Builder(ET.TreeBuilder):
    """Builds a tree without a DTD, and so without entities. It stays flat, since ElementTree's
    functions are recursive."""

    _depth = _count = 0

    def doctype(self, *_declaration: str | None) -> None:
        raise Refused(400, "a DTD isn't allowed")

    def start_ns(self, _prefix: str, uri: str) -> None:
        if len(uri) > LONGEST_NAMESPACE:
            raise Refused(400, "a namespace is too long")

    def start(self, tag: str, attributes: dict[str, str]) -> ET.Element:
        self._depth += 1
        self._count += 1
        if self._depth > MOST_DEPTH or self._count > MOST_ELEMENTS:
            raise Refused(400, "too many elements")
        return super().start(tag, attributes)

    def end(self, tag: str) -> ET.Element:
        self._depth -= 1
        return super().end(tag)


def read_xml(request: HttpRequest) -> ET.Element | None:
    """Return the root element of the body, or None if there is no body. Raises Refused."""
    pieces = bytearray()
    for piece in pieces_of(request, 8 * 1024):
        pieces += piece
        if len(pieces) > MOST_XML_BYTES:
            raise Refused(413)
    if not pieces.strip():
        return None
    parser = ET.XMLParser(target=Builder())  # noqa: S314  Builder refuses what is dangerous.
    try:
        parser.feed(bytes(pieces))
        root: ET.Element = parser.close()
    except (ET.ParseError, ValueError, LookupError) as malformed:
        raise Refused(400, "malformed XML") from malformed
    return root


def length_of(request: HttpRequest) -> int | None:
    """Return the length of the body, or None if it comes in chunks, as Finder sends files."""
    length_bytes = parse_bytes(request.META.get("CONTENT_LENGTH") or "")
    if length_bytes is not None:
        return length_bytes
    if request.META.get("wsgi.input_terminated") and request.headers.get("Transfer-Encoding"):
        return None
    return 0


def pieces_of(request: HttpRequest, size: int = PIECE_BYTES) -> Iterator[bytes]:
    """Return the bytes of the body. Reading them raises CutOff."""
    return iter(partial(RequestReader(request, length_of(request)).read, size), b"")


# PROPFIND, PROPPATCH, and LOCK


@dataclass(frozen=True)
class WantedProperties:
    """What a program asks about entries: all, only the names of properties, or exactly these."""

    names: tuple[str, ...] = ()
    is_exact: bool = False
    is_names_only: bool = False


def wanted_in(root: ET.Element | None) -> WantedProperties:
    if root is None:
        return WantedProperties()
    if root.tag != f"{DAV}propfind":
        raise Refused(400)
    if root.find(f"{DAV}propname") is not None:
        return WantedProperties(is_names_only=True)
    if root.find(f"{DAV}allprop") is not None:
        return WantedProperties(names_of(root.iterfind(f"{DAV}include/*")))
    prop = root.find(f"{DAV}prop")
    if prop is None:
        raise Refused(400)
    return WantedProperties(names_of(prop), is_exact=True)


def names_of(properties: Iterable[ET.Element]) -> tuple[str, ...]:
    names = tuple(each.tag for each in properties)
    if len(names) > MOST_NAMES or sum(map(len, names)) > MOST_NAME_CHARACTERS:
        raise Refused(400, "too many properties")
    return names


def changes_in(root: ET.Element | None) -> list[tuple[str, str | None]]:
    """Return names of properties with the XML to set, in order, or None to remove them."""
    if root is None or root.tag != f"{DAV}propertyupdate":
        raise Refused(400)
    names_of(root.iterfind("*/{DAV:}prop/*"))
    changes: list[tuple[str, str | None]] = []
    for act in root:
        is_set = act.tag == f"{DAV}set"
        if not is_set and act.tag != f"{DAV}remove":
            continue
        for value in act.iterfind(f"{DAV}prop/*"):
            value.tail = None
            changes.append((value.tag, xml_of(value) if is_set else None))
    return changes


def xml_of(element: ET.Element) -> str:
    return ET.tostring(element, encoding="unicode")


def empty_element(tag: str) -> str:
    """Return an element without content, for a property that has none or doesn't exist."""
    return xml_of(ET.Element(tag))
