import os
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from config import preparation, processes
from config.storage import databases


class Command(BaseCommand):
    help = "Prepares Ferry, then runs the web server and the worker until Ctrl-C."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.refuse_unusable_address()
        with preparation.explain_failures():
            preparation.prepare()
            preparation.announce(sys.stdout)
        os.chdir(settings.BASE_DIR)
        databases.close_all()
        sys.exit(processes.run({"web": serve, "worker": lambda: call_command("work")}))


def serve() -> None:
    # gunicorn starts in the folder in which it was imported, and finds its settings there.
    from gunicorn.app import wsgiapp  # type: ignore[import-untyped]  # noqa: PLC0415

    sys.argv = ["gunicorn", "--config", "config/gunicorn.py", "config.wsgi"]
    wsgiapp.run()
