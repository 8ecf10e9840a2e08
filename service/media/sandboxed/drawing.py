"""Scale pictures down to files for browsers, without where they were taken."""

import codecs
import io
import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from PIL import Image, ImageCms, ImageFile, PngImagePlugin, UnidentifiedImageError

from service.media.pictures.sizes import PictureSize

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF", "BMP", "JPEG2000", "ICO")
# Pictures are read whole into memory, some of them more than once: 3 or 4 bytes per pixel.
MOST_PIXELS = 120_000_000
QUALITY = 82
# Encodings of texts in pictures.
CODECS = (
    "ascii",
    "latin-1",
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "unicode_escape",
)
ORIENTATION = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS = (5, 6, 7, 8)
ROTATIONS = {90: 6, 180: 3, 270: 8}  # clockwise degrees to orientations
SRGB = ImageCms.createProfile("sRGB")

# `drawn` checks this itself, once it knows at which scale a JPEG is read.
Image.MAX_IMAGE_PIXELS = None
PngImagePlugin.MAX_TEXT_MEMORY = PngImagePlugin.MAX_TEXT_CHUNK
ImageFile.LOAD_TRUNCATED_IMAGES = False
# Odd files are normal, and no one reads what a child process prints.
warnings.simplefilter("ignore")


@dataclass(eq=False, repr=False)
class Unfit(Exception):  # noqa: N818  Errors are nouns here.
    """A media file that a child can't use."""

    reason: str
    is_limit: bool = False
    is_late: bool = False


def make_ready() -> None:
    """Load now what would otherwise be loaded on first use."""
    Image.init()
    for name in CODECS:
        codecs.lookup(name)


def open_image(medium: BinaryIO) -> Image.Image | None:
    """Read a picture's header; return None if it isn't a picture."""
    try:
        return Image.open(medium, formats=FORMATS)
    except UnidentifiedImageError:
        return None


def shown_size(image: Image.Image) -> tuple[int, int]:
    width, height = image.size
    return (height, width) if orientation_of(image) in SIDEWAYS else (width, height)


def orientation_of(image: Image.Image) -> int:
    with suppress(Exception):  # Damaged EXIF data doesn't spoil a picture.
        return int(image.getexif().get(ORIENTATION, 1))
    return 1


def draw(image: Image.Image, sizes: Sequence[PictureSize]) -> list[bytes]:
    """Draw the first frame in each of the sizes."""
    orientation = orientation_of(image)
    profile = image.info.get("icc_profile")
    target = stored_box(shown_size(image), sizes, orientation)
    # A JPEG is read at down to an eighth of its size if that is enough.
    image.draft(None, (target[0] * 2, target[1] * 2))
    if image.width * image.height > MOST_PIXELS:
        raise Unfit("it has too many pixels", is_limit=True)
    image.load()
    return encode(upright(plain(image, profile, target), orientation), sizes)


def encode(image: Image.Image, sizes: Sequence[PictureSize]) -> list[bytes]:
    """Encode an upright RGB or RGBA image in each of the sizes."""
    return [file_of(shrink(image, box_of(image.size, size))) for size in sizes]


def upright(image: Image.Image, orientation: int) -> Image.Image:
    return image.transpose(TURNS[orientation]) if orientation in TURNS else image


def stored_box(
    shown: tuple[int, int], sizes: Sequence[PictureSize], orientation: int
) -> tuple[int, int]:
    """Return the largest box, before the picture is turned; all have the same proportions."""
    width, height = max((box_of(shown, size) for size in sizes), key=math.prod)
    return (height, width) if orientation in SIDEWAYS else (width, height)


def box_of(shown: tuple[int, int], size: PictureSize) -> tuple[int, int]:
    scale = min(size.width / shown[0], size.height / shown[1])
    scale = scale if size.is_fixed_width else min(1, scale)
    return max(1, round(shown[0] * scale)), max(1, round(shown[1] * scale))


def shrink(image: Image.Image, box: tuple[int, int]) -> Image.Image:
    """Shrink by a whole factor first: several times faster, with no visible difference."""
    if image.size == box:
        return image
    return image.resize(box, Image.Resampling.LANCZOS, reducing_gap=2.0)


def plain(image: Image.Image, profile: bytes | None, target: tuple[int, int]) -> Image.Image:
    """Convert to sRGB, and keep any transparency."""
    image = in_eight_bits(image)
    has_alpha = image.has_transparency_data
    if has_alpha or image.mode in ("P", "1"):
        image = image.convert("RGBA" if has_alpha else "RGB")
    is_transparent = has_alpha and image.getchannel("A").getextrema()[0] != 255
    if image.width > target[0] and image.height > target[1]:
        # Before converting colors: fewer pixels take less time.
        image = shrink(image, target)
    return in_srgb(image, profile, "RGBA" if is_transparent else "RGB")


def in_eight_bits(image: Image.Image) -> Image.Image:
    """Convert 16-bit pixels, and numbers of any size, to 8-bit grays."""
    if image.mode.startswith("I;16"):
        image = image.convert("I")
    if image.mode in ("I", "F"):
        _low, high = cast("tuple[float, float]", image.getextrema())
        scale = 255 / (2**16 - 1 if high <= 2**16 else high) if high > 255 else 1.0
        image = image.point(lambda value: value * scale + 0).convert("L")
    return image


def in_srgb(image: Image.Image, profile: bytes | None, mode: str) -> Image.Image:
    changed = convert_to_srgb(image, profile) if profile else None
    if changed is None:
        return image.convert(mode)
    if mode == "RGBA":
        changed.putalpha(image.getchannel("A"))
    return changed


def convert_to_srgb(image: Image.Image, profile: bytes) -> Image.Image | None:
    """Convert to sRGB; return None if the profile is damaged or for another kind of picture."""
    colours = image.convert("RGB") if image.mode == "RGBA" else image
    with suppress(ImageCms.PyCMSError, ValueError, OSError):
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(colours, source, SRGB, outputMode="RGB")
    return None


def file_of(image: Image.Image, quality: int = QUALITY) -> bytes:
    """Encode as JPEG, or as WebP if transparent: JPEG can't be, and PNG is many times as large."""
    target = io.BytesIO()
    if image.mode == "RGBA":
        image.save(target, "WEBP", quality=quality, method=2)
    else:
        image.save(target, "JPEG", quality=quality)
    return target.getvalue()
