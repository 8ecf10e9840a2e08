"""How a request wants a listing to look: sort, filter, and view."""

from webui.http.requests import Request
from webui.library.addresses import Look, look_of


def look_at(request: Request) -> Look:
    return look_of(request.GET.dict())
