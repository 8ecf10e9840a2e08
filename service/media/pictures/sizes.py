"""The sizes of pictures made of a medium."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PictureSize:
    """Within `width` and `height`, in proportion, and never enlarged but for a fixed width."""

    name: str  # of its file and in links
    width: int
    height: int
    is_fixed_width: bool = False


# No wider than v1 says and no taller than a preview: a strip of 1 by 65,535 is one too.
THUMBNAIL = PictureSize("t32", 32, 1600, is_fixed_width=True)
PRESENTATIONS = tuple(PictureSize(f"t{pixels}", pixels, pixels) for pixels in (48, 64, 220, 720))
BY_WIDTH = {str(size.width): size for size in PRESENTATIONS}
PREVIEW = PictureSize("i1600", 1600, 1600)
SIZES = {size.name: size for size in (THUMBNAIL, *PRESENTATIONS, PREVIEW)}
# What lists show: made before anybody asks.
AHEAD = (THUMBNAIL.name, "t220")
