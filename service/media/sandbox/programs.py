"""Programs of our own that read media, by PyAV and Pillow, beside the worker."""

import json
import sys
from pathlib import Path
from typing import Any

BASE = Path(__file__).resolve().parents[3]
ENVIRONMENT = {"PYTHONPATH": str(BASE), "LANG": "C.UTF-8"}


def program(module: str, **question: Any) -> list[str]:
    """For one question, in JSON: numbers, and the path of a blob, which is ours."""
    return [*command(module), json.dumps(question, separators=(",", ":"))]


def command(module: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-m", f"service.media.sandboxed.{module}"]
