"""Record what happens in this process."""

import time
from collections.abc import Callable
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponseBase

from host.monitoring import metrics
from service import signals as service_signals
from service.http.responses import IN_PROCESS
from webui.connection.connection import service_called
from webui.http.requests import Answer, middleware
from webui.v1.errors import Failure

# Anyone may send any method, and each label costs memory.
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def start() -> None:
    connection_created.connect(time_queries)
    service_called.connect(record_service_call)
    service_signals.media_requested.connect(record_media_request)
    service_signals.transfer_ended.connect(record_transfer)


@middleware
def measure(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Record each request from outside, in the site's and the service's middleware."""
    if IN_PROCESS in request.META:
        return get_response(request)
    began_at = time.perf_counter()
    response = get_response(request)
    seconds = time.perf_counter() - began_at
    method = request.method if request.method in METHODS else "other"
    route = request.resolver_match.route if request.resolver_match else "none"
    metrics.REQUESTS.labels(method, route, response.status_code).inc()
    metrics.REQUEST_SECONDS.labels(route).observe(seconds)
    return response


def time_queries(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    if time_query not in connection.execute_wrappers:
        connection.execute_wrappers.append(time_query)


def time_query(
    execute: Callable[..., Any],
    sql: str,
    params: Any,
    many: bool,  # noqa: FBT001  As Django calls it.
    context: dict[str, Any],
) -> Any:
    with metrics.QUERY_SECONDS.time():
        return execute(sql, params, many, context)


def record_service_call(seconds: float, failure: Failure | None, **_signal: Any) -> None:
    metrics.SERVICE_SECONDS.labels(outcome_of(failure)).observe(seconds)


def record_media_request(
    kind: str, seconds: float, failure: Exception | None, **_signal: Any
) -> None:
    metrics.MEDIA_SECONDS.labels(kind, outcome_of(failure)).observe(seconds)


def outcome_of(failure: Exception | None) -> str:
    return type(failure).__name__ if failure else "ok"


def record_transfer(state: str, **_signal: Any) -> None:
    metrics.TRANSFERS_ENDED.labels(state).inc()
