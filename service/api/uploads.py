"""Files that come in a multipart body: into the store as they come, or into memory as torrents."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from service import library, torrents
from service.api.bodies import Fields, Stream, length_of, parts_of, query_of
from service.api.errors import NothingPassed, OneFileOnly
from service.api.http import Request
from service.api.multipart import Part
from service.errors import DiskFull, NoRoom, NotATorrent
from service.store import Store, Stored, Writer, library_store

FILE_FIELDS = ("file", "torrent_file")
# What a multipart body has around the file.
MOST_ENVELOPE_BYTES = 2**20


class Upload:
    """One file on its way in.

    Guarantee: memory stays the same for any size, and there is one temporary copy, the store's
    own draft, which is hashed while it is written and gone unless it is kept. What begins as a
    torrent does is also held in memory, up to the size of the largest torrent: when it has ended,
    it is known what it is, and no byte is read twice.

    Refused: Django's own parser (takes the boundary anywhere in a line for the end of the file) and
    handlers (a second copy, in the system's folder for temporary files).
    """

    def __init__(self, room_bytes: int, stack: ExitStack, store: Store | None) -> None:
        self.name: str | None = None
        self._room_bytes = room_bytes
        self._stack = stack
        self._store = store
        self._writer: Writer | None = None
        self._perhaps_torrent: bytearray | None = None
        self.size_bytes = 0

    def take(self, part: Part) -> None:
        if part.name not in FILE_FIELDS:
            return
        if self.name is not None:
            raise OneFileOnly
        self.name = part.file_name
        self._perhaps_torrent = bytearray()
        if self._store is not None:
            self._writer = self._stack.enter_context(self._store.writer())
        for piece in part.content:
            self._receive(piece)

    def _receive(self, piece: bytes) -> None:
        self.size_bytes += len(piece)
        self._remember(piece)
        if self._perhaps_torrent is None:
            self._refuse_what_cannot_stay()
        if self._writer is not None:
            self._writer.write(piece)

    def _remember(self, piece: bytes) -> None:
        if self._perhaps_torrent is None:
            return
        self._perhaps_torrent += piece
        is_too_large = self.size_bytes > torrents.MOST_BYTES
        if is_too_large or not self._perhaps_torrent.startswith(b"d"):
            self._perhaps_torrent = None

    def _refuse_what_cannot_stay(self) -> None:
        if self._writer is None:
            raise NotATorrent
        if self.size_bytes > self._room_bytes:
            raise NoRoom(self.size_bytes - self._room_bytes)

    @property
    def torrent(self) -> bytes | None:
        """The content, where it is a torrent's."""
        if self._perhaps_torrent is None:
            return None
        content = bytes(self._perhaps_torrent)
        try:
            torrents.read(content)
        except NotATorrent:
            return None
        return content

    def keep(self) -> Stored:
        if self._writer is None:
            raise NotATorrent
        return self._writer.commit()


@contextmanager
def received(request: Request, store: Store | None) -> Iterator[tuple[Upload, Fields]]:
    """The file of a request, whole, and the fields beside it; without a store, only a torrent.

    Raises NothingPassed, NoRoom, TooLarge: where the length tells, before anything is read. Where
    there was no file, the upload has no name.
    """
    room_bytes = library.free_bytes(request.account) if store else 0
    if store is not None:
        _refuse_by_length(length_of(request) or 0, room_bytes, store)
    stream = Stream(request, room_bytes + torrents.MOST_BYTES + MOST_ENVELOPE_BYTES)
    with ExitStack() as stack:
        upload = Upload(room_bytes, stack, store)
        if request.content_type != "multipart/form-data":
            raise NothingPassed
        values = parts_of(request, stream, upload.take)
        yield upload, Fields({**query_of(request), **values})


def _refuse_by_length(length_bytes: int, room_bytes: int, store: Store) -> None:
    """A torrent may come to a full account: what it brings may still fit, or become a wish."""
    length_bytes -= MOST_ENVELOPE_BYTES
    if length_bytes <= torrents.MOST_BYTES:
        return
    if length_bytes > room_bytes:
        raise NoRoom(length_bytes - room_bytes)
    if length_bytes > store.free_bytes():
        raise DiskFull


@contextmanager
def kept(upload: Upload) -> Iterator[Stored]:
    """In the store for good, if what follows goes well."""
    stored = upload.keep()
    try:
        yield stored
    except BaseException:
        library_store().delete(stored.blob)
        raise
