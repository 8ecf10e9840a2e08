"""Find ffmpeg, and list what it may open."""

import logging
import subprocess
from functools import cache
from pathlib import Path

import imageio_ffmpeg
from django.conf import settings

from service.media.sandbox import launcher
from service.media.sandbox.launcher import MIB, Failed, ResourceLimits

log = logging.getLogger("ferry.media")

# Where system programs have their libraries, and where encoders count CPUs.
LIBRARIES = ("/usr", "/lib", "/lib64", "/nix/store", "/etc/ld.so.cache")
PROCESSORS = "/sys/devices/system/cpu"
TRIAL = ResourceLimits(wall_seconds=60, cpu_seconds=10, output_bytes=MIB)


@cache
def ffmpeg() -> str:
    """Return the path of ffmpeg: the one from the settings, or the one that comes with Ferry."""
    return str(Path(settings.FFMPEG or imageio_ffmpeg.get_ffmpeg_exe()))


@cache
def can_map_tones() -> bool:
    """Return whether ffmpeg can map HDR to ordinary screens; without that, HDR looks too pale."""
    argv = [ffmpeg(), "-hide_banner", "-filters"]
    output = subprocess.run(argv, capture_output=True, check=False, text=True).stdout  # noqa: S603
    return all(f" {name} " in output for name in ("zscale", "tonemap"))


def opens(*reads: Path, keeps_in: Path | None = None) -> dict[str, str] | None:
    """Return the files ffmpeg may open to read media, or None if it can't run sealed."""
    if not runs_sealed():
        return None
    files = own_files() | {str(path): "read" for path in reads}
    return files | ({str(keeps_in): "keep"} if keeps_in else {})


@cache
def own_files() -> dict[str, str]:
    program = Path(ffmpeg())
    paths = (program, program.parent.parent / "lib", *LIBRARIES)
    return {PROCESSORS: "read"} | {str(path): "run" for path in paths}


@cache
def runs_sealed() -> bool:
    """Return whether ffmpeg runs sealed. The owner's own may have its libraries anywhere."""
    try:
        launcher.run([ffmpeg(), "-version"], limits=TRIAL, cwd=Path("/"), opens=own_files())
    except Failed as failed:
        log.warning("ffmpeg runs without a sandbox, because it fails in one: %s", failed.reason)
        return False
    return True
