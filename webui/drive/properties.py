"""What the drive tells programs about entries, in XML that is made while it is sent."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cache, cached_property
from urllib.parse import quote
from xml.sax.saxutils import escape

from common.http.content_types import SAFE_TYPES, UNKNOWN
from webui.drive import locks
from webui.drive.bodies import DAV, WantedProperties, empty_element
from webui.drive.tree import SAFE, Drive, DrivePlace, href
from webui.library.entries import Entry
from webui.models import DriveLock, DriveProperties

CHECKSUMS = "{http://owncloud.org/ns}checksums"
BATCH = 200
BEGIN = '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n'
END = "</D:multistatus>\n"
FOUND, MISSING = "HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found"
LOCK_KINDS = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)
SUPPORTED_LOCKS = f"<D:supportedlock>{LOCK_KINDS}</D:supportedlock>"
NO_LOCKS = "<D:lockdiscovery/>"
FOLDER_TYPE = "<D:resourcetype><D:collection/></D:resourcetype><D:iscollection>1</D:iscollection>"
FILE_TYPE = "<D:resourcetype/><D:iscollection>0</D:iscollection>"
# Only if a program asks for them by name.
UNUSUAL = {f"{DAV}quota-available-bytes", f"{DAV}quota-used-bytes", CHECKSUMS}
Property = Callable[[str, Entry], str | None]  # of a name and its entry; None: it has none
# XML can't contain these at all.
NEVER_IN_XML = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}


def text(value: str) -> str:
    return escape(value if value.isascii() else value.translate(NEVER_IN_XML))


class Describer:
    """The properties that a request wants, of any number of entries."""

    def __init__(self, drive: Drive, wanted: WantedProperties, place: DrivePlace) -> None:
        self._drive, self._place, self._wanted = drive, place, wanted
        self._date = cache(lambda seconds: formatdate(seconds, usegmt=True))
        self._live: dict[str, Property] = {
            f"{DAV}displayname": self._displayname,
            f"{DAV}getcontentlength": self._length,
            f"{DAV}getlastmodified": self._last_change,
            f"{DAV}creationdate": self._creation_date,
            f"{DAV}resourcetype": self._type,
            f"{DAV}iscollection": lambda _name, _entry: "",  # `_type` has it.
            f"{DAV}getetag": self._etag,
            f"{DAV}getcontenttype": self._content_type,
            f"{DAV}supportedlock": lambda _name, _entry: SUPPORTED_LOCKS,
            f"{DAV}lockdiscovery": self._locks_on,
            f"{DAV}quota-available-bytes": self._quota_available,
            f"{DAV}quota-used-bytes": self._quota_used,
            CHECKSUMS: self._checksums,
        }
        names = wanted.names
        if wanted.is_all or wanted.is_names_only:
            names = (*(name for name in self._live if name not in UNUSUAL), *names)
        elif f"{DAV}iscollection" in names and f"{DAV}resourcetype" not in names:
            names = (*names, f"{DAV}resourcetype")
        # Looked up once for all entries. An element that is missing is the same for all, too.
        self._renderers = [(name, self._live.get(name), empty_element(name)) for name in names]

    def multistatus(self, children: Iterable[tuple[str, Entry]]) -> Iterator[bytes]:
        """Yield the place and its children, in pieces of some kilobytes."""
        rows, base = list(children), href(self._place.names, is_folder=True)
        assert self._place.entry is not None  # noqa: S101  Its caller answers 404 then.
        stored = self._read_stored([self._place.entry.key, *(entry.key for _name, entry in rows)])
        own = href(self._place.names, is_folder=self._place.is_folder)
        pieces = [BEGIN, self._response(own, "", self._place.entry, stored)]
        for number, (name, entry) in enumerate(rows, 1):
            link = f"{base}{quote(name, SAFE)}{'/' if entry.is_folder else ''}"
            pieces.append(self._response(link, name, entry, stored))
            if number % BATCH == 0:
                yield "".join(pieces).encode()
                pieces = []
        yield "".join([*pieces, END]).encode()

    def _response(
        self, link: str, name: str, entry: Entry, stored: Mapping[str, Mapping[str, str]]
    ) -> str:
        values, missing = "", ""
        extra = stored.get(entry.key, {})
        for tag, live, empty in self._renderers:
            value = live(name, entry) if live else extra.get(tag)
            if value is None:
                missing += empty
            else:
                values += empty if self._wanted.is_names_only else value
        if self._wanted.is_all or self._wanted.is_names_only:
            values += "".join(
                empty_element(tag) if self._wanted.is_names_only else value
                for tag, value in extra.items()
            )
        propstats = propstat(values, FOUND) if values or not missing else ""
        # A program that asks for everything asks for nothing that could be missing.
        if missing and not (self._wanted.is_all or self._wanted.is_names_only):
            propstats += propstat(missing, MISSING)
        # The URL has no character that XML knows but this one.
        return (
            f"<D:response><D:href>{link.replace('&', '&amp;')}</D:href>{propstats}</D:response>\n"
        )

    def _read_stored(self, keys: Collection[str]) -> dict[str, dict[str, str]]:
        """Return what programs stored. Few entries have anything."""
        rows = DriveProperties.objects.filter(service=self._drive.service.key)
        if len(keys) > 1:
            keys = rows_known = set(rows.values_list("entry", flat=True)) & set(keys)
            if not rows_known:
                return {}
        return dict(rows.filter(entry__in=keys).values_list("entry", "values"))

    # Properties

    def _displayname(self, name: str, _entry: Entry) -> str:
        return f"<D:displayname>{text(name or self._own_name)}</D:displayname>"

    @cached_property
    def _own_name(self) -> str:
        return self._place.name or (self._drive.bounds.name if self._drive.bounds else "Ferry")

    def _length(self, _name: str, entry: Entry) -> str | None:
        # Infuse takes folders without it for files.
        size = 0 if entry.is_folder else entry.size_bytes
        return None if size is None else f"<D:getcontentlength>{size}</D:getcontentlength>"

    def _last_change(self, _name: str, entry: Entry) -> str | None:
        if entry.added is None:
            return None
        # Finder fails on years before 1970.
        return f"<D:getlastmodified>{self._date(max(entry.added, 0))}</D:getlastmodified>"

    def _creation_date(self, _name: str, entry: Entry) -> str | None:
        if entry.added is None:
            return None
        moment = datetime.fromtimestamp(max(entry.added, 0), UTC)
        return f"<D:creationdate>{moment:%Y-%m-%dT%H:%M:%SZ}</D:creationdate>"

    def _type(self, _name: str, entry: Entry) -> str:
        return FOLDER_TYPE if entry.is_folder else FILE_TYPE

    def _etag(self, _name: str, entry: Entry) -> str | None:
        tag = etag_of(self._drive, entry)
        return f"<D:getetag>{tag}</D:getetag>" if tag else None

    def _content_type(self, _name: str, entry: Entry) -> str | None:
        if entry.is_folder:
            return None
        return f"<D:getcontenttype>{type_of(entry)}</D:getcontenttype>"

    def _quota_available(self, _name: str, entry: Entry) -> str | None:
        return self._quota(entry, "available", 1)

    def _quota_used(self, _name: str, entry: Entry) -> str | None:
        return self._quota(entry, "used", 0)

    def _quota(self, entry: Entry, word: str, index: int) -> str | None:
        space = self._drive.space() if entry.is_folder else None
        return f"<D:quota-{word}-bytes>{space[index]}</D:quota-{word}-bytes>" if space else None

    def _checksums(self, _name: str, entry: Entry) -> str | None:
        if not entry.hash:
            return None
        return (
            '<oc:checksums xmlns:oc="http://owncloud.org/ns">'
            f"<oc:checksum>SHA1:{entry.hash}</oc:checksum></oc:checksums>"
        )

    def _locks_on(self, name: str, _entry: Entry) -> str:
        path = f"{self._full_path.rstrip('/')}/{name}" if name else self._full_path
        return lockdiscovery(locks.covering(self._locks, path)) if self._locks else NO_LOCKS

    @cached_property
    def _full_path(self) -> str:
        return self._drive.full_path(self._place)

    @cached_property
    def _locks(self) -> list[DriveLock]:
        return locks.of_service(self._drive.service.key)


def propstat(properties: str, status: str) -> str:
    return f"<D:propstat><D:prop>{properties}</D:prop><D:status>{status}</D:status></D:propstat>"


def lockdiscovery(active: Iterable[DriveLock]) -> str:
    inner = "".join(
        "<D:activelock><D:locktype><D:write/></D:locktype>"
        f"<D:lockscope><D:{'shared' if each.is_shared else 'exclusive'}/></D:lockscope>"
        f"<D:depth>{'infinity' if each.is_deep else '0'}</D:depth>{each.owner}"
        f"<D:timeout>Second-{each.seconds}</D:timeout>"
        f"<D:locktoken><D:href>{each.token}</D:href></D:locktoken></D:activelock>"
        for each in active
    )
    return f"<D:lockdiscovery>{inner}</D:lockdiscovery>"


def etag_of(drive: Drive, entry: Entry) -> str:
    """Return the tag with which our own service sends a file. Others' tags aren't known yet."""
    if entry.is_folder or not drive.service.is_embedded or not entry.hash:
        return ""
    return f'"{entry.hash}-{entry.size_bytes or 0:x}"'


def type_of(entry: Entry) -> str:
    """Return a media type by the name alone, and never one that a browser would run."""
    return SAFE_TYPES.get(entry.extension, UNKNOWN)


# PROPPATCH


MOST_ROWS = 1_000
MOST_VALUE_BYTES = 16 * 1024
WINDOWS = "{urn:schemas-microsoft-com:}"


def store(drive: Drive, place: DrivePlace, changes: Sequence[tuple[str, str | None]]) -> str:
    """Change properties, all or none, and return the multistatus.

    Windows sets times and attributes of each file that it writes. They mean nothing here, but the
    file counts as broken if that fails.
    """
    assert place.entry is not None  # noqa: S101  Its caller answers 404 then.
    values = stored_values(drive, place.entry)
    refused = {tag for tag, _value in changes if tag.startswith(DAV)}
    for tag, value in changes:
        values.pop(tag, None)
        if value is not None and not tag.startswith(WINDOWS):
            values[tag] = value
    if sum(map(len, values.values())) > MOST_VALUE_BYTES:
        refused = {tag for tag, _value in changes}
    if not refused:
        save_values(drive, place.entry.key, values)
    tags = dict.fromkeys(tag for tag, _value in changes)
    own = href(place.names, is_folder=place.is_folder).replace("&", "&amp;")
    status = [propstat(empty_element(tag), status_of(tag, refused)) for tag in tags]
    return f"{BEGIN}<D:response><D:href>{own}</D:href>{''.join(status)}</D:response>{END}"


def status_of(tag: str, refused: Collection[str]) -> str:
    if not refused:
        return FOUND
    return "HTTP/1.1 403 Forbidden" if tag in refused else "HTTP/1.1 424 Failed Dependency"


def stored_values(drive: Drive, entry: Entry) -> dict[str, str]:
    row = DriveProperties.objects.filter(service=drive.service.key, entry=entry.key).first()
    return dict(row.values) if row else {}


def save_values(drive: Drive, key: str, values: Mapping[str, str]) -> None:
    """Save what programs stored for an entry; of all entries, the last MOST_ROWS keep theirs."""
    rows = DriveProperties.objects.filter(service=drive.service.key)
    rows.filter(entry=key).delete()
    if values:
        DriveProperties.objects.create(service=drive.service.key, entry=key, values=values)
    oldest = rows.order_by("-pk")[MOST_ROWS:].values_list("pk", flat=True)
    if pks := list(oldest):
        rows.filter(pk__in=pks).delete()
