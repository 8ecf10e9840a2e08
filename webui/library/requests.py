"""Read from a request how to show a listing: sort, filter, and view."""

from webui.http.requests import Request
from webui.library.addresses import ViewOptions, parse_view_options


def view_options(request: Request) -> ViewOptions:
    return parse_view_options(request.GET.dict())
