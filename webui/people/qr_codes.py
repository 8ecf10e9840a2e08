"""Draw a URL as a QR code."""

from dataclasses import dataclass

import segno


@dataclass(frozen=True)
class DeviceAddress:
    """A URL of Ferry, and its QR code."""

    url: str
    qr_path: str
    qr_size: int


def device_address(url: str) -> DeviceAddress:
    """Draw the dark modules as one SVG path. The page adds the quiet zone around them."""
    rows = segno.make(url, error="m", micro=False).matrix
    runs = [
        f"M{start} {number}.5h{length}"
        for number, row in enumerate(rows)
        for start, length in runs_of(row)
    ]
    return DeviceAddress(url, "".join(runs), len(rows))


def runs_of(row: bytearray) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    start = None
    for at, is_dark in enumerate([*row, 0]):
        if is_dark and start is None:
            start = at
        elif not is_dark and start is not None:
            runs.append((start, at - start))
            start = None
    return runs
