"""Write an object in parts, as its bytes arrive."""

import secrets
from contextlib import suppress

from service.errors import StoreAway
from service.store.blobs import Writer
from service.store.objects.failures import away
from service.store.objects.listing import key_of
from service.store.objects.requests import Exists, ObjectRequests
from service.store.sums import Stored, Sums

PART_BYTES = 2**23
# An object has at most 10,000 parts: these grow, so that 400 GB fit.
PARTS_OF_A_SIZE = 1000


class ObjectWriter(Writer):
    """A draft in parts, of which this process holds one; smaller objects have none."""

    def __init__(self, requests: ObjectRequests, blob: str = "") -> None:
        """Write a new object, or with an id, a copy that replaces what has this id."""
        self._requests = requests
        self._may_replace = bool(blob)
        self._blob = blob or secrets.token_hex(16)
        self._key = key_of(self._blob)
        self.sums = Sums()
        self._waiting = bytearray()
        self._upload_id = ""
        self._etags: list[str] = []  # of the parts

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        # A store that is away has kept the client waiting already. The sweep aborts the upload.
        if self._upload_id and not isinstance(error, StoreAway):
            with suppress(StoreAway):
                self._requests.abort(self._key, self._upload_id)

    def write(self, chunk: bytes | memoryview) -> None:
        """Write a chunk. Raises StoreAway, DiskFull."""
        self.sums.add(chunk)
        self._waiting += chunk
        if len(self._waiting) >= PART_BYTES * (1 + len(self._etags) // PARTS_OF_A_SIZE):
            self._send_part()

    def _send_part(self) -> None:
        self._upload_id = self._upload_id or self._requests.begin(self._key)
        number = len(self._etags) + 1
        etag = self._requests.add_part(self._key, self._upload_id, number, bytes(self._waiting))
        self._etags.append(etag)
        self._waiting.clear()

    def commit(self) -> Stored:
        """Finish the object. Raises StoreAway, DiskFull."""
        if self._upload_id and self._waiting:
            self._send_part()
        try:
            self._finish()
        except Exists:
            self._check_size()
        return self.sums.of_blob(self._blob)

    def _finish(self) -> None:
        may_replace = self._may_replace
        if not self._upload_id:
            self._requests.create(self._key, bytes(self._waiting), may_replace=may_replace)
            return
        self._requests.finish(self._key, self._upload_id, self._etags, may_replace=may_replace)
        self._upload_id = ""

    def _check_size(self) -> None:
        """Raise StoreAway if what exists is not whole.

        No one else knows the id: what exists is our own, and only the answer was lost.
        """
        size_bytes = self._requests.size(self._key)
        if size_bytes != self.sums.size_bytes:
            raise away(f"an object has {size_bytes} bytes of {self.sums.size_bytes}")
