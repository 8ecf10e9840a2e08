"""Media that ffmpeg makes: short, small, and kept for the session."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from service.media.tools import ffmpeg

HOME = tempfile.TemporaryDirectory(prefix="ferry-samples-")

X264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")
AAC = ("-c:a", "aac", "-b:a", "96k")


def run(*arguments: str) -> None:
    subprocess.run([ffmpeg(), "-nostdin", "-v", "error", "-y", *arguments], check=True, timeout=120)


def place(name: str) -> Path:
    return Path(HOME.name) / name


@cache
def raw(seconds: int = 20, size: str = "320x180", rate: str = "25") -> tuple[str, ...]:
    """A picture that counts frames and, on the left, a tone that never stops."""
    picture = f"testsrc2=s={size}:r={rate}:d={seconds}"
    return ("-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", f"sine=440:r=48000:d={seconds}")


@cache
def film(
    name: str, *codecs: str, seconds: int = 20, size: str = "320x180", rate: str = "25"
) -> Path:
    """`name` says the container by its ending; `codecs` are ffmpeg's words for the output."""
    path = place(name)
    if not path.exists():
        run(*raw(seconds, size, rate), *(codecs or (*X264, "-g", "50", *AAC)), str(path))
    return path


@cache
def copied(name: str, source: Path, *words: str) -> Path:
    """The same in another container, or with other facts."""
    path = place(name)
    if not path.exists():
        run("-i", str(source), "-map", "0", "-c", "copy", *words, str(path))
    return path


@cache
def turned(name: str, source: Path) -> Path:
    """As a phone films that is held upright."""
    path = place(name)
    if not path.exists():
        run("-display_rotation", "90", "-i", str(source), "-map", "0", "-c", "copy", str(path))
    return path
