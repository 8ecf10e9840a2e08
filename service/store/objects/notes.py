"""What a library notes about itself in objects: its owner, its generation, and losses."""

import time
from contextlib import suppress

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import S3Store

from service.errors import NotFound, StoreAway
from service.store.objects.failures import translate_failures

# Every upload counts as a batch, and one object can't be read and written for each of them.
GENERATION_SECONDS = 60.0
# Every upload asks for the owner, and reading it takes as long as storing a small file.
OWNER_SECONDS = 5.0
PAUSE_SECONDS = 5.0
INSISTENT_TRIES, TRY_SECONDS = 5, 1.0
OTHER_WAS_FIRST = (AlreadyExistsError, PreconditionError)


class ObjectNotes:
    def __init__(self, objects: S3Store) -> None:
        self._objects = objects
        self._asks_after = float("-inf")
        self._owner: str | None = None
        self._owner_read_at = float("-inf")
        self._generation = 0
        self._generation_read_at = self._generation_written_at = float("-inf")

    def owner(self, *, insists: bool = False) -> str | None:
        """Return the owner, as it was up to some seconds ago.

        `insists`: if the store fails, return the last known owner, since the write that follows
        will show whether the store is away. If no owner is known, wait and try again: a store that
        has just started fails for a moment.
        """
        now = time.monotonic()
        if self._owner is None or now - self._owner_read_at > OWNER_SECONDS:
            for tries_left in reversed(range(INSISTENT_TRIES if insists else 1)):
                try:
                    self._owner, self._owner_read_at = self.read_note("owner"), now
                    break
                except StoreAway:
                    if self._owner is not None and insists:
                        break
                    if not tries_left:
                        raise
                self._asks_after = float("-inf")
                time.sleep(TRY_SECONDS)
        return self._owner

    def claim_for(self, database: str) -> bool:
        if self.owner() is None:
            with translate_failures(), suppress(*OTHER_WAS_FIRST):
                obstore.put(self._objects, key_of("owner"), database.encode(), mode="create")
        return self.owner() == database

    def hand_over(self, database: str) -> None:
        self.write_note("owner", database)
        self._owner = None

    def generation(self) -> int:
        """Return the generation, as it was up to a minute ago."""
        now = time.monotonic()
        if now - self._generation_read_at > GENERATION_SECONDS:
            self._generation = int(self.read_note("generation") or 0)
            self._generation_read_at = now
        return self._generation

    def reach_generation(self, number: int) -> None:
        """Raise the generation at most once a minute; the sweep of the deleted catches up."""
        now = time.monotonic()
        if now - self._generation_written_at < GENERATION_SECONDS:
            return
        with translate_failures(), suppress(*OTHER_WAS_FIRST):
            try:
                note = obstore.get(self._objects, key_of("generation"))
            except FileNotFoundError:
                obstore.put(self._objects, key_of("generation"), b"%d" % number, mode="create")
            else:
                if int(bytes(note.bytes())) < number:
                    mode: obstore.UpdateVersion = {"e_tag": note.meta["e_tag"]}
                    obstore.put(self._objects, key_of("generation"), b"%d" % number, mode=mode)
        self._generation_written_at = now

    def read_note(self, name: str) -> str | None:
        """Read a note, unless the store was away a moment ago: health checks read several."""
        if time.monotonic() < self._asks_after:
            raise StoreAway
        try:
            with translate_failures():
                return bytes(obstore.get(self._objects, key_of(name)).bytes()).decode()
        except NotFound:
            return None
        except StoreAway:
            self._asks_after = time.monotonic() + PAUSE_SECONDS
            raise

    def write_note(self, name: str, text: str) -> None:
        with translate_failures():
            obstore.put(self._objects, key_of(name), text.encode())

    def delete_note(self, name: str) -> None:
        with translate_failures(), suppress(FileNotFoundError):
            obstore.delete(self._objects, key_of(name))


def key_of(name: str) -> str:
    return f"notes/{name}"
