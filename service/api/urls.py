"""Build every path of v1 from the table of operations."""

from collections.abc import Iterator

from django.urls import URLPattern, path, re_path, register_converter
from django.urls.converters import IntConverter

from service.api.endpoints import Endpoint, Nowhere, Operation
from service.api.operations import GROUPS
from service.models import LARGEST_ID


class Number(IntConverter):
    """An id in a path. Anything else, or a number too large for an id, matches no path: 404."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        if int(value) > LARGEST_ID:
            raise ValueError(value)
        return int(value)


register_converter(Number, "id")


def endpoints() -> Iterator[URLPattern]:
    by_path: dict[str, dict[str, Operation]] = {}
    for operations in GROUPS.values():
        for each in operations:
            by_path.setdefault(each.path, {})[each.method] = each
    for template, methods in by_path.items():
        needs_account = not any(each.is_open for each in methods.values())
        route = template.removeprefix("/").replace("{", "<id:")
        yield path(route.replace("}", ">"), Endpoint(methods, needs_account))


urlpatterns = [*endpoints(), re_path("^rest/", Nowhere({}))]
