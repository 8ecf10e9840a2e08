import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections
from honcho.environ import parse_procfile
from honcho.manager import Manager

from config import preparation


class Command(BaseCommand):
    help = "Prepares Ferry, then runs the Procfile's processes until Ctrl-C."

    def handle(self, *_args: Any, **_options: Any) -> None:
        preparation.refuse_unusable_address()
        preparation.prepare()
        preparation.announce(sys.stdout)
        connections.close_all()
        sys.exit(run_processes(settings.BASE_DIR))


def run_processes(base: Path) -> int:
    """The Procfile's commands find this interpreter's own programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}
    manager = Manager()
    for name, command in parse_procfile((base / "Procfile").read_text()).processes.items():
        manager.add_process(name, command, env=environment, cwd=str(base))
    manager.loop()
    return int(manager.returncode or 0)
