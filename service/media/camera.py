"""What a camera wrote into a picture, except for where it was."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

Words = Annotated[str, Meta(max_length=100, pattern=r"^[^\x00-\x1f]+$")]
Measure = Annotated[float, Meta(ge=0.000_001, le=10_000_000)]


class Camera(Struct, kw_only=True, forbid_unknown_fields=True):
    """A camera and its settings, as far as the picture names them."""

    model: Words | UnsetType = UNSET
    lens: Words | UnsetType = UNSET
    exposure_seconds: Measure | UnsetType = UNSET
    aperture: Measure | UnsetType = UNSET
    iso: Measure | UnsetType = UNSET
    focal_length_mm: Measure | UnsetType = UNSET
