"""The Files screen: create, rename, and delete. Each acts, then reads the folder again."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from common.names import find_name_error
from webui import owner_settings
from webui.activity import events
from webui.deleting import held_deletes
from webui.files import answers, changes, screen
from webui.files.pages import actions as actions_page
from webui.files.pages import folder as files_pages
from webui.files.selection import chosen_look, chosen_of
from webui.http.requests import Request, is_script, safe_next, service_of
from webui.http.roles import open_to
from webui.http.selected import fields_of, is_all_chosen
from webui.library.addresses import Addresses, parse_view_options
from webui.library.entries import Entry
from webui.library.folders import Reading
from webui.models import Role
from webui.v1.errors import Conflict, Failure, Rejected
from webui.words import reasons
from webui.words.failures import message_of, name_refusal

# Each call is one transaction, for which others wait.
MOST_TOGETHER = 500


# New folder


@open_to(Role.MEMBER, "GET", "POST")
def new(request: Request, folder: str) -> HttpResponse:
    reading = screen.read(request, folder)
    if request.method != "POST":
        return show_new(request, reading, name="", error="")
    name = request.POST.get("name", "").strip()
    error = reasons.find(find_name_error(name)).text
    if is_script(request):
        return new_for_script(request, reading, name, error)
    if error:
        return show_new(request, reading, name=name, error=error)
    try:
        made_id, is_confirmed = changes.create_folder(request, reading, name)
    except (Conflict, Rejected) as failure:
        return show_new(request, reading, name=name, error=name_refusal(failure))
    key = f"folder-{made_id}" if made_id else ""
    message = _("Folder created")
    if not is_confirmed:
        message = _("The storage service didn't confirm this, but the folder is there.")
    return answers.show_change(
        request, reading, message=message, new_key=key, has_toast=not is_confirmed
    )


def new_for_script(request: Request, reading: Reading, name: str, error: str) -> JsonResponse:
    """Create a folder for a dropped directory, or use an existing folder of that name."""
    made_id: str | None = None
    if not error:
        try:
            made_id, _is_confirmed = changes.create_folder(request, reading, name)
        except Conflict:
            made_id = None
        except Failure as failure:
            error = message_of(failure).words
    if not error and made_id is None:
        latest = screen.read(request, reading.snapshot.folder, at_once=True).snapshot
        made_id = changes.folder_named(latest.contents.entries, name)
        error = "" if made_id else reasons.find("name_taken").text
    if error or made_id is None:
        return JsonResponse({"ok": False, "reason": error}, status=422)
    addresses = {"upload_url": reverse("files-upload", args=[made_id])}
    addresses["new_url"] = reverse("files-new", args=[made_id])
    return JsonResponse({"ok": True} | addresses)


def show_new(request: Request, reading: Reading, *, name: str, error: str) -> HttpResponse:
    look = parse_view_options(request.GET)
    form = files_pages.new_folder_page(reading.snapshot, look, name=name, error=error)
    return answers.show_form(request, reading, "new", {"form": form}, is_refused=bool(error))


# Rename


@open_to(Role.MEMBER, "GET", "POST")
def rename(request: Request, folder: str, key: str) -> HttpResponse:
    reading = screen.read(request, folder)
    entry = screen.find_entry(reading, key)
    if request.method != "POST":
        return show_rename(request, reading, entry)
    name = request.POST.get("name", "").strip()
    error = reasons.find(find_name_error(name)).text
    is_confirmed = request.POST.get("confirmed") == actions_page.extension_of(entry, name)
    if not error and not is_confirmed and actions_page.extension_question(entry, name):
        return show_rename(request, reading, entry, name=name)
    if error:
        return show_rename(request, reading, entry, name=name, error=error)
    try:
        message = changes.rename_entry(request, reading, entry, name)
    except (Conflict, Rejected) as refused:
        return show_rename(request, reading, entry, name=name, error=name_refusal(refused))
    undo = f"renamed:{folder}:{key}:{entry.name}" if name != entry.name else ""
    return show_new_name(request, folder, key, undo, message)


def show_rename(
    request: Request, reading: Reading, entry: Entry, *, name: str | None = None, error: str = ""
) -> HttpResponse:
    look = parse_view_options(request.GET)
    form = actions_page.rename_page(
        reading.snapshot, entry, look, name=name, error=error, next_url=next_url(request)
    )
    return answers.show_form(
        request, reading, "rename", {"form": form}, is_refused=name is not None
    )


def show_new_name(request: Request, folder: str, key: str, undo: str, message: str) -> HttpResponse:
    look = parse_view_options(request.GET)
    if not request.htmx:
        messages.success(request, message, extra_tags=undo)
        return redirect(next_url(request) or Addresses(folder, look).at(look))
    reading = screen.read(request, folder, at_once=True)
    context = screen.row_context(request, reading, key)
    return render(request, "files/_renamed.html", context | {"undo": undo, "said": message})


def next_url(request: Request) -> str:
    """Return the page of this site to show next, if the request names one."""
    url = request.POST.get("next") or request.GET.get("next", "")
    return safe_next(request, url) if url else ""


@open_to(Role.MEMBER, "GET")
def rename_form(request: Request, folder: str, key: str) -> HttpResponse:
    reading = screen.read(request, folder)
    entry = screen.find_entry(reading, key)
    look = parse_view_options(screen.shown_fields(request))
    form = actions_page.rename_page(reading.snapshot, entry, look)
    return render(request, "files/_rename.html", {"form": form})


# Delete


@open_to(Role.MEMBER, "GET", "POST")
def delete(request: Request, folder: str) -> HttpResponse:
    if request.method != "POST":
        reading, page = delete_page_of(request, folder)
        return answers.show_form(request, reading, "delete", {"deletion": page}, is_refused=False)
    reading = screen.read(request, folder, at_once=True)
    chosen = chosen_of(request, reading)
    message, undo = actions_page.deleted_words(len(chosen)), ""
    if service_of(request).can_restore:
        message, batches = delete_together(request, chosen)
        undo = f"deleted:{batches}" if batches else ""
        held_deletes.forget_listings(service_of(request), chosen)
    elif chosen:
        batch = held_deletes.hold(service_of(request), folder, chosen, timezone.now())
        events.record(request, events.Kind.DELETED, chosen[0].name, count=len(chosen))
        undo = f"held:{batch}"
    return answers.show_change(request, reading, message=message, undo=undo)


@open_to(Role.MEMBER, "GET", "POST")
def delete_dialog(request: Request, folder: str) -> HttpResponse:
    """Describe what would be lost. POST does the same, since a long selection fits no URL."""
    reading, page = delete_page_of(request, folder)
    if request.method == "POST" and not request.htmx:
        return answers.show_form(request, reading, "delete", {"deletion": page}, is_refused=False)
    return render(request, "files/_delete.html", {"deletion": page})


def delete_page_of(request: Request, folder: str) -> tuple[Reading, dict[str, object]]:
    """Describe the loss after a fresh read, since the page may be older than what would be lost."""
    reading = screen.read(request, folder, at_once=True)
    chosen = chosen_of(request, reading)
    look = chosen_look(request)
    below = screen.below_of(request, [entry for entry in chosen if entry.is_folder])
    all_but = sorted(fields_of(request, "but")) if is_all_chosen(request) else None
    days = owner_settings.find("DELETED_DAYS") if service_of(request).can_restore else 0
    shown = request.POST.get("shown", "")
    page = actions_page.delete_page(
        reading.snapshot, chosen, below, look, all_but=all_but, days=days, shown=shown
    )
    return reading, page


def delete_together(request: Request, chosen: Sequence[Entry]) -> tuple[str, str]:
    """Delete entries so that they can be restored. Return what happened, and the batches."""
    v1, batches, count = service_of(request).v1, [], 0
    message = actions_page.deleted_words(len(chosen))
    for start in range(0, len(chosen), MOST_TOGETHER):
        some = chosen[start : start + MOST_TOGETHER]
        try:
            deletion = v1.delete_together((entry.kind, entry.id) for entry in some)
        except Failure as failure:
            if start == 0:
                raise
            why = f"{message_of(failure).title}."
            message = actions_page.partly_deleted_words(start, len(chosen), why)
            break
        batches += [deletion.id] if deletion.id else []
        count += deletion.count
    if count:
        events.record(request, events.Kind.DELETED, chosen[0].name, count=count)
    return message, ",".join(batches)
