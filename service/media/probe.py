"""What a media file consists of, found once and stored in `Media.probed`."""

from enum import StrEnum

from msgspec import Struct


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
    container: str  # as ffmpeg names it: "mov,mp4,m4a,3gp,3g2,mj2"
    duration_seconds: float  # 0 if unknown
    tracks: tuple[MediaTrack, ...]

    def of_kind(self, kind: TrackKind) -> list[MediaTrack]:
        return [track for track in self.tracks if track.kind == kind]
