"""Which versions run here, and which of them have holes that were known when Ferry was released."""

import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from itertools import product
from typing import NamedTuple

import httpx

from host.storage import release
from service.media.sandbox.ffmpeg_access import ffmpeg

ASK_SECONDS = 20
MOST_SAID_BYTES = 65_536
# Only processes in the sandbox load its libraries, and they are of another FFmpeg.
SAY_FFMPEG = "import av; print(av.ffmpeg_version_info)"


class Hole(NamedTuple):
    program: str
    fixed: tuple[str, ...]  # the first version of each line that has the fix, the newest line last
    name: str
    sentence: str


# Only holes that a file, a peer, or a request can reach through Ferry.
HOLES = (
    Hole("FFmpeg", ("8.1",), "CVE-2026-40962", "a film can overwrite its memory"),
    Hole("libtorrent", ("2.0.14", "2.1.1"), "issue 8692", "a peer can stop the torrent engine"),
)


@cache
def running() -> Mapping[str, str]:
    """Return the version of each program that people's files and peers reach."""
    return {
        "Ferry": release.version(),
        "Python": platform.python_version(),
        "FFmpeg": ffmpeg_version(),
        "PyAV": metadata.version("av"),
        "PyAV's FFmpeg": output_of(sys.executable, "-c", SAY_FFMPEG).strip(),
        "libtorrent": metadata.version("libtorrent"),
    }


def ffmpeg_version() -> str:
    """Return what ffmpeg says, such as 9.0.2, with what its builders appended."""
    match = re.match(r"ffmpeg version n?(\S+)", output_of(ffmpeg(), "-version"))
    return match[1] if match else ""


def output_of(*command: str) -> str:
    try:
        return subprocess.run(  # noqa: S603
            command, capture_output=True, check=True, text=True, timeout=ASK_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def known_holes(versions: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each version that has a hole of the table."""
    for hole, (program, version) in product(HOLES, versions.items()):
        # Distributions fix holes without a new number.
        if (
            program.endswith(hole.program)
            and not re.search(r"deb|ubuntu", version)
            and is_before(version, hole.fixed)
        ):
            newest = " or ".join(hole.fixed)
            yield f"{program} {version}: {hole.sentence} ({hole.name}). Fixed in {newest}."


def newest_release(url: str) -> str:
    """Return the version of the wheel that a list of files names, such as the sums of a release."""
    client = httpx.Client(timeout=ASK_SECONDS, trust_env=False, follow_redirects=True)
    with client, client.stream("GET", url) as answer:
        said = next(answer.iter_text(MOST_SAID_BYTES), "") if answer.is_success else ""
    names: list[str] = re.findall(r"ferry_server-(\d+(?:\.\d+)*)-py3", said)
    if not names:
        raise httpx.DecodingError(f"it answers {answer.status_code} without a ferry_server-….whl")
    return max(names, key=numbers_of)


def is_before(version: str, fixed: tuple[str, ...]) -> bool:
    """Return whether a version lacks the fix of its line. Builds without a number are unknown."""
    number = numbers_of(version)
    if not number:
        return False
    lines = [numbers_of(each) for each in fixed]
    same = [line for line in lines if line[: len(line) - 1] == number[: len(line) - 1]]
    return number < (same or lines)[-1]


def numbers_of(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
