"""The sizes of pictures that Ferry makes of media."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PictureSize:
    """A box to fit a picture into, in proportion. Only a fixed width enlarges a picture."""

    name: str  # of the file, and in links
    width: int
    height: int
    is_fixed_width: bool = False


# No wider than v1 says, and no taller than a preview: a picture may be 1 by 65,535 pixels.
THUMBNAIL = PictureSize("t32", 32, 1600, is_fixed_width=True)
PRESENTATIONS = tuple(PictureSize(f"t{pixels}", pixels, pixels) for pixels in (48, 64, 220, 720))
BY_WIDTH = {str(size.width): size for size in PRESENTATIONS}
PREVIEW = PictureSize("i1600", 1600, 1600)
SIZES = {size.name: size for size in (THUMBNAIL, *PRESENTATIONS, PREVIEW)}
# Lists show these, so they are made before anyone asks.
AHEAD = (THUMBNAIL.name, "t220")
# Small pictures of a film at even intervals, in rows of one large picture.
FILMSTRIP, FRAMES, FRAMES_IN_ROW = "filmstrip", 100, 10
FRAME = PictureSize("frame", 160, 90)
