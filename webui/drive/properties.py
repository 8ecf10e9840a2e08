"""What the drive tells programs about entries, in XML that is made while it is sent."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cache
from math import ceil
from xml.sax.saxutils import escape

from django.utils import timezone

from common.http.content_types import SAFE_TYPES, UNKNOWN
from common.names import key_of
from webui.drive import locks
from webui.drive.bodies import DAV, WantedProperties, empty_element
from webui.drive.refusals import XML_BEGIN
from webui.drive.tree import Drive, DrivePlace, escape_name, href
from webui.library import paths
from webui.library.entries import Entry
from webui.models import DriveLock, DriveProperties

BATCH = 200
BEGIN = f'{XML_BEGIN}<D:multistatus xmlns:D="DAV:">\n'
END = "</D:multistatus>\n"
OK, MISSING = "200 OK", "404 Not Found"
REFUSED, NOT_DONE = "403 Forbidden", "424 Failed Dependency"
LOCK_KINDS = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)
# Infuse needs the second beside the first, without asking for it. Microsoft invented it.
KINDS = [f"{DAV}resourcetype", f"{DAV}iscollection"]
CHECKSUMS = "{http://owncloud.org/ns}checksums"
# Only if a program asks for them by name.
UNUSUAL = {f"{DAV}quota-available-bytes", f"{DAV}quota-used-bytes", CHECKSUMS}
WINDOWS = "{urn:schemas-microsoft-com:}"
MOST_ROWS, MOST_VALUE_BYTES = 1_000, 16 * 1024
MOST_LOCKS_SHOWN = 10
# XML can't contain these at all.
NEVER_IN_XML = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}

# The content of an element, for an entry and its name; None if the entry has no such property.
Property = Callable[[str, Entry], str | None]


def text(value: str) -> str:
    return escape(value if value.isascii() else value.translate(NEVER_IN_XML))


def etag_of(drive: Drive, entry: Entry | None) -> str:
    """Return the tag with which our own service sends a file. Others' tags aren't known yet."""
    if entry is None or not entry.hash or not drive.service.is_embedded:
        return ""
    return f'"{entry.hash}-{entry.size_bytes or 0:x}"'


def type_of(entry: Entry) -> str:
    """Return a media type by the name alone, and never one that a browser would run."""
    return SAFE_TYPES.get(entry.extension, UNKNOWN)


class LiveProperties:
    """The properties that WebDAV defines, of a place and of what is in it."""

    def __init__(self, drive: Drive, place: DrivePlace) -> None:
        self._drive = drive
        self._path = drive.full_path(place)
        self._locks = locks.of_service(drive.service.key)
        self._date = cache(lambda seconds: formatdate(seconds, usegmt=True))
        own_name = place.name or (drive.bounds.name if drive.bounds else "Ferry")
        self.by_name: dict[str, Property] = {
            f"{DAV}displayname": lambda name, _entry: text(name or own_name),
            f"{DAV}getcontentlength": self._length,
            f"{DAV}getlastmodified": self._last_change,
            f"{DAV}creationdate": self._creation,
            f"{DAV}resourcetype": lambda _name, entry: "<D:collection/>" * entry.is_folder,
            f"{DAV}iscollection": lambda _name, entry: str(int(entry.is_folder)),
            f"{DAV}getetag": lambda _name, entry: etag_of(drive, entry) or None,
            f"{DAV}getcontenttype": lambda _name, entry: (
                None if entry.is_folder else type_of(entry)
            ),
            f"{DAV}supportedlock": lambda _name, _entry: LOCK_KINDS,
            f"{DAV}lockdiscovery": self._active_locks,
            f"{DAV}quota-available-bytes": lambda _name, entry: self._space(entry, 1),
            f"{DAV}quota-used-bytes": lambda _name, entry: self._space(entry, 0),
            CHECKSUMS: lambda _name, entry: (
                f"<oc:checksum>SHA1:{entry.hash}</oc:checksum>" if entry.hash else None
            ),
        }

    def _length(self, _name: str, entry: Entry) -> str | None:
        # Infuse takes folders without it for files.
        size = 0 if entry.is_folder else entry.size_bytes
        return None if size is None else str(size)

    def _last_change(self, _name: str, entry: Entry) -> str | None:
        # Finder fails on years before 1970.
        return None if entry.added is None else self._date(max(entry.added, 0))

    def _creation(self, _name: str, entry: Entry) -> str | None:
        if entry.added is None:
            return None
        return f"{datetime.fromtimestamp(max(entry.added, 0), UTC):%Y-%m-%dT%H:%M:%SZ}"

    def _active_locks(self, name: str, _entry: Entry) -> str:
        path = f"{self._path.rstrip('/')}/{key_of(name)}" if name else self._path
        active = locks.covering(self._locks, path)[:MOST_LOCKS_SHOWN]
        return "".join(lock_element(self._drive, each) for each in active)

    def _space(self, entry: Entry, index: int) -> str | None:
        space = self._drive.space() if entry.is_folder else None
        return str(space[index]) if space else None


class Describer:
    """The properties that a request wants, of any number of entries."""

    def __init__(self, drive: Drive, wanted: WantedProperties, place: DrivePlace) -> None:
        self._drive, self._place, self._wanted = drive, place, wanted
        live, names = LiveProperties(drive, place).by_name, [*wanted.names]
        if not wanted.is_exact:
            names += [name for name in live if name not in UNUSUAL]
        if KINDS[0] in names:
            names += KINDS
        # Looked up once for all entries. An element that is missing is the same for all, too.
        self._renderers = [
            (tag, live.get(tag), *ends_of(tag), empty_element(tag)) for tag in dict.fromkeys(names)
        ]

    def multistatus(self, entry: Entry, rows: Sequence[tuple[str, Entry]]) -> Iterator[bytes]:
        """Yield the place's entry and what is in it, in pieces of some kilobytes."""
        stored = self._read_stored([entry.key, *(each.key for _name, each in rows)])
        base = href(self._place.names, is_folder=True)
        own = href(self._place.names, is_folder=entry.is_folder)
        pieces = [BEGIN, self._response(own, "", entry, stored)]
        for number, (name, each) in enumerate(rows, 1):
            link = f"{base}{escape_name(name)}{'/' if each.is_folder else ''}"
            pieces.append(self._response(link, name, each, stored))
            if number % BATCH == 0:
                yield "".join(pieces).encode()
                pieces = []
        yield "".join([*pieces, END]).encode()

    def _response(
        self, link: str, name: str, entry: Entry, stored: Mapping[str, Mapping[str, str]]
    ) -> str:
        values, missing = "", ""
        extra, wanted = stored.get(entry.key, {}), self._wanted
        for tag, live, begin, end, empty in self._renderers:
            content = live(name, entry) if live else None
            value = extra.get(tag) if content is None else f"{begin}{content}{end}"
            if value is None:
                missing += empty
            else:
                values += empty if wanted.is_names_only else value
        if not wanted.is_exact:
            # A program that asks for everything asks for nothing that could be missing.
            missing = ""
            for tag, value in extra.items():
                values += empty_element(tag) if wanted.is_names_only else value
        propstats = propstat(values, OK) if values or not missing else ""
        if missing:
            propstats += propstat(missing, MISSING)
        return f"<D:response><D:href>{link}</D:href>{propstats}</D:response>\n"

    def _read_stored(self, keys: Collection[str]) -> dict[str, dict[str, str]]:
        """Return what programs stored. Few entries have anything."""
        rows = DriveProperties.objects.filter(service=self._drive.service.key)
        if len(keys) > 1:
            keys = set(rows.values_list("entry", flat=True)).intersection(keys)
        return dict(rows.filter(entry__in=keys).values_list("entry", "values")) if keys else {}


def ends_of(tag: str) -> tuple[str, str]:
    """Return the beginning and the end of the element of a live property."""
    name = tag.rpartition("}")[2]
    if tag == CHECKSUMS:
        return f'<oc:{name} xmlns:oc="http://owncloud.org/ns">', f"</oc:{name}>"
    return f"<D:{name}>", f"</D:{name}>"


def propstat(properties: str, status: str) -> str:
    """Return properties with their status, which Kodi compares letter by letter."""
    words = f"<D:status>HTTP/1.1 {status}</D:status>"
    return f"<D:propstat><D:prop>{properties}</D:prop>{words}</D:propstat>"


def lock_element(drive: Drive, row: DriveLock) -> str:
    """Describe a lock. One above the folder of a program's token seems to be on that folder, and
    its owner is a secret."""
    is_secret = locks.is_below(drive.top_path, row.path)
    root = drive.top_path if is_secret else row.path
    link = href(paths.names_of(root.removeprefix(drive.top_path)), is_folder=False)
    seconds = max(0, ceil((row.expires_at - timezone.now()).total_seconds()))
    token = f"<D:locktoken><D:href>{row.token}</D:href></D:locktoken>"
    return (
        "<D:activelock><D:locktype><D:write/></D:locktype>"
        f"<D:lockscope><D:{'shared' if row.is_shared else 'exclusive'}/></D:lockscope>"
        f"<D:depth>{'infinity' if row.is_deep else '0'}</D:depth>{'' if is_secret else row.owner}"
        f"<D:timeout>Second-{seconds}</D:timeout>{'' if is_secret else token}"
        f"<D:lockroot><D:href>{link}</D:href></D:lockroot></D:activelock>"
    )


# What programs store


def store(
    drive: Drive, place: DrivePlace, entry: Entry, changes: Sequence[tuple[str, str | None]]
) -> str:
    """Change properties, all or none, and return the multistatus.

    Windows sets times and attributes of each file that it writes. They mean nothing here, but the
    file counts as broken if that fails.
    """
    values, tags = stored_values(drive, entry), dict.fromkeys(tag for tag, _value in changes)
    for tag, value in changes:
        values.pop(tag, None)
        if value is not None and not tag.startswith(WINDOWS):
            values[tag] = value
    is_too_much = sum(len(value.encode()) for value in values.values()) > MOST_VALUE_BYTES
    refused = {tag for tag in tags if is_too_much or tag.startswith(DAV)}
    if not refused:
        save_values(drive, entry.key, values)
    rest = NOT_DONE if refused else OK
    status = [propstat(empty_element(tag), REFUSED if tag in refused else rest) for tag in tags]
    own = href(place.names, is_folder=entry.is_folder)
    return f"{BEGIN}<D:response><D:href>{own}</D:href>{''.join(status)}</D:response>{END}"


def stored_values(drive: Drive, entry: Entry) -> dict[str, str]:
    row = DriveProperties.objects.filter(service=drive.service.key, entry=entry.key).first()
    return dict(row.values) if row else {}


def save_values(drive: Drive, key: str, values: Mapping[str, str]) -> None:
    """Save what programs stored for an entry. The newest MOST_ROWS rows stay."""
    rows = DriveProperties.objects.filter(service=drive.service.key)
    if values:
        rows.update_or_create(
            service=drive.service.key, entry=key, defaults={"values": dict(values)}
        )
    else:
        rows.filter(entry=key).delete()
    if oldest := list(rows.order_by("-pk")[MOST_ROWS:].values_list("pk", flat=True)):
        rows.filter(pk__in=oldest).delete()
