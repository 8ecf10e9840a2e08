"""Receive the files of a multipart body: into the store, or into memory as torrents."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO

from common.http.multipart import Part
from common.storage.outages import may_be_committed
from service.api.auth import AccountRequest
from service.errors import DiskFull, NotATorrent, StoreAway
from service.http.bodies import Fields, LimitedStream, length_of, parts_of, query_of
from service.http.refusals import NothingPassed, TooLarge
from service.library.space import Promise
from service.library.upkeep.database_match import refuse_other
from service.store.blobs import Store, Writer, library_store
from service.store.sums import Stored
from service.transfers.torrents import torrent_files
from service.transfers.torrents.facts import TorrentFacts
from service.transfers.torrents.torrent_files import Budget

FILE_FIELDS = ("file", "torrent_file")
# Limits on a multipart body's parts besides its files.
MOST_ENVELOPE_BYTES = 2**20
MOST_FILES = 500
# Torrents of one request stay in memory until all of it has arrived.
MOST_HELD_BYTES = 2 * torrent_files.MOST_BYTES


class ReceivedUpload:
    """A file of a multipart body, while it arrives.

    Guarantee: memory use is the same for any size. The only temporary copy is the store's draft,
    which is hashed while it is written, and removed unless it is kept. Content that begins like a
    torrent is also held in memory, up to the size of the largest torrent: only its end
    shows whether it is a torrent, and this way no byte is read twice. A full disk takes no other
    file, but a torrent waits for room.

    Rejected: Django's parser (takes the boundary anywhere in a line for the end of the file) and
    its handlers (a second copy, in the system's folder for temporary files).
    """

    def __init__(self, name: str, promise: Promise, before_bytes: int, budget: Budget) -> None:
        """`before_bytes`: how much the promise covers already."""
        self.name = name
        self.torrent: TorrentFacts | None = None
        self.content = b""  # of a torrent
        self.stored: Stored | None = None
        self.size_bytes = 0
        self._promise = promise
        self._before_bytes = before_bytes
        self._budget = budget
        self._writer: Writer | None = None
        self._refusal: DiskFull | StoreAway | None = None
        self._perhaps_torrent: bytearray | None = bytearray()

    def open_writer(self, store: Store, stack: ExitStack) -> None:
        """Accept any file; without a writer, only a torrent."""
        try:
            refuse_other(store)
            self._writer = stack.enter_context(store.writer())
        except (DiskFull, StoreAway) as refusal:
            self._refusal = refusal

    def receive(self, content: Iterator[bytes]) -> None:
        try:
            self._receive(content)
        finally:
            # Its traceback refers to this object: the cycle would keep the torrent in memory.
            self._refusal = None

    def _receive(self, content: Iterator[bytes]) -> None:
        for piece in content:
            self.size_bytes += len(piece)
            self._remember(piece)
            if self._perhaps_torrent is None:
                self._refuse_what_cannot_stay()
            self._write(piece)
        self._read_torrent()
        if self.torrent is None and self._refusal:
            raise self._refusal
        if self.torrent is None and self._writer is not None:
            self._refuse_what_cannot_stay()
            self.stored = self._writer.commit()

    def _write(self, piece: bytes) -> None:
        if self._writer is None:
            return
        try:
            self._writer.write(piece)
        except DiskFull as refusal:
            if self._perhaps_torrent is None:
                raise
            self._writer, self._refusal = None, refusal

    def _remember(self, piece: bytes) -> None:
        if self._perhaps_torrent is None:
            return
        self._perhaps_torrent += piece
        is_too_large = self.size_bytes > torrent_files.MOST_BYTES
        if is_too_large or not self._perhaps_torrent.startswith(b"d"):
            self._perhaps_torrent = None

    def _refuse_what_cannot_stay(self) -> None:
        if self._refusal:
            raise self._refusal
        if self._writer is None:
            raise NotATorrent
        self._promise.cover(self._before_bytes + self.size_bytes)

    def _read_torrent(self) -> None:
        """Keep the content if it is a torrent."""
        content, self._perhaps_torrent = bytes(self._perhaps_torrent or b""), None
        with suppress(NotATorrent):
            self.torrent = torrent_files.read(content, self._budget)
            self.content = content


class Uploads:
    """The files of one request. Files that no view keeps are deleted when the request ends."""

    def __init__(self, promise: Promise, stack: ExitStack, store: Store | None) -> None:
        self.all: list[ReceivedUpload] = []
        self._promise = promise
        self._budget = Budget()
        self._stack = stack
        self._store = store

    def take(self, part: Part) -> None:
        if part.name not in FILE_FIELDS:
            return
        held_bytes = sum(len(each.content) for each in self.all)
        is_too_much = held_bytes > MOST_HELD_BYTES or self._budget.values < 0
        if is_too_much or len(self.all) >= MOST_FILES:
            raise TooLarge
        stored_bytes = sum(each.size_bytes for each in self.all if each.stored)
        with ExitStack() as writing:
            upload = ReceivedUpload(part.file_name, self._promise, stored_bytes, self._budget)
            if self._store is not None:
                upload.open_writer(self._store, writing)
            upload.receive(part.content)
        self.all.append(upload)
        self._stack.callback(self._let_go, upload)

    def _let_go(self, upload: ReceivedUpload) -> None:
        """Delete the blob, unless a view has kept it."""
        if self._store is not None and upload.stored is not None:
            self._store.delete(upload.stored.blob)


@contextmanager
def receive(
    request: AccountRequest, store: Store | None
) -> Iterator[tuple[list[ReceivedUpload], Fields]]:
    """Yield the complete files and the fields of a request; without a store, only torrents.

    Raises NothingPassed, NoRoom, DiskFull, TooLarge: before reading, if the length shows it.
    """
    length_bytes = length_of(request) or 0
    promise = Promise(request.account, length_bytes)
    with ExitStack() as stack:
        stack.callback(promise.end)
        if store is not None:
            _refuse_by_length(length_bytes, promise, store)
        room_bytes = promise.room_bytes if store else 0
        most_bytes = room_bytes + MOST_HELD_BYTES + torrent_files.MOST_BYTES + MOST_ENVELOPE_BYTES
        stream = LimitedStream(request, most_bytes)
        uploads = Uploads(promise, stack, store)
        if request.content_type != "multipart/form-data":
            raise NothingPassed
        body = parts_of(request, stream, uploads.take)
        yield uploads.all, Fields(body, query_of(request))


def _refuse_by_length(length_bytes: int, promise: Promise, store: Store) -> None:
    """Refuse a body that can't fit, unless it is small enough to be a torrent.

    A full account accepts torrents: their files may still fit, or they become wishes.
    """
    length_bytes -= MOST_ENVELOPE_BYTES
    if length_bytes <= torrent_files.MOST_BYTES:
        return
    promise.cover(length_bytes)
    store.refuse_beyond(length_bytes)


@contextmanager
def keep_blob(upload: ReceivedUpload) -> Iterator[Stored]:
    """Yield the stored blob, and keep it if the block succeeds, or may have.

    If it didn't, the blob becomes an orphan. A torrent is stored only here.
    """
    if upload.stored is None:
        store = library_store()
        refuse_other(store)
        upload.stored = store.put(BytesIO(upload.content))
    try:
        yield upload.stored
    except Exception as error:
        if may_be_committed(error):
            upload.stored = None
        raise
    upload.stored = None
