"""What a media file consists of: its tracks, its chapters, and the camera it was taken with."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MOST_CHAPTERS = 200
Title = Annotated[str, Meta(max_length=200)]
Words = Annotated[str, Meta(max_length=100, pattern=r"^[^\x00-\x1f]+$")]
Measure = Annotated[float, Meta(ge=0.000_001, le=10_000_000)]


class TrackKind(StrEnum):
    VIDEO = "video"
    AUDIO = "audio"
    SUBTITLE = "subtitle"
    PICTURE = "picture"  # a cover


class MediaTrack(Struct, frozen=True, forbid_unknown_fields=True):
    index: int  # of the stream in its container
    kind: TrackKind
    codec: str  # as ffmpeg names it
    language: str = ""  # as the file says: "eng", "de"
    title: str = ""
    is_default: bool = False
    profile: str = ""
    # Video and pictures
    width: int = 0  # as stored, before the rotation
    height: int = 0
    rotation_degrees: int = 0  # clockwise, applied when shown: 0, 90, 180, 270
    is_interlaced: bool = False
    pixel_format: str = ""
    frames_per_second: int | float = 0  # JSON may store 25.0 as 25
    # Audio
    channels: int = 0
    sample_rate: int = 0
    # Subtitles
    is_text: bool = False


class Probed(Struct, frozen=True):
    """What is found once, and stored in `Media.probed`."""

    container: str  # as ffmpeg names it: "mov,mp4,m4a,3gp,3g2,mj2"
    duration_seconds: float  # 0 if unknown
    tracks: tuple[MediaTrack, ...]

    def of_kind(self, kind: TrackKind) -> list[MediaTrack]:
        return [track for track in self.tracks if track.kind == kind]


class Chapter(Struct):
    start: Annotated[float, Meta(ge=0, description="Seconds from the beginning")]
    title: Title


Chapters = Annotated[list[Chapter], Meta(max_length=MOST_CHAPTERS)]


def chapters_of(facts: dict[str, Any]) -> list[Chapter]:
    """Return the chapters that a child or the worker sent, or none if they have another form.

    A child taken over by a hostile file may send anything.
    """
    try:
        return msgspec.convert(facts.get("chapters"), Chapters)
    except msgspec.ValidationError:
        return []


class Camera(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a camera wrote into a picture, except for where it was."""

    model: Words | UnsetType = UNSET
    lens: Words | UnsetType = UNSET
    exposure_seconds: Measure | UnsetType = UNSET
    aperture: Measure | UnsetType = UNSET
    iso: Measure | UnsetType = UNSET
    focal_length_mm: Measure | UnsetType = UNSET
