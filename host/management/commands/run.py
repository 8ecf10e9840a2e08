import os
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from host import local_name, preparation, processes
from host.processes import HAND_OVER_SECONDS, STOP_SECONDS, Program
from host.storage import databases

# A name that others have takes a second to find out.
CHOOSE_SECONDS = 5


class Command(BaseCommand):
    help = "Prepares Ferry, then runs the web server and the worker until Ctrl-C."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.refuse_unusable_address()
        choosing = processes.start("names", local_name.choose) if local_name.is_wanted() else None
        with preparation.explain_failures():
            preparation.prepare()
            if choosing:
                choosing.join(CHOOSE_SECONDS)
                choosing.terminate()
            preparation.announce(sys.stdout)
        os.chdir(settings.BASE_DIR)
        databases.close_all()
        programs: dict[str, Program] = {"web": serve, "worker": lambda: call_command("work")}
        seconds = HAND_OVER_SECONDS if settings.STORE_URL else STOP_SECONDS
        sys.exit(processes.run(programs, seconds))


def serve() -> None:
    # gunicorn starts in the folder in which it was imported, and finds its settings there.
    from gunicorn.app import wsgiapp  # type: ignore[import-untyped]  # noqa: PLC0415

    sys.argv = ["gunicorn", "--config", "host/gunicorn.py", "config.wsgi"]
    wsgiapp.run()
