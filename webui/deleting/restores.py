"""Restore deleted entries."""

from collections.abc import Iterable

from django.contrib import messages
from django.utils.translation import gettext as _

from webui.activity import events
from webui.deleting.page import restored_words
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.v1.own_records import RestoredPlace


def restore_each(request: Request, choices: Iterable[dict[str, str]]) -> None:
    restored: list[RestoredPlace] = []
    try:
        for choice in choices:
            restored += service_of(request).v1.restore(choice)
    finally:
        # Also count items restored before a failure.
        if restored:
            folders.mark_changed(service_of(request), {each.folder_id for each in restored})
            events.record(request, events.Kind.UNDELETED, restored[0].name, count=len(restored))
            messages.success(request, restored_words(len(restored)))
    if not restored:
        messages.error(request, _("Nothing was restored. Choose what you want to restore."))
