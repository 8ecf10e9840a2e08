"""How long a torrent seeds: until it has sent its share, or for so many minutes."""

from typing import Any

from service.torrents.orders import EngineSettings


def is_reached(limits: EngineSettings, status: Any, size_bytes: int) -> bool:
    ratio = status.all_time_upload / max(1, size_bytes)
    minutes = status.seeding_duration.total_seconds() / 60
    return bool(ratio >= limits.seed_ratio or minutes >= limits.seed_minutes)
