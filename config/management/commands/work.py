import signal
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.storage import databases, release, running
from config.worker import rounds
from config.worker.transferring import Transferring, embedded_worker
from service.media.content_folders import scratch_folder
from service.media.sandbox.children import Children
from service.media.work import MediaWork
from service.worker import leases
from webui.connection import connection


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
            import_module("config.monitoring.recording").start()
        release.check_database()
        transferring = Transferring(embedded_worker)
        media = MediaWork(Children(scratch_folder()), connection.is_embedded)
        if options["once"]:
            transferring.round()
            transferring.stop()
            rounds.run_all(rounds.ROUNDS)
            media.run_once()
            return
        databases.insist()
        stopped = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_signal: stopped.set())
        rounds.log.info("worker started")
        thread = Thread(target=transferring.run_until, args=(stopped,), name="transfers")
        thread.start()
        with media.going_on():
            rounds.run_until(stopped, rounds.ROUNDS)
            transferring.wake()
        thread.join()
        rounds.log.info("worker stopped")


def check() -> None:
    """Fail unless the worker of this machine is alive: it holds a lease as long as it makes rounds.

    While the site shows another service, the worker holds none.
    """
    folder = Path(settings.DATA_DIR) / leases.FOLDER
    if connection.is_embedded() and not leases.is_alive_here(folder):
        raise CommandError("No worker runs on this machine.")
