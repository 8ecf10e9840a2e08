"""HEVC pictures, which ffmpeg joins before a child draws them."""

from functools import partial

import pytest

from service.media.sandbox.launcher import Failed
from tests.service.media.heif import heif

pytestmark = pytest.mark.usefixtures("library_folder")


@pytest.fixture
def draw(draw_medium):
    return partial(draw_medium, "picture", "heif")


def test_heif_files_are_recognized(probe):
    facts = probe(heif())
    assert (facts["kind"], facts["has_picture"]) == ("picture", True)
    assert facts["probed"]["container"] == "heif"


def test_one_picture_is_drawn(draw):
    assert draw(heif()).size == (220, 165)


def test_tiles_are_put_together(draw):
    assert draw(heif(2)).size == (220, 82)
    assert draw(heif(2), "i1600").size == (640, 240)


def test_truncated_files_are_refused(draw):
    with pytest.raises(Failed):
        draw(heif()[:900])
