"""Add a file to a folder."""

from collections.abc import Collection

from common.names import key_of
from webui.connection.connection import Service
from webui.deleting import held_deletes
from webui.library import folders
from webui.library.entries import ROOT, Entry
from webui.v1.errors import Failure
from webui.v1.records import Added
from webui.v1.uploads import Readable


def add(  # noqa: PLR0913  So much belongs to a file.
    service: Service,
    folder: str,
    name: str,
    content: Readable,
    size_bytes: int | None,
    *,
    as_file: bool = False,
    chooses: bool = False,
    replaces: bool = False,
    present: str | None = None,
) -> Added:
    """Send a file to the service. A service that takes no folder puts it in the root.

    If the service doesn't confirm that, look whether the file is there. `as_file`: our own service
    doesn't fetch torrents then. `chooses`: it waits until someone chooses a torrent's files.
    `replaces`: it replaces a file of this name, which must be as it is `present`, if that is given.
    """
    target = folder if service.takes_folder and folder != ROOT else None
    held_deletes.delete_now(service, folder=target or ROOT, name__iexact=name)
    before = folders.store().find(service.key, target or ROOT)
    try:
        return service.v1.add_file(
            *(name, content, size_bytes, target),
            as_file=as_file,
            chooses=chooses,
            replaces=replaces,
            present=present,
        )
    except Failure as failure:
        if before is None or name.lower().endswith(".torrent"):
            # It may have become a transfer, or have been there before.
            raise
        entries = folders.look_again(service, target or ROOT, failure)
        old_entries = set(before.snapshot.contents.entries)
        return find_sent(name, size_bytes, entries, old_entries, failure)


def find_sent(
    name: str,
    size_bytes: int | None,
    entries: Collection[Entry],
    old_entries: Collection[Entry],
    failure: Failure,
) -> Added:
    """Return the file if it is there as a whole, or raise the failure."""
    files = [entry for entry in entries if not entry.is_folder]
    new_files = [entry for entry in files if entry not in old_entries]
    namesakes = [entry for entry in files if key_of(entry.name) == key_of(name)]
    for entry in namesakes:
        if entry in new_files and entry.size_bytes == size_bytes:
            return Added(None, entry.name, None, was_there=False)
    if not new_files and not namesakes:
        failure.outcome = "unseen"
    raise failure
