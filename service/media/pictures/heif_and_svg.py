"""Convert pictures that the drawing child can't read: HEIF, such as HEIC of phones, and SVG.

An SVG may be a program in disguise: scripts, endless nesting, links to other files and hosts. Only
ffmpeg's librsvg reads it, in a process of its own without network and files, whose time and memory
are limited. It runs no scripts and opens nothing that an SVG links to.
"""

from typing import BinaryIO

from service.media.content_folders import scratch_folder
from service.media.formats import DECODERS, FORMATS
from service.media.pictures.sizes import PREVIEW
from service.media.sandbox import launcher
from service.media.sandbox.ffmpeg_access import ffmpeg, opens
from service.media.sandbox.launcher import MIB, ResourceLimits

HEIF_LIMITS = ResourceLimits(wall_seconds=90, cpu_seconds=30, output_bytes=64 * MIB)
SVG_LIMITS = ResourceLimits(
    wall_seconds=60, cpu_seconds=10, memory_bytes=1024 * MIB, output_bytes=32 * MIB
)


def heif_to_jpeg(medium: BinaryIO) -> bytes:
    """Convert a HEIF picture to a full-size JPEG.

    Only ffmpeg can join its HEVC tiles, and it takes no filter then, so it can't scale down.
    """
    source = ["-format_whitelist", FORMATS, "-codec_whitelist", DECODERS, "-f", "mov"]
    return convert(medium, source, ["-c:v", "mjpeg", "-q:v", "3"], HEIF_LIMITS)


def svg_to_png(medium: BinaryIO) -> bytes:
    """Draw an SVG in the size of the largest picture."""
    size = str(PREVIEW.width)
    source = ["-format_whitelist", "svg_pipe", "-f", "svg_pipe", "-width", size, "-height", size]
    return convert(medium, source, ["-c:v", "png"], SVG_LIMITS)


def convert(
    medium: BinaryIO, source: list[str], target: list[str], limits: ResourceLimits
) -> bytes:
    medium.seek(0)
    argv = [ffmpeg(), "-nostdin", "-loglevel", "error", "-threads", "1"]
    argv += ["-protocol_whitelist", "fd", *source, "-fd", "0", "-i", "fd:", "-frames:v", "1"]
    argv += ["-f", "image2pipe", *target, "pipe:1"]
    return launcher.run(
        argv, limits=limits, cwd=scratch_folder(), stdin=medium.fileno(), opens=opens()
    )
