"""Commands with which ffmpeg writes segments to standard output, starting at any segment.

Guarantee: whichever segment a run starts at, its frames lie on the same grid, so the segments of
two runs fit together. Pictures: each frame is the one that the source shows at the middle of its
time. The rate is constant, and key frames are only where segments begin. Sounds: a run starts some
frames earlier, since an encoder's first frames fade in, and drops what comes before the segment.
"""

from fractions import Fraction
from pathlib import Path

from service.media.formats import DECODERS, FORMATS, PROTOCOLS
from service.media.hls.renditions import AAC_BITS, AAC_RATE, SIZES, Rendition, RenditionKind
from service.media.sandbox.ffmpeg_access import can_map_tones, ffmpeg

QUIET = ["-nostdin", "-hide_banner", "-loglevel", "error"]
FRAGMENTS = "frag_keyframe+empty_moov+default_base_moof"
SAMPLES = 1024
PREROLL_FRAMES = 8
# The encoder's delay: its first frame precedes the beginning.
PRIMING_FRAMES = 1
RATE_FACTOR = "23"
TONES = (
    "zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,"
    "tonemap=tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=tv,format=yuv420p"
)
TAGS = "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"


def source(path: Path, at: Fraction) -> list[str]:
    seek = ["-ss", f"{float(at):.6f}"] if at > 0 else []
    whitelists = ["-protocol_whitelist", PROTOCOLS, "-format_whitelist", FORMATS]
    whitelists += ["-codec_whitelist", DECODERS]
    return [ffmpeg(), *QUIET, *whitelists, *seek, "-i", f"file:{path}"]


def init(rendition: Rendition) -> list[str]:
    """Return a command that encodes one empty frame: the init segment depends only on the shape."""
    start = [ffmpeg(), *QUIET, "-f", "lavfi", "-i"]
    if rendition.kind == RenditionKind.PICTURE:
        size = f"color=s={rendition.width}x{rendition.height}:r={rendition.rate}"
        look = ["-frames:v", "1", "-vf", f"format=yuv420p,setsar=1,{TAGS}"]
        return [*start, size, *look, *h264(rendition), *fragments(rendition)]
    silence = [f"anullsrc=r={AAC_RATE}:cl=stereo", "-frames:a", "1"]
    return [*start, *silence, *aac(), "-f", "mp4", "-movflags", FRAGMENTS, "pipe:1"]


# Pictures


def pictures(rendition: Rendition, path: Path, first: int) -> list[str]:
    grid, rate = rendition.grid, Fraction(rendition.rate)
    half = 1 / rate / 2
    wanted_at = grid.seconds_at(grid.start_of(first)) - half
    at = max(Fraction(0), wanted_at - Fraction(rendition.preroll))
    # Cut off frames read only to reach a key frame. At the beginning there are none.
    skipped = float(wanted_at - at)
    cut = [f"trim=start={skipped:.6f}"] if skipped > 0 else []
    shift = [*cut, f"setpts=PTS-({skipped:.6f})/TB"] if skipped else []
    total = (grid.count - 1) * grid.units + grid.units_of_last
    frame_count = str(total - grid.start_of(first))
    filters = [
        *(["bwdif=mode=send_frame:deint=interlaced"] if rendition.is_interlaced else []),
        *shift,
        f"fps={rendition.rate}:start_time=0:round=down",
        *shaping(rendition),
        *burning(rendition, skipped),
        "tpad=stop=-1:stop_mode=clone",
    ]
    graph = f"[0:{rendition.track}]{','.join(filters)}[out]"
    track_options = ["-filter_complex", graph, "-map", "[out]", "-frames:v", frame_count]
    return [*source(path, at), *track_options, *h264(rendition), *fragments(rendition)]


def burning(rendition: Rendition, skipped: float) -> list[str]:
    """Draw subtitles into pictures of the final size, which `skipped` so many seconds."""
    if rendition.burned is None:
        return []
    ratio = "decrease" if rendition.has_square_subtitles else "disable"
    size = (
        f"{rendition.width}:{rendition.height}:force_original_aspect_ratio={ratio}:flags=bilinear"
    )
    # ffmpeg repeats subtitles with every picture, and scales them each time.
    shift = f"trim=start={max(0, skipped - 1):.6f},setpts=PTS-({skipped:.6f})/TB"
    subtitles = f"[0:{rendition.burned}]{shift},scale={size},format=yuva420p"
    overlay = "overlay=(W-w)/2:(H-h)/2:eof_action=pass:format=yuv420"
    return [f"null[picture];{subtitles}[subtitles];[picture][subtitles]{overlay}", TAGS]


def shaping(rendition: Rendition) -> list[str]:
    size = f"scale={rendition.width}:{rendition.height}:flags=bicubic"
    if rendition.hdr and can_map_tones():
        return [size, TONES, "setsar=1", TAGS]
    matrix = f"in_color_matrix={rendition.matrix or 'auto'}:out_color_matrix=bt709:out_range=tv"
    return [f"{size}:{matrix}", "format=yuv420p", "setsar=1", TAGS]


def h264(rendition: Rendition) -> list[str]:
    units = str(rendition.grid.units)
    keys = ["-g", units, "-keyint_min", units, "-sc_threshold", "0"]
    return [*quality(rendition), *keys, "-x264-params", "scenecut=0:open-gop=0"]


def quality(rendition: Rendition) -> list[str]:
    most = next(str(size.most_bits) for size in SIZES if rendition.name.startswith(size.name))
    bound = ["-maxrate", most, "-bufsize", most, "-profile:v", "high", "-level:v", rendition.level]
    return ["-c:v", "libx264", "-preset", "veryfast", "-crf", RATE_FACTOR, *bound]


def fragments(rendition: Rendition) -> list[str]:
    # A multiple of the rate's numerator, so that every picture's time is a whole number.
    scale = Fraction(rendition.rate).numerator
    scale *= -(-10_000 // scale)
    return ["-video_track_timescale", str(scale), "-f", "mp4", "-movflags", FRAGMENTS, "pipe:1"]


# Sounds


def sounds(rendition: Rendition, path: Path, first: int) -> list[str]:
    grid = rendition.grid
    frame = max(0, grid.start_of(first) - PREROLL_FRAMES)
    total = (grid.count - 1) * grid.units + grid.units_of_last
    filters = [
        f"aresample={AAC_RATE}:async=1:first_pts=0",
        "apad",
        f"atrim=end_sample={(total - frame) * SAMPLES}",
    ]
    track_options = ["-map", f"0:{rendition.track}", "-vn", "-sn", "-dn", "-af", ",".join(filters)]
    at = Fraction(frame * SAMPLES, AAC_RATE)
    return [*source(path, at), *track_options, *aac(), "-f", "adts", "pipe:1"]


def frames_to_drop(rendition: Rendition, first: int) -> int:
    return PRIMING_FRAMES + min(PREROLL_FRAMES, rendition.grid.start_of(first))


def aac() -> list[str]:
    return ["-c:a", "aac", "-ac", "2", "-ar", str(AAC_RATE), "-b:a", str(AAC_BITS)]
