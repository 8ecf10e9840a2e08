"""Read when and with which camera a picture was taken."""

import math
from contextlib import suppress
from datetime import datetime
from typing import Any, BinaryIO

import msgspec
from PIL import Image

from service.media.probe import Camera

# Numbers of EXIF fields.
MAKE, MODEL, SHOOTING = 0x010F, 0x0110, 0x8769
TAKEN, EXPOSURE, APERTURE, ISO, FOCAL_LENGTH, LENS = 0x9003, 0x829A, 0x829D, 0x8827, 0x920A, 0xA434
HEAD, HEIF_HEAD_BYTES = (b"Exif\0\0II*\0", b"Exif\0\0MM\0*"), 2**20
MOST_EXIF_BYTES = 2**16
LONGEST_WORDS = 100


def of_image(image: Image.Image) -> dict[str, Any]:
    """Return the columns of models.Media. Damaged EXIF data doesn't spoil a picture."""
    with suppress(Exception):
        return facts_of(image.getexif())
    return {"camera": {}}


def of_heif(medium: BinaryIO) -> dict[str, Any]:
    """Look for the data near the beginning, where phones write it."""
    medium.seek(0)
    head = medium.read(HEIF_HEAD_BYTES)
    starts = [start for mark in HEAD if (start := head.find(mark)) >= 0]
    exif = Image.Exif()
    with suppress(Exception):
        exif.load(head[min(starts) :][:MOST_EXIF_BYTES])
        return facts_of(exif)
    return {"camera": {}}


def facts_of(exif: Image.Exif) -> dict[str, Any]:
    shooting = exif.get_ifd(SHOOTING)
    values = {
        "model": model_of(words_of(exif.get(MAKE)), words_of(exif.get(MODEL))),
        "lens": words_of(shooting.get(LENS)),
        "exposure_seconds": number_of(shooting.get(EXPOSURE)),
        "aperture": number_of(shooting.get(APERTURE)),
        "iso": number_of(shooting.get(ISO)),
        "focal_length_mm": number_of(shooting.get(FOCAL_LENGTH)),
    }
    camera = {name: value for name, value in values.items() if is_valid(name, value)}
    facts: dict[str, Any] = {"camera": camera}
    with suppress(ValueError):
        facts["taken"] = time_of(words_of(shooting.get(TAKEN)))
    return facts


def is_valid(name: str, value: Any) -> bool:
    with suppress(msgspec.ValidationError):
        return bool(msgspec.convert({name: value}, Camera))
    return False


def time_of(words: str) -> str:
    """Return `2024-07-01 11:22:33` for `2024:07:01 11:22:33`, by the camera's clock."""
    day, _space, time = words.partition(" ")
    moment = datetime.fromisoformat(f"{day.replace(':', '-')} {time}")
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def number_of(value: Any) -> float | None:
    """Return a number, or None if it is infinite or not a number."""
    with suppress(ArithmeticError, TypeError, ValueError):
        number = float(value[0] if isinstance(value, tuple) else value)
        return number if math.isfinite(number) else None
    return None


def words_of(value: Any) -> str:
    printable = "".join(each for each in str(value or "") if each.isprintable())
    return printable.strip()[:LONGEST_WORDS].strip()


def model_of(make: str, model: str) -> str:
    """Return `Canon EOS R6` and `NIKON Z 6`: some models contain the make, and some don't."""
    first = make.split(" ", maxsplit=1)[0]
    is_contained = model.lower().startswith(first.lower())
    return model if is_contained or not model else f"{make} {model}"[:LONGEST_WORDS]
