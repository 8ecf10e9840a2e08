"""Draw SVG files as pictures.

An SVG may be a program in disguise: scripts, endless nesting, links to other files and hosts. Only
ffmpeg's librsvg reads it, in a process of its own without network and files, whose time and memory
are limited. It runs no scripts and opens nothing that an SVG links to.
"""

from typing import BinaryIO

from service.media.content_folders import scratch_folder
from service.media.pictures.sizes import PREVIEW
from service.media.sandbox import launcher
from service.media.sandbox.ffmpeg_access import ffmpeg, opens
from service.media.sandbox.launcher import MIB
from service.media.sandbox.resource_limits import ResourceLimits

SVG = "svg"
LIMITS = ResourceLimits(
    wall_seconds=60, cpu_seconds=10, memory_bytes=1024 * MIB, output_bytes=32 * MIB
)


def to_png(medium: BinaryIO) -> bytes:
    """Draw an SVG in the size of the largest picture."""
    medium.seek(0)
    size = str(PREVIEW.width)
    argv = [ffmpeg(), "-nostdin", "-loglevel", "error", "-threads", "1"]
    argv += ["-format_whitelist", "svg_pipe", "-protocol_whitelist", "fd", "-f", "svg_pipe"]
    argv += ["-width", size, "-height", size, "-fd", "0", "-i", "fd:", "-frames:v", "1"]
    argv += ["-f", "image2pipe", "-c:v", "png", "pipe:1"]
    return launcher.run(
        argv, limits=LIMITS, cwd=scratch_folder(), stdin=medium.fileno(), opens=opens()
    )
