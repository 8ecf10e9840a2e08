"""Move and copy entries: choose a folder, settle names that are taken there, and act."""

from collections.abc import Sequence
from typing import Literal, cast

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.activity import events
from webui.activity.page import ALL_FILES
from webui.files import answers, changes, screen
from webui.files.selection import chosen_of
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.http.selected import fields_of, is_all_chosen
from webui.library import folders, recent_folders
from webui.library.entries import FOLDER, ROOT, Entry
from webui.library.folders import Reading
from webui.library.snapshot import Snapshot
from webui.models import Role
from webui.moving import page as move_page
from webui.moving.page import FolderPicker
from webui.player import resume_positions
from webui.v1.errors import NotFound, Rejected
from webui.v1.own_records import Batch
from webui.words import reasons
from webui.words.failures import message_of

IF_TAKEN = ("ask", "keep_both", "skip", "replace")
# As many as the service takes together.
MOST_TOGETHER = 10_000
LONGEST_QUERY, MOST_FOUND = 200, "50"


@open_to(Role.MEMBER, "GET", "POST")
def move(request: Request, folder: str) -> HttpResponse:
    if not service_of(request).is_embedded:
        raise Http404
    source = screen.read(request, folder, at_once=True)
    chosen = chosen_of(request, source)
    act = request.POST.get("act", "")
    if act not in ("move", "copy") or not chosen:
        return show(request, source, picker(request, source, chosen))
    if len(chosen) > MOST_TOGETHER:
        return refuse(request, source, chosen, move_page.too_many_words(MOST_TOGETHER))
    try:
        target = screen.read(request, folder_in(request, folder))
        placed = place(request, cast("Literal['move', 'copy']", act), chosen, target)
    except NotFound:
        return refuse(request, source, chosen, _("This folder is gone. Choose another."))
    except Rejected as refused:
        why = reasons.find(refused.reason).text or message_of(refused).title
        return refuse(request, source, chosen, why)
    if placed.taken:
        page = picker(request, source, chosen, placed=placed, act=act)
        return show(request, source, page)
    record(request, act, chosen, placed, target.snapshot.name)
    recent_folders.remember(request, target.snapshot.folder)
    service, moved_to = service_of(request), target.snapshot.folder
    inner = [entry.id for entry in chosen if entry.is_folder]
    folders.mark_changed(service, [folder, moved_to, *inner])
    if act == "move":
        resume_positions.update_folders(service, [folder, moved_to], timezone.now())
    # A page on which entries were pasted shows the folder that they were pasted into.
    response = answers.show_change(
        request,
        target if request.POST.get("shown") == moved_to else source,
        message=move_page.placed_words(act, placed.count, target.snapshot.name),
        undo=f"moved:{placed.id}" if placed.id else "",
    )
    response["HX-Trigger"] = "entries-placed"
    return response


def refuse(request: Request, source: Reading, chosen: Sequence[Entry], why: str) -> HttpResponse:
    return show(request, source, picker(request, source, chosen, error=why), is_refused=True)


def folder_in(request: Request, otherwise: str) -> str:
    """Return the id of the folder that the person opens, or has open, in the dialog."""
    chosen = request.POST.get("open") or request.POST.get("to") or otherwise
    return chosen[: folders.LONGEST_ID]


def place(
    request: Request, act: Literal["move", "copy"], chosen: Sequence[Entry], target: Reading
) -> Batch:
    if_taken = request.POST.get("if_taken", "")
    return service_of(request).v1.place(
        act,
        [(entry.kind, entry.id) for entry in chosen],
        target.snapshot.folder,
        if_taken if if_taken in IF_TAKEN else "ask",
    )


def record(
    request: Request, act: str, chosen: Sequence[Entry], placed: Batch, folder_name: str
) -> None:
    if placed.count:
        kind = events.Kind.MOVED if act == "move" else events.Kind.COPIED
        folder = folder_name or ALL_FILES
        events.record(request, kind, chosen[0].name, detail=folder, count=placed.count)


def picker(  # noqa: PLR0913
    request: Request,
    source: Reading,
    chosen: Sequence[Entry],
    *,
    placed: Batch | None = None,
    act: str = "",
    error: str = "",
) -> dict[str, object]:
    target = target_of(request, source, chosen)
    name = new_name(request)
    if name:
        target, error = changes.make_folder(request, target, name)
    question = move_page.Question(
        act=act,
        placed=placed,
        error=error,
        new_name=name if error else "",
        shown=request.POST.get("shown", ""),
        all_but=sorted(fields_of(request, "but")) if is_all_chosen(request) else None,
        filter=request.POST.get("q", ""),
    )
    keys = {entry.key for entry in chosen}
    places = folder_picker_of(request, source.snapshot, target.snapshot, keys)
    return move_page.move_page(source.snapshot, chosen, places, question)


def folder_picker_of(
    request: Request, source: Snapshot, target: Snapshot, chosen_keys: set[str]
) -> FolderPicker:
    service, is_opened = service_of(request), "open" in request.POST
    query = "" if is_opened else request.POST.get("find", "")[:LONGEST_QUERY].strip()
    above = folders.ancestors(service, target)
    search = {"q": query, "only": "folders", "limit": MOST_FOUND}
    result = service.v1.search(search) if query else None
    passed_over = {f"{FOLDER}-{source.folder}", f"{FOLDER}-{target.folder}", *chosen_keys}
    recent = () if query or is_opened else recent_folders.read_recent(request)
    others = [each for each in recent if f"{FOLDER}-{each.folder}" not in passed_over]
    return move_page.folder_picker(target, above, others, query, result, chosen_keys=chosen_keys)


def target_of(request: Request, source: Reading, chosen: Sequence[Entry]) -> Reading:
    """Return the folder to show. Begin one level up if there is no folder to open in this one."""
    try:
        target = screen.read(request, folder_in(request, source.snapshot.folder))
        is_open = bool(request.POST.get("open") or request.POST.get("to"))
        inner = {each.key for each in target.snapshot.contents.entries if each.is_folder}
        if is_open or target.snapshot.is_root or inner - {each.key for each in chosen}:
            return target
        return screen.read(request, target.snapshot.parent or ROOT)
    except NotFound:
        return screen.read(request, ROOT)


def new_name(request: Request) -> str:
    """Return the name of the folder to create. Without scripts, Enter in its field presses the
    first button of the form, which finds folders."""
    asks = "make" in request.POST or ("seek" in request.POST and not request.POST.get("find"))
    return request.POST.get("new", "").strip() if asks else ""


def show(
    request: Request, source: Reading, page: dict[str, object], *, is_refused: bool = False
) -> HttpResponse:
    if not request.htmx:
        return answers.show_form(request, source, "move", {"move": page}, is_refused=is_refused)
    response = render(request, "files/_move.html", {"move": page})
    if "act" in request.POST:
        # Entries that were dropped or pasted come from no dialog.
        response["HX-Retarget"], response["HX-Reswap"] = "#move", "innerHTML"
    return response
