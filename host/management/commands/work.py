import signal
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from host import local_name
from host.storage import databases, release, running
from host.worker import measuring, rounds
from host.worker.looking import Looking
from host.worker.transferring import Transferring, embedded_worker
from service.media.content_folders import scratch_folder
from service.media.sandbox.children import Children
from service.media.serving import local_socket
from service.media.serving.media_server import HasLeft
from service.media.serving.requests import Facts
from service.media.work import MediaWork
from service.worker import leases
from webui.connection import connection

# Health checks at the same time.
MOST_CHECKS = 8


class Command(BaseCommand):
    help = "Runs the worker, which does Ferry's background work."
    # System checks would load the whole site, which the worker never needs.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="fail unless a worker runs on this machine"
        )
        parser.add_argument("--once", action="store_true", help="run each round once, then stop")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["check"]:
            check()
            return
        running.note_running()
        if settings.METRICS_TOKEN:
            import_module("host.monitoring.recording").start()
        release.check_database()
        transferring = Transferring(embedded_worker)
        media = MediaWork(Children(scratch_folder()), connection.is_embedded)
        media.server.register(MOST_CHECKS, round=partial(last_round, transferring))
        media.server.register(1, measure=measure)
        if options["once"]:
            if runs_transfers():
                transferring.round()
                transferring.stop()
            rounds.run_all([*rounds.ROUNDS, rounds.handing_over(Event())])
            local_name.registration.close()
            if makes_media():
                media.run_once()
            return
        databases.insist()
        stopped = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_signal: stopped.set())
        rounds.log.info("worker started")
        with ExitStack() as stack:
            if runs_transfers():
                stack.enter_context(transferring.going_on(stopped))
            if makes_media():
                stack.enter_context(media.going_on())
            if settings.HANDOVER_DIR:
                stack.enter_context(rounds.aside(stopped, [rounds.handing_over(stopped)]))
            stack.callback(local_name.registration.close)
            stack.enter_context(Looking().going_on(stopped))
            rounds.run_until(stopped, rounds.ROUNDS)
            # Transfers and media stop at the same time.
            transferring.wake()
        rounds.log.info("worker stopped")


def last_round(transferring: Transferring, _question: Facts, _has_left: HasLeft) -> Facts:
    return {"seconds_ago": transferring.seconds_since_round() if runs_transfers() else 0}


def measure(_question: Facts, _has_left: HasLeft) -> Facts:
    measuring.measure(timezone.now())
    return {}


def check() -> None:
    """Fail unless the worker of this machine is alive: it holds a lease as long as it makes rounds.

    One that runs no transfers holds no lease, but answers. While the site shows another service, a
    worker does neither.
    """
    if not connection.is_embedded():
        return
    folder, is_alive = Path(settings.DATA_DIR), True
    if runs_transfers():
        is_alive = leases.is_alive_here(folder / leases.FOLDER)
    elif makes_media():
        is_alive = local_socket.is_served(folder)
    if not is_alive:
        raise CommandError("No worker runs on this machine.")


def runs_transfers() -> bool:
    return "transfers" in settings.WORKER_ROLES


def makes_media() -> bool:
    return "media" in settings.WORKER_ROLES
