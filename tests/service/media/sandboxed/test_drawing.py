import pytest
from PIL import Image, ImageCms

from service.media.pictures.sizes import SIZES
from service.media.sandbox.launcher import Failed
from tests.cases import each_case
from tests.service.media.samples import picture, saved, shown

ORIENTATION = 0x0112
SIDEWAYS = 6


def with_exif(**facts) -> bytes:
    exif = Image.Exif()
    exif[ORIENTATION] = facts.get("orientation", 1)
    exif.get_ifd(0x8825)[1] = "N"  # GPS
    exif[0x010F] = "a camera"
    return picture(exif=exif)


def is_red(pixel) -> bool:
    red, green, blue = pixel[:3]
    return red > 150 and green < 60 and blue < 60


@each_case("kind", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF", "BMP", "JPEG2000"])
def test_pictures_of_every_kind_are_drawn(kind, probe, draw):
    content = picture(kind=kind)
    facts = probe(content)
    assert (facts["kind"], facts["width"], facts["height"]) == ("picture", 400, 300)
    (small,) = draw(content)
    image = shown(small)
    assert (image.format, image.size) == ("JPEG", (220, 165))
    assert is_red(image.getpixel((20, 20)))
    assert not is_red(image.getpixel((200, 150)))


def test_every_size_fits_its_box(draw):
    content = picture(3200, 2400)
    images = [shown(each) for each in draw(content, *SIZES)]
    assert [image.size for image in images] == [
        (32, 24),
        (48, 36),
        (64, 48),
        (220, 165),
        (720, 540),
        (1600, 1200),
    ]


def test_only_the_thumbnail_is_ever_enlarged(draw):
    thumbnail, small, preview = map(shown, draw(picture(16, 12), "t32", "t220", "i1600"))
    assert thumbnail.size == (32, 24)
    assert small.size == preview.size == (16, 12)


def test_a_strip_keeps_its_proportions(draw):
    thumbnail, small = map(shown, draw(picture(20, 2000), "t32", "t220"))
    assert thumbnail.size == (16, 1600)
    assert small.size == (2, 220)
    (flat,) = map(shown, draw(picture(4000, 3), "t32"))
    assert flat.size == (32, 1)


def test_the_orientation_of_the_camera_is_applied(probe, draw):
    content = with_exif(orientation=SIDEWAYS)
    assert (probe(content)["width"], probe(content)["height"]) == (300, 400)
    (small,) = draw(content)
    image = shown(small)
    assert image.size == (165, 220)
    # Turned clockwise, the upper left becomes the upper right.
    assert is_red(image.getpixel((150, 20)))
    assert not is_red(image.getpixel((20, 20)))


def test_nothing_tells_where_it_was_taken(draw):
    content = with_exif()
    assert shown(content).getexif().get_ifd(0x8825)
    (small,) = draw(content)
    assert not dict(shown(small).getexif())
    assert b"Exif" not in small
    assert b"camera" not in small


def test_transparent_pictures_stay_transparent(draw):
    (small,) = draw(picture(mode="RGBA", kind="PNG"))
    image = shown(small)
    assert image.format == "WEBP"
    assert image.getchannel("A").getextrema() == (100, 100)


def test_an_alpha_that_hides_nothing_is_left_out(draw):
    image = Image.new("RGBA", (300, 300), (200, 0, 0, 255))
    (small,) = draw(saved(image, "PNG"))
    assert shown(small).format == "JPEG"


@each_case("mode", ["1", "L", "LA", "P", "CMYK", "I;16", "F"])
def test_pictures_of_every_colour_depth_are_drawn(mode, draw):
    grey = Image.linear_gradient("L").resize((300, 300))
    if mode == "I;16":
        image = Image.frombytes("I;16", (256, 256), bytes(2 * 256 * 128) + b"\xff" * 2 * 256 * 128)
    else:
        image = grey.convert(mode)
    (small,) = draw(saved(image, "TIFF"))
    bands = shown(small).convert("L").resize((1, 11), Image.Resampling.BOX)
    above, below = (bands.getpixel((0, at)) for at in (0, 10))
    assert above < 60
    assert below > 190


def test_colours_are_those_of_the_profile(draw):
    """An sRGB profile changes nothing."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    green = Image.new("RGB", (300, 300), (10, 200, 10))
    (small,) = draw(saved(green, "JPEG", icc_profile=profile))
    assert shown(small).info.get("icc_profile") is None
    assert abs(shown(small).getpixel((9, 9))[1] - 200) < 5


def test_colours_of_another_profile_are_changed(draw):
    """The profile is sRGB with red and green swapped."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile = bytes(profile).replace(b"rXYZ", b"tmp.", 1).replace(b"gXYZ", b"rXYZ", 1)
    profile = profile.replace(b"tmp.", b"gXYZ", 1)
    green = Image.new("RGB", (300, 300), (10, 200, 10))
    (small,) = draw(saved(green, "JPEG", icc_profile=profile))
    red, green_part, _blue = shown(small).getpixel((9, 9))
    assert red > 150 > green_part


def test_a_damaged_profile_spoils_nothing(draw):
    (small,) = draw(picture(icc_profile=b"none" * 100))
    assert is_red(shown(small).getpixel((20, 20)))


def test_only_the_first_frame_is_shown(draw):
    others = [Image.new("RGB", (300, 300), (0, 0, 200))] * 3
    first = Image.new("RGB", (300, 300), (200, 0, 0))
    for kind in ("GIF", "PNG", "WEBP"):
        content = saved(first, kind, save_all=True, append_images=others, duration=100)
        assert is_red(shown(draw(content)[0]).getpixel((100, 100)))


@pytest.mark.slow
@each_case("kind", ["JPEG", "PNG", "WEBP", "AVIF", "TIFF"])
def test_truncated_files_are_refused(kind, draw):
    content = picture(2000, 1500, kind=kind)
    assert draw(content)
    with pytest.raises(Failed) as failed:
        draw(content[: len(content) // 2])
    assert not failed.value.is_limit
