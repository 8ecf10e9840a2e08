"""Which ffmpeg."""

import subprocess
from functools import cache
from pathlib import Path

import imageio_ffmpeg
from django.conf import settings


@cache
def ffmpeg() -> str:
    """The program; that which came with Ferry where the owner names no other."""
    return str(Path(settings.FFMPEG or imageio_ffmpeg.get_ffmpeg_exe()))


@cache
def can_map_tones() -> bool:
    """Whether it can show HDR on other screens; else such a picture is paler than it should be."""
    asked = [ffmpeg(), "-hide_banner", "-filters"]
    told = subprocess.run(asked, capture_output=True, check=False, text=True).stdout  # noqa: S603
    return all(f" {name} " in told for name in ("zscale", "tonemap"))
