"""What the drive tells programs about entries, in XML that is made while it is sent."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cache
from xml.sax.saxutils import escape

from common.http.content_types import SAFE_TYPES, UNKNOWN
from webui.drive import locks
from webui.drive.bodies import DAV, WantedProperties, empty_element
from webui.drive.tree import Drive, DrivePlace, escape_name, href
from webui.library.entries import Entry
from webui.models import DriveLock, DriveProperties

BATCH = 200
BEGIN = '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n'
END = "</D:multistatus>\n"
OK, MISSING = "200 OK", "404 Not Found"
REFUSED, NOT_DONE = "403 Forbidden", "424 Failed Dependency"
LOCK_KINDS = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)
# Infuse needs `iscollection`, which Microsoft invented.
FOLDER_TYPE = "<D:resourcetype><D:collection/></D:resourcetype><D:iscollection>1</D:iscollection>"
FILE_TYPE = "<D:resourcetype/><D:iscollection>0</D:iscollection>"
CHECKSUMS = "{http://owncloud.org/ns}checksums"
# Only if a program asks for them by name.
UNUSUAL = {f"{DAV}quota-available-bytes", f"{DAV}quota-used-bytes", CHECKSUMS}
WINDOWS = "{urn:schemas-microsoft-com:}"
MOST_ROWS, MOST_VALUE_BYTES = 1_000, 16 * 1024
# XML can't contain these at all.
NEVER_IN_XML = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}

# An element, of a name and its entry; None if the entry has no such property.
Property = Callable[[str, Entry], str | None]


def text(value: str) -> str:
    return escape(value if value.isascii() else value.translate(NEVER_IN_XML))


def etag_of(drive: Drive, entry: Entry | None) -> str:
    """Return the tag with which our own service sends a file. Others' tags aren't live yet."""
    if entry is None or not entry.hash or not drive.service.is_embedded:
        return ""
    return f'"{entry.hash}-{entry.size_bytes or 0:x}"'


def type_of(entry: Entry) -> str:
    """Return a media type by the name alone, and never one that a browser would run."""
    return SAFE_TYPES.get(entry.extension, UNKNOWN)


def dav_properties(drive: Drive, place: DrivePlace) -> dict[str, Property]:
    """Return the properties that WebDAV defines, for a place and what is in it."""
    own_name = place.name or (drive.bounds.name if drive.bounds else "Ferry")
    path, active = drive.full_path(place), locks.of_service(drive.service.key)
    date = cache(lambda seconds: formatdate(seconds, usegmt=True))

    def last_change(_name: str, entry: Entry) -> str | None:
        # Finder fails on years before 1970.
        value = None if entry.added is None else date(max(entry.added, 0))
        return value and f"<D:getlastmodified>{value}</D:getlastmodified>"

    def creation(_name: str, entry: Entry) -> str | None:
        if entry.added is None:
            return None
        moment = datetime.fromtimestamp(max(entry.added, 0), UTC)
        return f"<D:creationdate>{moment:%Y-%m-%dT%H:%M:%SZ}</D:creationdate>"

    def length(_name: str, entry: Entry) -> str | None:
        # Infuse takes folders without it for files.
        size = 0 if entry.is_folder else entry.size_bytes
        return None if size is None else f"<D:getcontentlength>{size}</D:getcontentlength>"

    def quota(entry: Entry, word: str, index: int) -> str | None:
        space = drive.space() if entry.is_folder else None
        return space and f"<D:quota-{word}-bytes>{space[index]}</D:quota-{word}-bytes>"

    def discovery(name: str, _entry: Entry) -> str:
        below = f"{path.rstrip('/')}/{name}" if name else path
        return lockdiscovery(locks.covering(active, below))

    return {
        f"{DAV}displayname": lambda name, _entry: (
            f"<D:displayname>{text(name or own_name)}</D:displayname>"
        ),
        f"{DAV}getcontentlength": length,
        f"{DAV}getlastmodified": last_change,
        f"{DAV}creationdate": creation,
        f"{DAV}resourcetype": lambda _name, entry: FOLDER_TYPE if entry.is_folder else FILE_TYPE,
        f"{DAV}getetag": lambda _name, entry: (
            ((tag := etag_of(drive, entry)) and f"<D:getetag>{tag}</D:getetag>") or None
        ),
        f"{DAV}getcontenttype": lambda _name, entry: (
            None if entry.is_folder else f"<D:getcontenttype>{type_of(entry)}</D:getcontenttype>"
        ),
        f"{DAV}supportedlock": lambda *_any: f"<D:supportedlock>{LOCK_KINDS}</D:supportedlock>",
        f"{DAV}lockdiscovery": discovery,
        f"{DAV}quota-available-bytes": lambda _name, entry: quota(entry, "available", 1),
        f"{DAV}quota-used-bytes": lambda _name, entry: quota(entry, "used", 0),
        CHECKSUMS: lambda _name, entry: (
            '<oc:checksums xmlns:oc="http://owncloud.org/ns">'
            f"<oc:checksum>SHA1:{entry.hash}</oc:checksum></oc:checksums>"
            if entry.hash
            else None
        ),
    }


class Describer:
    """The properties that a request wants, of any number of entries."""

    def __init__(self, drive: Drive, wanted: WantedProperties, place: DrivePlace) -> None:
        self._drive, self._place, self._wanted = drive, place, wanted
        live = dav_properties(drive, place)
        names = [name.replace("iscollection", "resourcetype") for name in wanted.names]
        if not wanted.is_exact:
            names = [*(name for name in live if name not in UNUSUAL), *names]
        # Looked up once for all entries. An element that is missing is the same for all, too.
        self._renderers = [
            (name, live.get(name), empty_element(name)) for name in dict.fromkeys(names)
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
        for tag, live, empty in self._renderers:
            value = live(name, entry) if live else extra.get(tag)
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


def propstat(properties: str, status: str) -> str:
    """Return properties with their status, which Kodi compares letter by letter."""
    words = f"<D:status>HTTP/1.1 {status}</D:status>"
    return f"<D:propstat><D:prop>{properties}</D:prop>{words}</D:propstat>"


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
    is_too_much = sum(map(len, values.values())) > MOST_VALUE_BYTES
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
    """Save what programs stored for an entry. The last MOST_ROWS entries keep theirs."""
    rows = DriveProperties.objects.filter(service=drive.service.key)
    rows.filter(entry=key).delete()
    if values:
        DriveProperties.objects.create(service=drive.service.key, entry=key, values=values)
    if oldest := list(rows.order_by("-pk")[MOST_ROWS:].values_list("pk", flat=True)):
        rows.filter(pk__in=oldest).delete()
