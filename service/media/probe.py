"""What a medium is made of, as it was found once and is kept in `Media.probed`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class TrackKind(StrEnum):
    VIDEO = "video"
    AUDIO = "audio"
    SUBTITLE = "subtitle"
    PICTURE = "picture"  # a cover


@dataclass(frozen=True)
class Track:
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
    rotation_degrees: int = 0  # clockwise, to be applied when shown: 0, 90, 180, 270
    is_interlaced: bool = False
    pixel_format: str = ""
    frames_per_second: float = 0
    # Audio
    channels: int = 0
    sample_rate: int = 0
    # Subtitles
    is_text: bool = False


@dataclass(frozen=True)
class Probed:
    container: str  # as ffmpeg names it: "mov,mp4,m4a,3gp,3g2,mj2"
    duration_seconds: float  # 0 where nobody knows
    tracks: tuple[Track, ...]

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """Back from `Media.probed`."""
        tracks = (Track(**{**each, "kind": TrackKind(each["kind"])}) for each in kept["tracks"])
        return cls(kept["container"], kept["duration_seconds"], tuple(tracks))

    def kept(self) -> dict[str, Any]:
        """For `Media.probed`."""
        return {**asdict(self), "tracks": [asdict(track) for track in self.tracks]}

    def of_kind(self, kind: TrackKind) -> list[Track]:
        return [track for track in self.tracks if track.kind == kind]
