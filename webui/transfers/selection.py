"""The transfers that a request selects."""

from itertools import chain

from webui.http.requests import Request, service_of
from webui.http.selected import fields_of, is_all_chosen
from webui.transfers import list_options, poll
from webui.transfers.list_options import ListOptions
from webui.transfers.states import CachedTransfer


def options_in(request: Request) -> ListOptions:
    """Return how the page showed the list that sent this request."""
    return list_options.parse(request.POST.get("view") or request.GET.get("view", ""))


def chosen_of(request: Request) -> list[CachedTransfer]:
    """Return the selected transfers that are still in the list, in the order of the queue.

    The field `all` selects those that match the filter; if it says so, the whole list.
    """
    transfers = poll.store().all(service_of(request).key)
    if "whole" in fields_of(request, "all"):
        return list(transfers.values())
    keys = fields_of(request, "entry")
    if is_all_chosen(request):
        matching = options_in(request).group(transfers.values())
        keys = {*chain.from_iterable(matching)} - fields_of(request, "but")
    return [each for each in transfers.values() if each.key in keys]
