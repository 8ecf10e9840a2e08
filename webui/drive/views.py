"""The drive: WebDAV, class 2, over any service that speaks v1.

Programs send a token (webui.tokens.doors). Bytes come as all files of the site do, and changes go
through the same functions as those of people.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt

from common.http.content_types import UNKNOWN
from webui.contents import relayed_files
from webui.contents.content_check import expected_file
from webui.drive import bodies, changes, conditions, locks, properties, refusals
from webui.drive.bodies import read_xml
from webui.drive.properties import Describer
from webui.drive.refusals import XML, XML_BEGIN, Refused
from webui.drive.tree import Drive, DrivePlace, path_in
from webui.http.bodies import CutOff
from webui.http.content_types import KEPT
from webui.http.requests import Request, plain_text
from webui.http.roles import open_to_strangers
from webui.library.entries import FILE, Entry
from webui.models import DriveLock
from webui.tokens import doors
from webui.tokens.doors import NotAdmitted
from webui.tokens.tokens import Purpose
from webui.uploads.receiving import UploadRefused
from webui.v1.errors import Failure

# A list up to this length has a Content-Length, which simple programs like.
MOST_AT_ONCE = 200
# Finder looks for these. Where they exist, it doesn't read every file.
CLAIMED = (".metadata_never_index", ".ql_disablethumbnails")


@csrf_exempt
@open_to_strangers()
def answer(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Answer a program. Finder wants to know what the drive can do before it sends a token."""
    if request.method == "OPTIONS":
        return with_class(empty(200))
    visitor = request.user
    try:
        return with_class(perform(cast("Request", request), path))
    except NotAdmitted as refused:
        return refused.answer("Basic")
    except (Refused, UploadRefused, CutOff, Failure) as trouble:
        return with_class(refusals.answer_to(trouble))
    finally:
        # A page about an error shows nothing of the token's person.
        request.user = visitor


def perform(request: Request, path: str) -> HttpResponseBase:
    act, writes = METHODS.get(request.method or "", (None, False))
    if act is None:
        raise Refused(405)
    doors.admit(request, Purpose.DRIVE, writes=writes)
    url = request.META.get("RAW_URI") or request.get_full_path()
    if "#" in url or (writes and "?" in url):
        raise Refused(400)  # A program that didn't escape a name would delete another entry.
    return act(DriveCall(request, path))


def empty(status: int) -> HttpResponse:
    response = HttpResponse(status=status)
    del response["Content-Type"]
    return response


def with_class(response: HttpResponseBase) -> HttpResponseBase:
    response["DAV"] = "1, 2"
    response["MS-Author-Via"] = "DAV"
    response["Allow"] = ", ".join(["OPTIONS", *METHODS])
    return response


class DriveCall:
    """A request of a program, with the place it is about."""

    def __init__(self, request: Request, path: str) -> None:
        self.request = request
        self.drive = Drive(request)
        self.condition = conditions.condition_in(request.headers.get("If", ""))
        self.place = self.drive.find(path)

    @property
    def service(self) -> str:
        return self.drive.service.key

    @property
    def full_path(self) -> str:
        return self.drive.full_path(self.place)

    def depth(self, usual: str, *others: str) -> str:
        depth = self.request.headers.get("Depth", usual).strip().lower()
        if depth not in (usual, *others):
            raise Refused(400)
        return depth

    def target(self) -> DrivePlace:
        """Return the place that Destination names."""
        url = self.request.headers.get("Destination", "")
        path = path_in(url, self.request.get_host())
        if not url or path is None:
            raise Refused(502 if url else 400)
        return self.drive.find(path)

    def check_conditions(self) -> None:
        conditions.check(self.request, self.drive, self.place, self.condition)

    def refuse_locked(self, *places: DrivePlace, is_deep: bool = False) -> None:
        """Raise Refused if other programs locked a place, the list of names in the folder above it,
        or, if `is_deep`, anything below it."""
        active = locks.of_service(self.service)
        needed: list[DriveLock] = []
        for place in places:
            path = self.drive.full_path(place)
            needed += (locks.inside if is_deep else locks.covering)(active, path)
            if is_deep or place.entry is None:
                needed += locks.covering(active, path.rpartition("/")[0] or "/")
        locks.refuse_locked(needed, self.condition.tokens, self.request.user)


# Reading


def entry_of(place: DrivePlace, *, reads: bool = False) -> Entry:
    """Return what is at a place. Raises Refused if nothing is there."""
    if place.entry is None and reads and place.above and place.name in CLAIMED:
        return Entry(FILE, "", place.name, 0, None)
    if place.entry is None:
        raise Refused(404)
    return place.entry


def propfind(call: DriveCall) -> HttpResponseBase:
    wanted = bodies.wanted_in(read_xml(call.request))
    depth, entry = call.depth("1", "0", "infinity"), entry_of(call.place, reads=True)
    if depth == "infinity":
        raise Refused(403, condition="propfind-finite-depth")
    rows = [*call.drive.list_entries(entry)] if depth == "1" else []
    pieces = Describer(call.drive, wanted, call.place).multistatus(entry, rows)
    if len(rows) > MOST_AT_ONCE:
        return StreamingHttpResponse(pieces, status=207, content_type=XML)
    return HttpResponse(b"".join(pieces), status=207, content_type=XML)


def get(call: DriveCall) -> HttpResponseBase:
    """Send a file, or the names in a folder."""
    entry, request = entry_of(call.place, reads=True), call.request
    if entry.is_folder:
        rows = call.drive.list_entries(entry)
        return plain_text("\n".join(f"{name}{'/' * each.is_folder}" for name, each in rows), 200)
    if not entry.id:
        return HttpResponse(b"", content_type=UNKNOWN)
    opening = partial(call.drive.service.v1.file_link, entry.id)
    handling = KEPT._replace(content_type=properties.type_of(entry))
    doors.end_with_token(request)
    return relayed_files.show(request, opening, lambda _download: handling, expected_file(entry))


# Changing


def put(call: DriveCall) -> HttpResponseBase:
    call.check_conditions()
    call.refuse_locked(call.place)
    changes.put(call.request, call.drive, call.place)
    return empty(204 if call.place.entry else 201)


def mkcol(call: DriveCall) -> HttpResponseBase:
    if bodies.length_of(call.request) != 0:
        raise Refused(415)
    call.check_conditions()
    call.refuse_locked(call.place)
    changes.create_folder(call.request, call.place)
    return empty(201)


def delete(call: DriveCall) -> HttpResponseBase:
    refuse_part_of_folder(call)
    call.check_conditions()
    call.refuse_locked(call.place, is_deep=True)
    changes.delete(call.request, call.drive, call.place)
    locks.forget(call.service, call.full_path)
    return empty(204)


def refuse_part_of_folder(call: DriveCall) -> None:
    """Refuse to delete or move a folder without what is in it."""
    if call.place.is_folder:
        call.depth("infinity")


def move_or_copy(act: changes.Act, call: DriveCall) -> HttpResponseBase:
    """Move or copy. What is in the way is deleted first, if it can be restored; a file replaces a
    file in one step."""
    source, target, entry = call.place, call.target(), entry_of(call.place)
    if act == "move":
        refuse_part_of_folder(call)
    depth = call.depth("infinity", "0")
    call.check_conditions()
    if source.is_within(target) or (source.is_folder and target.is_within(source)):
        raise Refused(403)
    if target.entry and call.request.headers.get("Overwrite", "T").strip().upper() == "F":
        raise Refused(412)
    changes.refuse_impossible(call.drive, act, source, target)
    if act == "move":
        call.refuse_locked(source, is_deep=True)
    call.refuse_locked(target, is_deep=target.is_folder)
    values = properties.stored_values(call.drive, entry) if act == "copy" else {}
    changes.make_way(call.request, call.drive, source, target)
    if act == "copy" and depth == "0" and source.is_folder:
        changes.create_folder(call.request, replace(target, entry=None))
    else:
        changes.place_entry(call.request, call.drive, act, source, target)
    if act == "move":
        locks.forget(call.service, call.full_path)
    if values:
        changes.keep_properties(call.request, target, values)
    return empty(204 if target.entry else 201)


def proppatch(call: DriveCall) -> HttpResponseBase:
    wanted = bodies.changes_in(read_xml(call.request))
    entry = entry_of(call.place)
    call.check_conditions()
    call.refuse_locked(call.place)
    body = properties.store(call.drive, call.place, entry, wanted)
    return HttpResponse(body, status=207, content_type=XML)


# Locks


def lock(call: DriveCall) -> HttpResponseBase:
    """Lock a place, or refresh a lock. Where nothing is, an empty file appears."""
    root, timeout = read_xml(call.request), call.request.headers.get("Timeout", "")
    if root is None:
        own = (call.condition.tokens, timeout, call.request.user)
        row = locks.refresh(call.service, call.full_path, *own)
        return lock_answer(call, row, 200)
    call.check_conditions()
    row = locks.lock_in(root, call.depth("infinity", "0"), timeout)
    if call.place.entry is None:
        call.refuse_locked(call.place)
        changes.refuse_foreign(call.drive)
        changes.folder_for(call.place)
    row.service, row.path, row.user = call.service, call.full_path, call.request.user
    locks.add(row)
    if call.place.entry is None:
        try:
            changes.create_empty(call.drive, call.place)
        except Failure:
            row.delete()
            raise
    return lock_answer(call, row, 200 if call.place.entry else 201)


def lock_answer(call: DriveCall, row: DriveLock, status: int) -> HttpResponse:
    inner = f"<D:lockdiscovery>{properties.lock_element(call.drive, row)}</D:lockdiscovery>"
    body = f'{XML_BEGIN}<D:prop xmlns:D="DAV:">{inner}</D:prop>\n'
    response = HttpResponse(body, status=status, content_type=XML)
    response["Lock-Token"] = f"<{row.token}>"
    return response


def unlock(call: DriveCall) -> HttpResponseBase:
    token = call.request.headers.get("Lock-Token", "").strip().removeprefix("<").removesuffix(">")
    if not token:
        raise Refused(400)
    locks.unlock(call.service, call.full_path, token, call.request.user)
    return empty(204)


Act = Callable[[DriveCall], HttpResponseBase]
# The methods, and whether they change anything.
METHODS: dict[str, tuple[Act, bool]] = {
    "GET": (get, False),
    "HEAD": (get, False),
    "PROPFIND": (propfind, False),
    "PUT": (put, True),
    "MKCOL": (mkcol, True),
    "DELETE": (delete, True),
    "MOVE": (partial(move_or_copy, "move"), True),
    "COPY": (partial(move_or_copy, "copy"), True),
    "PROPPATCH": (proppatch, True),
    "LOCK": (lock, True),
    "UNLOCK": (unlock, True),
}
