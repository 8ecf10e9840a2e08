"""Programs of our own that read media by PyAV, each for one question and then gone."""

import json
import sys
from typing import Any

from service.media.children import BASE

ENVIRONMENT = {"PYTHONPATH": str(BASE), "LANG": "C.UTF-8"}


def program(module: str, **question: Any) -> list[str]:
    """`question` reaches it in JSON: numbers, and the path of a blob, which is ours."""
    asked = json.dumps(question, separators=(",", ":"))
    return [sys.executable, "-P", "-s", "-m", f"service.media.inside.{module}", asked]
