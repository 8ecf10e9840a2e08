"""Guess what a file is by its name, until it has been probed."""

from service.models import Media

SUFFIXES = {
    Media.Kind.PICTURE: "avif bmp gif heic heif ico jfif jp2 jpe jpeg jpg png tif tiff webp",
    Media.Kind.VIDEO: "3gp asf avi divx flv m2ts m4v mkv mov mp4 mpeg mpg mts ogv ts vob webm wmv",
    Media.Kind.AUDIO: "aac ac3 aif aiff alac ape flac m4a m4b mka mp3 oga ogg opus wav wma",
}
KIND_OF_SUFFIX = {suffix: kind for kind, words in SUFFIXES.items() for suffix in words.split()}


def kind_of(name: str) -> Media.Kind | None:
    _stem, dot, suffix = name.rpartition(".")
    return KIND_OF_SUFFIX.get(suffix.lower()) if dot else None
