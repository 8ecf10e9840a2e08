"""What a camera wrote into pictures: when and how they were taken, and never where."""

import io
import struct

from PIL import Image
from PIL.TiffImagePlugin import IFDRational as Ratio

from tests.cases import each_case
from tests.service.media.samples import picture

MAKE, MODEL, SHOOTING, PLACE = 0x010F, 0x0110, 0x8769, 0x8825
TAKEN, EXPOSURE, APERTURE, ISO, FOCAL, LENS = 0x9003, 0x829A, 0x829D, 0x8827, 0x920A, 0xA434
WHOLE = {
    TAKEN: "2024:07:01 11:22:33",
    EXPOSURE: Ratio(1, 250),
    APERTURE: Ratio(28, 10),
    ISO: 200,
    FOCAL: Ratio(35, 1),
    LENS: "RF24-105mm F4 L IS USM",
}


def exif_with(shooting: dict, make="Canon", model="Canon EOS R6") -> Image.Exif:
    exif = Image.Exif()
    exif[MAKE], exif[MODEL] = make, model
    exif.get_ifd(SHOOTING).update(shooting)
    exif.get_ifd(PLACE)[2] = (60.0, 23.0, 45.0)
    return exif


def probed(probe, shooting: dict, kind="JPEG", **about) -> dict:
    facts = probe(picture(kind=kind, exif=exif_with(shooting, **about)))
    return {name: facts[name] for name in ("taken", "camera") if facts.get(name)}


@each_case("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_pictures_say_when_and_how_they_were_taken(kind, probe):
    assert probed(probe, WHOLE, kind) == {
        "taken": "2024-07-01 11:22:33",
        "camera": {
            "model": "Canon EOS R6",
            "lens": "RF24-105mm F4 L IS USM",
            "exposure_seconds": 0.004,
            "aperture": 2.8,
            "iso": 200,
            "focal_length_mm": 35,
        },
    }


def test_a_phone_says_it_in_heif_too(probe):
    head = struct.pack(">I4s4sI4s", 20, b"ftyp", b"heic", 0, b"mif1")
    content = head + b"x" * 3000 + exif_with(WHOLE).tobytes() + b"x" * 3000
    facts = probe(content)
    assert facts["taken"] == "2024-07-01 11:22:33"
    assert facts["camera"]["model"] == "Canon EOS R6"
    assert "taken" not in probe(head + b"x" * 3000)


def test_a_picture_without_such_data_says_nothing(probe):
    facts = probe(picture())
    assert "taken" not in facts
    # So that it isn't read again.
    assert facts["camera"] == {}


@each_case(
    "make, model, whole",
    [
        ("NIKON CORPORATION", "NIKON Z 6", "NIKON Z 6"),
        ("FUJIFILM", "X-T4", "FUJIFILM X-T4"),
        ("", "Pixel 7", "Pixel 7"),
        ("\0\x1b[31mEvil\0", "X", "[31mEvil X"),
        ("m" * 500, "n" * 500, "m" * 100),
    ],
)
def test_the_name_of_a_camera_appears_once(make, model, whole, probe):
    assert probed(probe, {}, make=make, model=model)["camera"]["model"] == whole


@each_case(
    "shooting",
    [
        {TAKEN: "2024:13:45 99:99:99", EXPOSURE: Ratio(0, 0), APERTURE: Ratio(1, 0), ISO: 0},
        {TAKEN: "0000:00:00 00:00:00", EXPOSURE: Ratio(0, 250), LENS: "\0\0"},
        {FOCAL: Ratio(2**31, 1), APERTURE: Ratio(1, 2**31)},
        {TAKEN: "", ISO: "many", LENS: ""},
    ],
)
def test_nonsensical_values_are_left_out(shooting, probe):
    assert probed(probe, shooting, make="", model="") == {}


def test_damaged_data_spoils_no_picture(probe):
    whole = picture(exif=exif_with(WHOLE))
    at = whole.index(b"Exif")
    for place in range(at, at + len(exif_with(WHOLE).tobytes()), 3):
        torn = bytearray(whole)
        torn[place] ^= 0xFF
        assert probe(bytes(torn))["kind"] == "picture"
    assert Image.open(io.BytesIO(whole)).getexif().get_ifd(PLACE)
    assert "60" not in str(probe(whole)["camera"])
