"""Magnet links, as far as Ferry needs them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Magnet:
    info_hash_v1: str  # 40 hex digits, or empty
    info_hash_v2: str  # 64 hex digits, or empty
    name: str  # as it was sent; "" where there was none
    size_bytes: int  # 0 where it is not told
    trackers: tuple[str, ...]


def is_magnet(text: str) -> bool:
    raise NotImplementedError


def read(uri: str) -> Magnet:
    """Raises BadMagnet."""
    raise NotImplementedError
