"""Change the library as programs ask: what a service can't do is refused with 403."""

import time
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from typing import Literal

from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext as _

from common.http.multipart import Part
from common.names import find_name_error
from webui.activity import events
from webui.deleting import held_deletes
from webui.drive import bodies, properties
from webui.drive.refusals import Refused
from webui.drive.tree import Drive, DrivePlace
from webui.files import changes
from webui.http.bodies import CutOff
from webui.http.requests import Request
from webui.library import folders
from webui.library.folders import Reading
from webui.library.snapshot import Snapshot
from webui.player import resume_positions
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.uploads import new_files, receiving
from webui.uploads.receiving import UploadRefused
from webui.v1.errors import Conflict, Failure
from webui.words import reasons

Act = Literal["move", "copy"]
CHECK_SECONDS = 1


def folder_for(place: DrivePlace) -> Snapshot:
    """Return the folder in which something new gets its name. Raises Refused."""
    if place.is_top:
        raise Refused(405)
    if place.above is None:
        raise Refused(409)
    if error := find_name_error(place.name):
        raise Refused(422, reasons.find(error).text)
    return place.above


def refuse_foreign(drive: Drive) -> None:
    if not drive.service.is_embedded:
        raise Refused(403, _("The storage service can't do this."))


def refuse_impossible(drive: Drive, act: Act, source: DrivePlace, target: DrivePlace) -> None:
    """Refuse what can't work before anything makes way for it. All services can rename."""
    above = folder_for(target)
    if source.above is None:
        raise Refused(403)
    if act == "copy" or source.above.folder != above.folder:
        refuse_foreign(drive)


def create_folder(request: Request, place: DrivePlace) -> None:
    above = folder_for(place)
    if place.entry is not None:
        raise Refused(405)
    try:
        changes.create_folder(request, Reading(above, is_fresh=True), place.name)
    except Conflict as taken:
        raise Refused(405) from taken


# Files


def put(request: Request, drive: Drive, place: DrivePlace) -> None:
    """Save the body as a file, in place of the one that is there."""
    refuse_foreign(drive)
    above = folder_for(place)
    if place.is_folder:
        raise Refused(405)
    if request.headers.get("Content-Range"):
        raise Refused(400)
    is_conditional = bool({"If-Match", "If-None-Match"} & request.headers.keys())
    present = (place.entry.hash or "") if place.entry else ""
    body = FileBody(request)
    receiving.refuse_beyond_space(request, body.size_bytes or 0)
    try:
        new_files.add(
            *(drive.service, above.folder, place.name, body.content, body.size_bytes),
            as_file=True,
            replaces=True,
            present=present if is_conditional else None,
        )
    except Failure as failure:
        changed = Refused(412) if isinstance(failure, Conflict) else failure
        raise body.refusal or changed from failure
    folders.mark_changed(drive.service, [above.folder])
    if place.entry:
        events.record(request, events.Kind.DELETED, place.name)
    if place.entry and (values := properties.stored_values(drive, place.entry)):
        keep_properties(request, place, values)


def create_empty(drive: Drive, place: DrivePlace) -> None:
    above = folder_for(place)
    new_files.add(drive.service, above.folder, place.name, BytesIO(), 0, as_file=True)
    folders.mark_changed(drive.service, [above.folder])


def keep_properties(request: Request, place: DrivePlace, values: dict[str, str]) -> None:
    """Give a file the properties that the one before it had."""
    drive = Drive(request)
    entry = drive.find("/".join(place.names)).entry
    if entry:
        properties.save_values(drive, entry.key, values)


class FileBody:
    """A body that breaks off once its token is revoked, or the space ends. `size_bytes` is None if
    it comes in chunks, as from Finder."""

    def __init__(self, request: Request) -> None:
        self.size_bytes = bodies.length_of(request)
        self.content = Part("", is_file=True, file_name="", content=self._pieces())
        self.refusal: NotAdmitted | UploadRefused | None = None
        self._request = request

    def _pieces(self) -> Iterator[bytes]:
        """Yield each piece once the next one is here, so that the last one can be refused."""
        held, arrived_bytes, due_at = b"", 0, time.monotonic() + CHECK_SECONDS
        for piece in chain(bodies.pieces_of(self._request), [b""]):
            arrived_bytes += len(piece)
            if not piece or time.monotonic() >= due_at:
                self._check(arrived_bytes, is_last=not piece)
                due_at = time.monotonic() + CHECK_SECONDS
            if held:
                yield held
            held = piece

    def _check(self, arrived_bytes: int, *, is_last: bool) -> None:
        """Refuse what may no longer arrive. While the database is away, nothing is revoked."""
        try:
            doors.admit_again(self._request, writes=True)
            if self.size_bytes is None:
                receiving.refuse_beyond_space(self._request, arrived_bytes)
        except (NotAdmitted, UploadRefused) as refusal:
            self.refusal = refusal
            raise CutOff("refused while it arrived") from refusal
        except DatabaseError:
            if is_last:
                raise


# Entries


def delete(request: Request, drive: Drive, place: DrivePlace) -> None:
    """Delete an entry, so that it can be restored if the service can do that."""
    entry, above = place.entry, place.above
    if entry is None or above is None:
        raise Refused(403 if place.is_top else 404)
    if drive.service.can_restore:
        drive.service.v1.delete_together([(entry.kind, entry.id)])
        held_deletes.forget_listings(drive.service, [entry])
    else:
        held_deletes.delete_entry(drive.service, entry)
    folders.mark_changed(drive.service, [above.folder])
    events.record(request, events.Kind.DELETED, entry.name)


def make_way(request: Request, drive: Drive, source: DrivePlace, target: DrivePlace) -> None:
    """Delete what is in the way, unless a file replaces a file at our own service. Raises Refused
    if it would be lost."""
    if target.entry is None:
        return
    are_files = not source.is_folder and not target.is_folder
    if are_files and drive.service.is_embedded:
        return
    if not drive.service.can_restore:
        raise Refused(412)
    delete(request, drive, target)


def place_entry(
    request: Request, drive: Drive, act: Act, source: DrivePlace, target: DrivePlace
) -> None:
    entry, above, target_folder = source.entry, source.above, folder_for(target)
    assert entry is not None and above is not None  # noqa: S101, PT018  `refuse_impossible` did.
    if not drive.service.is_embedded:
        changes.rename_entry(request, Reading(above, is_fresh=True), entry, target.name)
        return
    if_taken = "ask" if entry.is_folder else "replace"
    chosen, folder = [(entry.kind, entry.id)], target_folder.folder
    placed = drive.service.v1.place(act, chosen, folder, if_taken, target.name)
    if placed.taken:
        raise Refused(409)
    if not placed.count:
        raise Refused(404)
    between = [above.folder, folder]
    folders.mark_changed(drive.service, [*between, *([entry.id] if entry.is_folder else [])])
    if act == "move":
        resume_positions.update_folders(drive.service, between, timezone.now())
    kind = events.Kind.COPIED if act == "copy" else events.Kind.MOVED
    events.record(request, kind, entry.name)
    if target.entry and not (entry.is_folder or target.is_folder):
        events.record(request, events.Kind.DELETED, target.name)
