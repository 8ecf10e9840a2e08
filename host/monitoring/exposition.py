"""Write the metrics in Prometheus's text format, and look up some facts at each scrape."""

import logging
from collections.abc import Iterator

from django.db import DatabaseError
from django.db.models import Count, Sum
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from host import health, monitoring
from host.worker import measuring
from service.models import Transfer, Wish, Worker

__all__ = ["CONTENT_TYPE_LATEST", "text"]

log = logging.getLogger("ferry.metrics")


def text() -> bytes:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(monitoring.folder()))  # type: ignore[no-untyped-call]
    registry.register(Readiness())
    registry.register(Rows())
    return generate_latest(registry)


class Readiness(Collector):
    """What `/readyz` and the Health page show."""

    def collect(self) -> Iterator[Metric]:
        ready = GaugeMetricFamily("ferry_ready", "1 if this part is ready.", labels=["part"])
        for part, finding in health.findings().items():
            ready.add_metric([part], 0 if finding else 1)
        yield ready
        if (free_bytes := health.disk_bytes()) is not None:
            yield GaugeMetricFamily("ferry_disk_free_bytes", "Free space for DATA_DIR.", free_bytes)
        if measurements := measuring.last():
            used = GaugeMetricFamily(
                "ferry_disk_used_bytes", "Space that Ferry takes, measured hourly.", labels=["part"]
            )
            for part, size_bytes in measurements.space.items():
                used.add_metric([part], size_bytes)
            yield used


class Rows(Collector):
    """Metrics of the workers of all machines, from the database."""

    def collect(self) -> Iterator[Metric]:
        try:
            yield from [transfers(), *speeds(), *waiting()]
        except DatabaseError as trouble:
            log.warning("no rows for metrics: %s", trouble, extra={"trouble": trouble})


def transfers() -> Metric:
    """Return how many transfers are in each state. Finished transfers are too many to count."""
    family = GaugeMetricFamily("ferry_transfers", "Transfers by state.", labels=["state"])
    undone = Transfer.objects.exclude(state=Transfer.State.DONE).order_by()
    counts = dict(undone.values_list("state").annotate(Count("pk")))
    for state in Transfer.State:
        if state != Transfer.State.DONE:
            family.add_metric([state], counts.get(state, 0))
    family.add_metric(["seeding"], Transfer.objects.filter(is_seeding=True).count())
    return family


def speeds() -> Iterator[Metric]:
    sums = {"down": Sum("download_bytes_per_second", default=0)}
    sums["up"] = Sum("upload_bytes_per_second", default=0)
    running = Transfer.running().order_by().aggregate(**sums)
    seeding = Transfer.objects.filter(is_seeding=True).order_by().aggregate(**sums)
    yield GaugeMetricFamily(
        "ferry_transfers_downloaded_bytes_per_second",
        "Bytes per second that all transfers together have downloaded last.",
        running["down"] + seeding["down"],
    )
    yield GaugeMetricFamily(
        "ferry_transfers_uploaded_bytes_per_second",
        "Bytes per second that all transfers together have uploaded last.",
        running["up"] + seeding["up"],
    )


def waiting() -> Iterator[Metric]:
    yield GaugeMetricFamily("ferry_wishes", "Torrents that wait for space.", Wish.objects.count())
    yield GaugeMetricFamily("ferry_workers", "Workers that are alive.", Worker.alive().count())
