"""Choose which files of a torrent Ferry fetches, before it begins, while it runs, and later."""

from collections.abc import Collection, Sequence

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from webui.activity import events
from webui.activity.events import Kind
from webui.choosing import page as pages
from webui.choosing.tree import indexes_in_form, is_marked
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.models import Role
from webui.transfers import actions, poll
from webui.transfers.screen import confirm, find_transfer
from webui.transfers.states import DONE, FAILED, GONE, CachedTransfer
from webui.v1.own_records import TransferFile

WHOLE_PERCENT = 100


@open_to(Role.MEMBER, "GET", "POST")
def choose(request: Request, key: str) -> HttpResponse:
    transfer = find_transfer(request, key)
    files = read_files(request, transfer)
    if request.method != "POST":
        mark = request.GET.get("mark", "none" if transfer.state == DONE else "")
        return show(
            request, transfer, files, {each.index for each in files if is_marked(each, mark)}
        )
    fields = set(request.POST.getlist("file"))
    chosen = indexes_in_form(files, fields, has_rest="rest" in request.POST)
    if not chosen:
        response = show(request, transfer, files, chosen)
        response.status_code = 422
        response["HX-Retarget"], response["HX-Reswap"] = "#choose-files", "innerHTML"
        return response
    save(request, transfer, files, chosen)
    return confirm(request, pages.saved_words(len(chosen)))


def read_files(request: Request, transfer: CachedTransfer) -> Sequence[TransferFile]:
    """Return the files that can be chosen: of a finished torrent, those that aren't stored."""
    service = service_of(request)
    if not service.is_embedded or not transfer.id or transfer.state in (FAILED, GONE):
        raise Http404
    files = service.v1.transfer_files(transfer.id)
    if transfer.state != DONE:
        return files
    return [file for file in files if file.progress_percent < WHOLE_PERCENT]


def show(
    request: Request,
    transfer: CachedTransfer,
    files: Sequence[TransferFile],
    chosen: Collection[int],
) -> HttpResponse:
    cached_list = poll.store().find_list(service_of(request).key)
    free_bytes = cached_list.free_bytes if cached_list else None
    page = pages.choice_page(transfer, files, chosen, free_bytes)
    template = "choosing/_choose.html" if request.htmx else "choosing/show.html"
    return render(request, template, {"page": page})


def save(
    request: Request,
    transfer: CachedTransfer,
    files: Sequence[TransferFile],
    chosen: Collection[int],
) -> None:
    is_ready = transfer.state != DONE and not transfer.awaits_choice
    if is_ready and chosen == {file.index for file in files if file.is_wanted}:
        return
    service = service_of(request)
    service.v1.choose_files(transfer.id, sorted(chosen))
    actions.mark_changed(service)
    events.record(request, Kind.FILES_CHOSEN, transfer.name, count=len(chosen))


@open_to(Role.MEMBER, "GET")
def progress(request: Request, key: str) -> JsonResponse:
    """Send how many percent of each file have arrived, by index, to a script."""
    files = read_files(request, find_transfer(request, key))
    return JsonResponse({file.index: file.progress_percent for file in files})
