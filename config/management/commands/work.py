import signal
from threading import Event, Thread
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.storage import databases, release, running
from config.worker import rounds
from config.worker.transferring import Transferring, embedded_worker
from service.media.content_folders import scratch_folder
from service.media.sandbox.children import Children
from service.media.work import MediaWork
from webui.connection import connection


class Command(BaseCommand):
    help = "Runs the worker, which does Ferry's background work."
    # System checks would load the whole site, which the worker never needs.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="run each round once, then stop")

    def handle(self, *_args: Any, **options: Any) -> None:
        running.note_running()
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
