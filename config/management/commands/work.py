import signal
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config import rounds


class Command(BaseCommand):
    help = "Runs the worker: what Ferry does when nobody asks."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round of each, then stop")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["once"]:
            rounds.run_all(rounds.ROUNDS)
            return
        stopped = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_signal: stopped.set())
        rounds.log.info("worker started")
        rounds.run_until(stopped, rounds.ROUNDS)
        rounds.log.info("worker stopped")
