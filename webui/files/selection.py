"""The entries that a request selects."""

from webui.http.requests import Request
from webui.http.selected import fields_of, is_all_chosen
from webui.library.addresses import ViewOptions, parse_view_options
from webui.library.entries import Entry
from webui.library.folders import Reading


def chosen_of(request: Request, reading: Reading) -> list[Entry]:
    """Return the selected entries that still exist."""
    contents, look = reading.snapshot.contents, chosen_look(request)
    if is_all_chosen(request):
        spared = fields_of(request, "but")
        matching = contents.matching(look.order, look.query)
        return [entry for entry in matching if entry.key not in spared]
    keys = fields_of(request, "entry")
    return [entry for entry in contents.in_order(look.order) if entry.key in keys]


def chosen_look(request: Request) -> ViewOptions:
    """Return the view options. `q` defines "all"; a form may send it in its body instead."""
    fields = request.GET.dict() | ({"q": request.POST["q"]} if "q" in request.POST else {})
    return parse_view_options(fields)
