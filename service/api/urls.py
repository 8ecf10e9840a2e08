"""Build every path of v1 from the table of operations."""

from collections.abc import Iterator

from django.urls import URLPattern, path, re_path, register_converter

from service.api.endpoints import Endpoint, Nowhere, Operation
from service.api.operations import GROUPS
from service.http.url_converters import Number

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
