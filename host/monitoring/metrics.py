"""The numbers that `/metrics` shows. Imported only if METRICS_TOKEN is set.

prometheus_client keeps the numbers of each process in files that all processes of this machine map
into memory, so that whichever web process answers `/metrics` can add them up.
"""

from prometheus_client import Counter, Gauge, Histogram

from host.monitoring import folder

QUERY_BUCKETS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)

REQUESTS = Counter(
    "ferry_requests_total", "Requests by route and status.", ["method", "route", "status"]
)
REQUEST_SECONDS = Histogram(
    "ferry_request_duration_seconds", "Time until a response begins, by route.", ["route"]
)
RECEIVED_BYTES = Counter("ferry_received_bytes_total", "Bytes received from clients.")
SENT_BYTES = Counter("ferry_sent_bytes_total", "Bytes sent to clients.")
CONNECTIONS = Gauge("ferry_connections", "Open connections.", multiprocess_mode="livesum")
WAITING = Gauge(
    "ferry_waiting_requests", "Requests that wait for a thread.", multiprocess_mode="livesum"
)
SERVICE_SECONDS = Histogram(
    "ferry_service_call_duration_seconds", "Calls of v1 by the site, by outcome.", ["outcome"]
)
QUERY_SECONDS = Histogram(
    "ferry_database_query_duration_seconds",
    "Database queries, including their wait for locks.",
    buckets=QUERY_BUCKETS,
)
MEDIA_SECONDS = Histogram(
    "ferry_media_request_duration_seconds",
    "Requests for converted media, by kind and outcome.",
    ["kind", "outcome"],
)
TRANSFERS_ENDED = Counter("ferry_transfers_ended_total", "Transfers that ended.", ["state"])


def forget() -> None:
    """Delete the numbers of earlier processes; none may be running."""
    for path in folder().glob("*.db"):
        path.unlink()
