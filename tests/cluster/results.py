"""Add what is measured to the file that CLUSTER_RESULTS names."""

import json
import os
from datetime import datetime
from pathlib import Path


def add(name: str, measured: object) -> None:
    if place := os.environ.get("CLUSTER_RESULTS"):
        path = Path(place)
        known = json.loads(path.read_text()) if path.exists() else {}
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        path.write_text(json.dumps({**known, "at": at, name: measured}, indent=1) + "\n")
