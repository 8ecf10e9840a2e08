"""Convert HEIF pictures, such as HEIC of phones, which the drawing child can't read."""

from typing import BinaryIO

from service.media.content_folders import scratch_folder
from service.media.formats import FORMATS
from service.media.sandbox import launcher
from service.media.sandbox.ffmpeg_access import ffmpeg, opens
from service.media.sandbox.launcher import MIB
from service.media.sandbox.resource_limits import ResourceLimits

HEIF = "heif"
LIMITS = ResourceLimits(
    wall_seconds=90, cpu_seconds=30, memory_bytes=2048 * MIB, output_bytes=64 * MIB
)


def to_jpeg(medium: BinaryIO) -> bytes:
    """Convert a HEIF picture to a full-size JPEG.

    Only ffmpeg can join its HEVC tiles, and it takes no filter then, so it can't scale down.
    """
    medium.seek(0)
    argv = [ffmpeg(), "-nostdin", "-loglevel", "error", "-threads", "1"]
    argv += ["-format_whitelist", FORMATS, "-protocol_whitelist", "fd", "-f", "mov"]
    argv += ["-fd", "0", "-i", "fd:", "-frames:v", "1"]
    argv += ["-f", "image2pipe", "-c:v", "mjpeg", "-q:v", "3", "pipe:1"]
    return launcher.run(
        argv, limits=LIMITS, cwd=scratch_folder(), stdin=medium.fileno(), opens=opens()
    )
