"""What changed in a list since a program last asked."""

import random
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

Rows = Mapping[str, Mapping[str, Any]]

MOST_SEEN = 32
LARGEST_RID = 2**31 - 1


class SeenLists:
    """What programs have seen, by the number that they repeat.

    Guarantee: a program that is up to date gets what changed, and any other the whole list, such as
    one that another process answered before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[int, int], dict[str, int]] = OrderedDict()

    def changes(self, reader: int, rid: int, torrents: Rows, others: Any) -> dict[str, Any]:
        """Return an answer of `sync/maindata`. `others` appear only with the whole list."""
        now = {name: hash(tuple(row.values())) for name, row in torrents.items()}
        # No torrent has an empty hash.
        now[""] = hash(repr(others))
        with self._lock:
            before = self._seen.get((reader, rid))
            if before == now:
                return {"rid": rid}
            new_rid = random.randint(1, LARGEST_RID)  # noqa: S311  It opens nothing.
            self._seen[reader, new_rid] = now
            while len(self._seen) > MOST_SEEN:
                self._seen.popitem(last=False)
        if before is None or before[""] != now[""]:
            return {"rid": new_rid, "full_update": True, "torrents": torrents, **others}
        changed = {name: row for name, row in torrents.items() if before.get(name) != now[name]}
        removed = [name for name in before if name not in now]
        answer: dict[str, Any] = {"rid": new_rid, "torrents": changed}
        return answer | {"torrents_removed": removed} if removed else answer
