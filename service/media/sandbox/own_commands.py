"""Command lines of our own programs, which read media with PyAV and Pillow."""

import json
import sys
from pathlib import Path
from typing import Any

BASE = Path(__file__).resolve().parents[3]
ENVIRONMENT = {"PYTHONPATH": str(BASE), "LANG": "C.UTF-8"}


def program(module: str, **question: Any) -> list[str]:
    """Return the command for one question, in JSON: numbers, and the path of our own blob."""
    return [*command(module), json.dumps(question, separators=(",", ":"))]


def command(module: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-m", f"service.media.sandboxed.{module}"]
