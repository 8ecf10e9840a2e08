"""What a program finds at the paths of the drive: the library, or the folder of its token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote, urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from common.names import key_of
from webui.drive.refusals import Refused
from webui.http.requests import service_of
from webui.library import folders, paths
from webui.library.bounds import bounds_of, read_recent
from webui.library.entries import FOLDER, ROOT, Entry
from webui.library.snapshot import Snapshot

MOST_NAMES = 200
SAFE = "!$'()*+,;=:@~"
ESCAPES = {code: quote(chr(code), SAFE) for code in range(128)}


@dataclass(frozen=True)
class DrivePlace:
    """Where a path leads. `entry` is None if nothing is there, and `above` if there is no folder
    above it: at the top, or if that folder is missing, too."""

    names: tuple[str, ...]
    above: Snapshot | None
    entry: Entry | None

    @property
    def is_top(self) -> bool:
        return not self.names

    @property
    def name(self) -> str:
        return self.names[-1] if self.names else ""

    @property
    def is_folder(self) -> bool:
        return self.entry is not None and self.entry.is_folder

    @property
    def keys(self) -> tuple[str, ...]:
        """The same for each way to type the names, as they are looked up."""
        return tuple(map(key_of, self.names))

    def is_within(self, other: "DrivePlace") -> bool:
        return self.keys[: len(other.names)] == other.keys


class Drive:
    """The folders that a request may see, each read once."""

    def __init__(self, request: HttpRequest) -> None:
        self.service = service_of(request)
        self.bounds = bounds_of(request)
        self._now = timezone.now()
        self._snapshots: dict[str, Snapshot] = {}

    def find(self, path: str) -> DrivePlace:
        """Return where a path leads. Raises Failure. Nothing above the top can be reached: a path
        is a list of names that are looked up one below the other."""
        names = tuple(paths.names_of(path))
        if len(names) > MOST_NAMES:
            raise Refused(414)
        above: Snapshot | None = None
        entry: Entry | None = self._top_entry
        for number, name in enumerate(names, 1):
            if entry is None or not entry.is_folder:
                return DrivePlace(names, None, None)
            above = self.read(entry.id)
            entry = paths.find_entry(self.service, above.contents, name)
            if entry is None and number < len(names):
                return DrivePlace(names, None, None)
        return DrivePlace(names, above, entry)

    def read(self, folder: str) -> Snapshot:
        if folder not in self._snapshots:
            self._snapshots[folder] = read_recent(self.service, folder, self._now)
        return self._snapshots[folder]

    def list_entries(self, folder: Entry) -> Iterator[tuple[str, Entry]]:
        """Return the entries of a folder with their names; nothing, if it is a file."""
        if not folder.is_folder:
            return iter(())
        return paths.path_names(self.service, self.read(folder.id).contents)

    @cached_property
    def _top_entry(self) -> Entry:
        top = self.read(self.bounds.top if self.bounds else ROOT)
        return Entry(FOLDER, top.folder, "", top.size_bytes, None)

    @cached_property
    def _keys_above(self) -> tuple[str, ...]:
        top = self.read(self._top_entry.id)
        path = folders.path_of(self.service, top) if self.bounds else ""
        return tuple(map(key_of, paths.names_of(path)))

    def full_path(self, place: DrivePlace) -> str:
        """Return the path from the root of the library, by which programs mean the same entry."""
        return "/" + "/".join([*self._keys_above, *place.keys])

    @property
    def top_path(self) -> str:
        return "/" + "/".join(self._keys_above)

    def space(self) -> tuple[int, int] | None:
        """Return used and free space. Programs with a folder of the library don't learn it."""
        used_bytes, most = folders.store().space(self.service.key)
        if self.bounds or used_bytes is None or most is None:
            return None
        return used_bytes, max(most - used_bytes, 0)


def escape_name(name: str) -> str:
    """Escape a name for a URL. The result has no character that XML would have to escape."""
    return name.translate(ESCAPES) if name.isascii() else quote(name, SAFE)


def href(names: Sequence[str], *, is_folder: bool) -> str:
    path = "/".join(map(escape_name, names))
    return f"{reverse('drive')}{path}{'/' if is_folder and path else ''}"


def path_in(url: str, host: str) -> str | None:
    """Return the path of a URL on the drive, or None if it leads elsewhere."""
    if "?" in url or "#" in url:
        return None  # A program that didn't escape a name would change another entry.
    try:
        parts = urlsplit(url)
        is_elsewhere = parts.netloc and server_of(url) != server_of(f"//{host}")
    except ValueError:
        return None
    path, root = unquote(parts.path), reverse("drive")
    return None if is_elsewhere or not f"{path}/".startswith(root) else path[len(root) :]


def server_of(url: str) -> tuple[str | None, int | None]:
    """Return host and port, without the usual port of either scheme: a proxy may have decrypted the
    connection. Raises ValueError."""
    parts = urlsplit(url)
    return parts.hostname, None if parts.port in (80, 443) else parts.port
