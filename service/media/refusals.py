"""What could not be converted once is not tried again, and says why at once."""

import json
from pathlib import Path

from service.errors import CannotConvert
from service.media import places

REFUSED = "refused.json"


def remember(folder: Path, why: str) -> None:
    places.keep(folder / REFUSED, json.dumps({"why": why}).encode())


def raise_remembered(folder: Path) -> None:
    """Raises CannotConvert."""
    try:
        kept = json.loads((folder / REFUSED).read_text())
    except (OSError, ValueError):
        return
    raise CannotConvert(str(kept.get("why", "")))
