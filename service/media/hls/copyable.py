"""Decide which tracks every phone plays as they are, so that they are copied."""

from service.media.probe import MediaTrack, Probed, TrackKind

COPIED_CONTAINERS = frozenset({"mov", "matroska", "mpegts", "flv"})
COPIED_SOUND_CONTAINERS = COPIED_CONTAINERS | {"mp3", "aac"}
PLAIN_PIXELS = frozenset({"yuv420p", "yuvj420p"})
PLAIN_PROFILES = frozenset({"Baseline", "Constrained Baseline", "Main", "High"})
PLAIN_AAC = frozenset({"LC", "HE-AAC", "HE-AACv2"})
LARGEST_COPIED = 4096


def container_of(probed: Probed) -> frozenset[str]:
    return frozenset(probed.container.split(","))


def is_picture_copied(probed: Probed, track: MediaTrack) -> bool:
    """Return whether every phone plays the track as it is. Not every phone rotates segments."""
    return is_picture_kept(probed, track) and not track.rotation_degrees


def is_picture_kept(probed: Probed, track: MediaTrack) -> bool:
    """Return whether a whole film keeps the track as it is."""
    return (
        bool(container_of(probed) & COPIED_CONTAINERS)
        and track.codec == "h264"
        and not track.is_interlaced
        and track.pixel_format in PLAIN_PIXELS
        and track.profile in PLAIN_PROFILES
        and max(track.width, track.height) <= LARGEST_COPIED
    )


def is_sound_copied(probed: Probed, track: MediaTrack) -> bool:
    """Return whether to copy; MP3 only if all sounds are: players switch badly between codecs."""
    codecs = {each.codec for each in probed.of_kind(TrackKind.AUDIO)}
    return is_sound_kept(probed, track) and (track.codec != "mp3" or codecs == {"mp3"})


def is_sound_kept(probed: Probed, track: MediaTrack) -> bool:
    """Return whether a whole film keeps the track as it is."""
    is_plain = track.codec == "mp3" or (track.codec == "aac" and track.profile in PLAIN_AAC)
    return is_plain and bool(container_of(probed) & COPIED_SOUND_CONTAINERS)
