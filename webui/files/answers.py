"""The responses to actions on the Files screen: the folder after the change, or their form."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from webui.files import screen
from webui.files.pages import folder as files_pages
from webui.http.requests import Request, respond, service_of
from webui.library import folders
from webui.library.addresses import Addresses, parse_view_options
from webui.library.folders import Reading


def show_form(
    request: Request, reading: Reading, name: str, values: dict[str, object], *, is_refused: bool
) -> HttpResponse:
    """Render the partial alone for htmx after a refusal, else the whole page."""
    context = screen.context_of(request, reading)
    bare = screen.without_rows(reading.snapshot)
    page = files_pages.files_page(bare, parse_view_options(request.GET), context)
    is_partial = request.htmx and is_refused
    template = f"files/_{name}.html" if is_partial else f"files/{name}.html"
    status = 422 if is_refused else 200
    return render(request, template, {**values, "page": page}, status=status)


def show_change(  # noqa: PLR0913  Each action needs a few of them.
    request: Request,
    reading: Reading,
    *,
    message: str,
    new_key: str = "",
    undo: str = "",
    has_toast: bool = False,
    fields: screen.Fields | None = None,
) -> HttpResponse:
    """Show the folder after a change, with everything on the page that the change affects.

    `undo`: what the message offers to undo, and its batches (see views/undo.py). `has_toast`: the
    change that the page shows doesn't say as much as the message. `fields`: how the page shows the
    folder, if the URL of the request doesn't say so.
    """
    folder = reading.snapshot.folder
    folders.mark_changed(service_of(request), [folder])
    if not request.htmx:
        look = parse_view_options(request.GET)
        messages.success(request, message, extra_tags=undo)
        return redirect(Addresses(folder, look).at(look))
    if request.POST.get("shown", folder) not in ("", folder):
        return show_message(request, message, undo)
    page = screen.page_of(request, folder, at_once=True, fields=fields)
    context = {"page": page, "new_key": new_key, "said": message, "undo": undo}
    context["has_toast"] = has_toast
    return respond(
        request, "files/_listing.html", context, page=page.url, message=message, retarget="#listing"
    )


def show_message(request: Request, message: str, undo: str) -> HttpResponse:
    """Show what happened on a page that shows another folder, or results, and refreshes itself."""
    response = render(request, "files/_changed.html", {"said": message, "undo": undo})
    response["HX-Retarget"], response["HX-Reswap"] = "#said", "innerHTML"
    response["HX-Trigger-After-Settle"] = "entries-changed"
    return response
