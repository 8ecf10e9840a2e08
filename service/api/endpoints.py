"""Answer each path of the API: an operation for each method, and refusals in JSON."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast, get_type_hints

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from msgspec import Struct

from service.api.auth import AccountRequest, account_of, refuse_foreign_page
from service.errors import NotFound, Refusal
from service.http import bodies, responses

View = Callable[..., HttpResponseBase | Struct]


@dataclass(frozen=True)
class Operation:
    """One method of one path. The view's annotations declare its request and its response."""

    method: str
    path: str
    summary: str
    view: View
    # What the view reads itself, because it isn't a plain record: files, lists in many spellings.
    reads: type[Struct] | None = None
    is_open: bool = False  # needs no account

    @cached_property
    def hints(self) -> dict[str, Any]:
        return get_type_hints(self.view, include_extras=True)

    @property
    def sent(self) -> type[Struct] | None:
        return self.reads or self.hints.get("sent")

    def answer(self, request: AccountRequest, *ids: int) -> HttpResponseBase:
        record = self.hints.get("sent")
        arguments = {} if record is None else {"sent": self.read(request, record)}
        answer = self.view(request, *ids, **arguments)
        return responses.in_json(answer) if isinstance(answer, Struct) else answer

    def read(self, request: AccountRequest, record: type[Struct]) -> Struct:
        is_get = self.method == "GET"
        fields = bodies.Fields(bodies.query_of(request)) if is_get else bodies.fields_of(request)
        return fields.read(record)


@dataclass(frozen=True, eq=False)
class Endpoint:
    operations: Mapping[str, Operation]
    needs_account: bool = True

    # The API reads no cookie; `refuse_foreign_page` stops what another site could abuse.
    csrf_exempt: ClassVar[bool] = True

    @property
    def allowed(self) -> list[str]:
        return [*self.operations, *(["HEAD"] if "GET" in self.operations else [])]

    def __call__(self, request: HttpRequest, **ids: int) -> HttpResponseBase:
        account_request = cast("AccountRequest", request)
        account_request.now = timezone.now()
        try:
            return self._answer(account_request, ids)
        except Refusal as refusal:
            return responses.refusal(refusal)

    def _answer(self, request: AccountRequest, ids: Mapping[str, int]) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else request.method or ""
        if method != "GET":
            refuse_foreign_page(request)
        if self.needs_account:
            request.account = account_of(request)
        if method not in self.operations:
            return responses.wrong_method(self.allowed)
        return self.operations[method].answer(request, *ids.values())


class Nowhere(Endpoint):
    """A path that doesn't exist, for any method, with or without an account."""

    def _answer(self, _request: AccountRequest, _ids: Mapping[str, int]) -> HttpResponseBase:
        raise NotFound
