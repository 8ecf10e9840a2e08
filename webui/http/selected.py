"""The fields with which pages send a selection of rows."""

from django.http import HttpRequest


def fields_of(request: HttpRequest, name: str) -> set[str]:
    return {*request.GET.getlist(name), *request.POST.getlist(name)}


def is_all_chosen(request: HttpRequest) -> bool:
    """Return whether a selection means all rows that match, except those in the field `but`."""
    return "1" in fields_of(request, "all")
