"""Media that tests need, made by the programs that people make them with."""

import io
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw

from service.media.tools import ffmpeg


def picture(width: int = 400, height: int = 300, mode: str = "RGB", kind: str = "JPEG", **saving):
    """Its upper left quarter is red, the rest blue."""
    image = Image.new("RGB", (width, height), (0, 0, 200))
    ImageDraw.Draw(image).rectangle((0, 0, width // 2 - 1, height // 2 - 1), fill=(200, 0, 0))
    if mode == "RGBA":
        image.putalpha(Image.new("L", image.size, 100))
    return saved(image.convert(mode), kind, **saving)


def saved(image: Image.Image, kind: str, **saving) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **saving)
    return target.getvalue()


@cache
def film(suffix: str, *options: str, source: str = "testsrc2=s=320x240:d=2", sound: bool = True):
    """Made by ffmpeg, which writes some containers into files only."""
    argv = [ffmpeg(), "-nostdin", "-loglevel", "error", "-y"]
    argv += ["-f", "lavfi", "-i", source] if source else []
    argv += ["-f", "lavfi", "-i", "sine=d=2"] if sound else []
    return written(argv, options, suffix)


def written(argv: list[str], options: tuple[str, ...], suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"film.{suffix}"
        subprocess.run([*argv, *options, target], check=True)
        return target.read_bytes()


def shown(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))
