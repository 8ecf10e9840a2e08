"""What a media file consists of, found once and stored in `Media.probed`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self


class TrackKind(StrEnum):
    VIDEO = "video"
    AUDIO = "audio"
    SUBTITLE = "subtitle"
    PICTURE = "picture"  # a cover


# JSON may store 25.0 as 25.
LIKE: dict[object, type] = {float: int}


@dataclass(frozen=True)
class MediaTrack:
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
    frames_per_second: float = 0
    # Audio
    channels: int = 0
    sample_rate: int = 0
    # Subtitles
    is_text: bool = False

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Check and return a track from a child that a hostile file may have taken over.

        Raises ValueError, TypeError, KeyError.
        """
        track = cls(**{**document, "kind": TrackKind(document["kind"])})
        for each in fields(cls):
            if type(getattr(track, each.name)) not in (each.type, LIKE.get(each.type)):
                raise TypeError(each.name)
        return track


@dataclass(frozen=True)
class Probed:
    container: str  # as ffmpeg names it: "mov,mp4,m4a,3gp,3g2,mj2"
    duration_seconds: float  # 0 if unknown
    tracks: tuple[MediaTrack, ...]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Decode `Media.probed`. Raises as `MediaTrack.of`."""
        tracks = tuple(map(MediaTrack.of, document["tracks"]))
        return cls(str(document["container"]), float(document["duration_seconds"]), tracks)

    def to_dict(self) -> dict[str, Any]:
        """Encode for `Media.probed`."""
        return {**asdict(self), "tracks": [asdict(track) for track in self.tracks]}

    def of_kind(self, kind: TrackKind) -> list[MediaTrack]:
        return [track for track in self.tracks if track.kind == kind]
