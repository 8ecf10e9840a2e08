import tempfile

import pytest
from PIL import Image

from service.media.pictures import pictures
from service.models import Media
from tests.service.media.samples import shown


@pytest.fixture
def draw_medium(children):
    """Return a function that draws a medium of this kind and container, in one size."""

    def draw(kind: str, container: str, content: bytes, name: str = "t220") -> Image.Image:
        media = Media(sha1="a" * 40, size_bytes=len(content), kind=kind)
        media.probed = {"container": container}
        with tempfile.TemporaryFile() as medium:
            medium.write(content)
            medium.flush()
            return shown(pictures.draw(children, media, medium, [name])[0])

    return draw
