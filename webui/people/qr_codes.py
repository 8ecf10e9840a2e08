"""Draw a URL as a QR code."""

from dataclasses import dataclass

import segno
from segno.utils import matrix_to_lines  # type: ignore[attr-defined]


@dataclass(frozen=True)
class DeviceAddress:
    url: str
    qr_path: str
    qr_size: int


def device_address(url: str) -> DeviceAddress:
    """Draw the dark modules as one SVG path. The page adds the quiet zone around them."""
    rows = segno.make(url, error="m", micro=False).matrix
    lines = matrix_to_lines(rows, 0, 0.5)
    path = "".join(f"M{start} {row}h{end - start}" for (start, row), (end, _row) in lines)
    return DeviceAddress(url, path, len(rows))
