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
    return (
        bool(container_of(probed) & COPIED_CONTAINERS)
        and is_plain_h264(track)
        and not track.is_interlaced
        and not track.rotation_degrees
    )


def is_plain_h264(track: MediaTrack) -> bool:
    return (
        track.codec == "h264"
        and track.pixel_format in PLAIN_PIXELS
        and track.profile in PLAIN_PROFILES
        and max(track.width, track.height) <= LARGEST_COPIED
    )


def is_sound_copied(probed: Probed, track: MediaTrack) -> bool:
    """Return whether to copy; MP3 only if all sounds are: players switch badly between codecs."""
    if not container_of(probed) & COPIED_SOUND_CONTAINERS:
        return False
    if track.codec == "mp3":
        return all(each.codec == "mp3" for each in probed.of_kind(TrackKind.AUDIO))
    return is_plain_aac(track)


def is_plain_aac(track: MediaTrack) -> bool:
    return track.codec == "aac" and track.profile in PLAIN_AAC
