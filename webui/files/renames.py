"""Rename an entry, and undo that."""

from django.utils import timezone

from webui.errors.page import name_refusal
from webui.files import held_deletes
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import Entry
from webui.library.folders import Reading
from webui.v1.errors import Conflict, Rejected


def rename_entry(request: Request, reading: Reading, entry: Entry, name: str) -> str:
    """Rename an entry. Return the error for the field, or an empty string."""
    if name == entry.name:
        return ""
    held_deletes.delete_now(
        service_of(request),
        timezone.now(),
        folder=reading.snapshot.folder,
        name__iexact=name,
    )
    v1 = service_of(request).v1
    act = v1.rename_folder if entry.is_folder else v1.rename_file
    try:
        act(entry.id, name)
    except (Conflict, Rejected) as failure:
        return name_refusal(failure)
    touched = [reading.snapshot.folder, *([entry.id] if entry.is_folder else [])]
    folders.mark_changed(service_of(request), touched)
    return ""
