"""Recently deleted: restore items, or delete them for good."""

import re
from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from webui import owner_settings
from webui.activity import events
from webui.deleting import restores
from webui.deleting.page import deleted_for_good_words, deleted_page, final_page
from webui.http.requests import Request, form_page_url, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.models import Role
from webui.words.formatting import Calendar

NUMBER = re.compile("[0-9]{1,18}")
MOST_IDS = 1_000  # As many as the list shows.


@open_to(Role.MEMBER, "GET")
def show(request: Request) -> HttpResponse:
    refuse_elsewhere(request)
    deleted = service_of(request).v1.deleted_items()
    page = deleted_page(deleted, Calendar.now(), owner_settings.find("DELETED_DAYS"))
    return render(request, "files/deleted.html", {"page": page})


@open_to(Role.MEMBER, "POST")
def restore(request: Request) -> HttpResponse:
    refuse_elsewhere(request)
    page_url = form_page_url(request)
    back = page_url if page_url != request.get_full_path() else reverse("files-deleted")
    ids = chosen_ids(request)
    restores.restore_each(request, [{"ids": ",".join(ids)}] if ids else [])
    return redirect(back)


def chosen_ids(request: Request) -> list[str]:
    return numbers_in(request.POST.getlist("id"))[:MOST_IDS]


def numbers_in(values: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(each for each in values if NUMBER.fullmatch(each))]


@open_to(Role.MEMBER, "POST")
def delete(request: Request) -> HttpResponse:
    refuse_elsewhere(request)
    ids = chosen_ids(request)
    is_all = "all" in request.POST
    if not ids and not is_all:
        messages.error(request, _("Nothing was deleted. Choose what you want to delete."))
        return redirect("files-deleted")
    v1 = service_of(request).v1
    items = v1.deleted_items().items
    if "confirmed" not in request.POST:
        # The question doesn't cover what someone deletes in the meantime.
        latest = max((int(each.id) for each in items), default=0)
        page = final_page([] if is_all else ids, until=str(latest))
        return render(request, "files/final.html", {"page": page})
    until = numbers_in([request.POST.get("until", "")])
    chosen = {"all": "1", "until": until[0]} if is_all and until else {"ids": ",".join(ids)}
    candidates = [each for each in items if not until or int(each.id) <= int(until[0])]
    name_of: dict[str, str] = {each.id: each.name for each in candidates}
    if count := v1.delete_for_good(chosen).count:
        folders.mark_changed(service_of(request), [])
        first = next(iter(name_of.values() if is_all else map(name_of.get, ids)), "") or ""
        events.record(request, events.Kind.DELETED_FOR_GOOD, first, count=count)
        messages.success(request, deleted_for_good_words(count))
    return redirect("files-deleted")


def refuse_elsewhere(request: Request) -> None:
    if not service_of(request).can_restore:
        raise Http404
