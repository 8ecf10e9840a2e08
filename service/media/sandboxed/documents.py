"""Draw the first page of a PDF file with PDFium, which runs no scripts and opens no other files."""

from collections.abc import Sequence
from contextlib import closing
from typing import BinaryIO

import pypdfium2

from service.media.pictures.sizes import PictureSize
from service.media.sandboxed import drawing


def draw(medium: BinaryIO, sizes: Sequence[PictureSize]) -> list[bytes]:
    """Draw the page at the largest of the sizes, and shrink that for the others."""
    with closing(pypdfium2.PdfDocument(medium)) as document:
        page = document[0]
        width, height = page.get_size()
        scale = max(min(size.width / width, size.height / height) for size in sizes)
        image = page.render(scale=scale, may_draw_forms=False).to_pil()
    return drawing.encode(image.convert("RGB"), sizes)
