"""A cache of the latest listings, encoded. An ETag identifies a listing's bytes: none is stale."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

MOST_BYTES = 8 * 2**20


class EncodedListings:
    def __init__(self) -> None:
        self._listings: OrderedDict[str, bytes] = OrderedDict()
        self._size_bytes = 0
        self._lock = Lock()

    def find(self, etag: str, encode: Callable[[], bytes]) -> bytes:
        """Return the listing of an ETag, and cache it unless it would take half of the space."""
        with self._lock:
            if etag in self._listings:
                self._listings.move_to_end(etag)
                return self._listings[etag]
        content = encode()
        if len(content) > MOST_BYTES // 2:
            return content
        with self._lock:
            self._size_bytes += len(content) - len(self._listings.get(etag, b""))
            self._listings[etag] = content
            while self._size_bytes > MOST_BYTES:
                _etag, oldest = self._listings.popitem(last=False)
                self._size_bytes -= len(oldest)
        return content


listings = EncodedListings()
