import os
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config import preparation, processes


class Command(BaseCommand):
    help = "Prepares Ferry, then runs the Procfile's processes until Ctrl-C."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.refuse_unusable_address()
        with preparation.explain_failures():
            preparation.prepare()
            preparation.announce(sys.stdout)
        sys.stdout.flush()
        # A signal waits until the other program handles it.
        signal.pthread_sigmask(signal.SIG_BLOCK, processes.NEWS)
        os.environ["DATA_DIR"] = str(settings.DATA_DIR)
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, [sys.executable, "-m", "config.processes"])  # noqa: S606
