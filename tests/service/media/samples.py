"""Media for tests, made with the programs that people use.

Pictures and short films are bytes; longer films are files that are kept for the session.
"""

import io
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw

from service.media.sandbox.ffmpeg_access import ffmpeg

HOME = tempfile.TemporaryDirectory(prefix="ferry-samples-")

X264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")
# VPX threads spin while they wait for each other, for minutes on a busy machine.
VPX = ("-deadline", "realtime", "-cpu-used", "8", "-threads", "1")
AAC = ("-c:a", "aac", "-b:a", "96k")


def run(*arguments: str) -> None:
    subprocess.run([ffmpeg(), "-nostdin", "-v", "error", "-y", *arguments], check=True, timeout=600)


# Pictures


def picture(width: int = 400, height: int = 300, mode: str = "RGB", kind: str = "JPEG", **saving):
    """Return a picture whose upper left quarter is red and the rest blue."""
    image = Image.new("RGB", (width, height), (0, 0, 200))
    ImageDraw.Draw(image).rectangle((0, 0, width // 2 - 1, height // 2 - 1), fill=(200, 0, 0))
    if mode == "RGBA":
        image.putalpha(Image.new("L", image.size, 100))
    return saved(image.convert(mode), kind, **saving)


def saved(image: Image.Image, kind: str, **saving) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **saving)
    return target.getvalue()


def shown(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


# Short films


@cache
def short_film(
    suffix: str, *options: str, source: str = "testsrc2=s=320x240:d=2", sound: bool = True
) -> bytes:
    pictures = ("-f", "lavfi", "-i", source) if source else ()
    sounds = ("-f", "lavfi", "-i", "sine=d=2") if sound else ()
    return written(suffix, *pictures, *sounds, *options)


def written(suffix: str, *arguments: str) -> bytes:
    """Return a film by ffmpeg, which writes some containers only to files."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"film.{suffix}"
        run(*arguments, str(target))
        return target.read_bytes()


# Films


def place(name: str) -> Path:
    return Path(HOME.name) / name


def own_place(name: str) -> Path:
    """Return a new path, so that films with the same name and different content don't collide."""
    return Path(tempfile.mkdtemp(dir=HOME.name)) / name


@cache
def raw(seconds: int = 20, size: str = "320x180", rate: str = "25") -> tuple[str, ...]:
    """Return the arguments for a picture that counts frames, and a tone that never stops."""
    picture = f"testsrc2=s={size}:r={rate}:d={seconds}"
    return ("-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", f"sine=440:r=48000:d={seconds}")


@cache
def film(
    name: str, *codecs: str, seconds: int = 20, size: str = "320x180", rate: str = "25"
) -> Path:
    """Make a film. The extension of `name` sets the container; `codecs` are ffmpeg's options."""
    path = own_place(name)
    run(*raw(seconds, size, rate), *(codecs or (*X264, "-g", "50", *AAC)), str(path))
    return path


@cache
def copied(name: str, source: Path, *words: str) -> Path:
    """Copy a film to another container, or with other metadata."""
    path = own_place(name)
    run("-i", str(source), "-map", "0", "-c", "copy", *words, str(path))
    return path


@cache
def turned(name: str, source: Path) -> Path:
    """Rotate a film, like that of a phone that is held upright."""
    path = own_place(name)
    run("-display_rotation", "90", "-i", str(source), "-map", "0", "-c", "copy", str(path))
    return path
