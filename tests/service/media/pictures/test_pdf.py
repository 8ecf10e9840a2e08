"""PDF files, whose first page the sandbox draws. They may come from anyone."""

import socket
from contextlib import suppress
from functools import partial

import pytest

from service.media.sandbox.launcher import Failed
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("library_folder")
RED = b"0.8 0 0 rg 0 0 9999999 9999999 re f"


def pdf(
    content: bytes = RED,
    *,
    box: bytes = b"0 0 200 100",
    page: bytes = b"",
    catalog: bytes = b"",
    more: tuple[bytes, ...] = (),
) -> bytes:
    """Return a PDF of one page; the objects of `more` are numbered from 5."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[" + box + b"]/Contents 4 0 R" + page + b">>",
        stream(content),
        *more,
    ]
    file, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    end = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(file))
    return file + table + end


def stream(content: bytes, facts: bytes = b"") -> bytes:
    return b"<</Length %d%b>>\nstream\n%b\nendstream" % (len(content), facts, content)


@pytest.fixture
def draw(draw_medium):
    return partial(draw_medium, "other", "")


def test_a_pdf_is_recognized_and_remains_a_document(probe):
    facts = probe(pdf())
    assert (facts["kind"], facts["has_picture"]) == ("other", True)


def test_the_first_page_is_drawn_in_every_size(draw):
    small, large = draw(pdf()), draw(pdf(), "i1600")
    assert (small.size, large.size) == ((220, 110), (1600, 800))
    red, green, blue = small.getpixel((50, 50))
    assert red > 180
    assert max(green, blue) < 20


@each_case(
    ("box", "size"),
    [
        (b"0 0 14400 14400", (220, 220)),
        (b"0 0 99999999 99999999", (220, 220)),
        (b"0 0 1 14400", (1, 220)),
        (b"0 0 10 10", (220, 220)),
    ],
)
def test_a_page_of_any_size_fits(draw, box, size):
    assert draw(pdf(box=box)).size == size


def test_a_turned_page_is_drawn_upright(draw):
    assert draw(pdf(page=b"/Rotate 90")).size == (110, 220)


def test_scripts_and_links_to_files_and_hosts_do_nothing(draw, tmp_path):
    """The page is green if nothing that the PDF links to was drawn over it."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"\xc0\x00\x00")
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        image = b"/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceRGB"
        links = [
            b"/F(%b)" % bytes(secret),
            b"/F<</FS/URL/F(http://%b:%d/)>>" % (host.encode(), port),
        ]
        images = tuple(stream(b"", image + link) for link in links)
        script = b"app.launchURL('http://%b:%d/');this.getField('a').value='b'" % (
            host.encode(), port,
        )  # fmt: skip
        content = b"0 0.8 0 rg 0 0 200 100 re f q 200 0 0 100 0 0 cm /A Do /B Do Q"
        resources = b"/Resources<</XObject<</A 5 0 R/B 6 0 R>>>>"
        run = b"/OpenAction<</S/JavaScript/JS(%b)>>" % script.replace(b"(", b"\\(").replace(
            b")", b"\\)"
        )
        picture = draw(pdf(content, page=resources, catalog=run, more=images))
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    red, green, _blue = picture.getpixel((100, 50))
    assert green > 180
    assert red < 20


@pytest.mark.slow
@each_case("levels", [3, 60])
def test_an_endless_one_ends(draw, levels):
    """Either the page is drawn within the limits, or it is refused."""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 200 100]/Resources<</XObject<</A %d 0 R>>>>"
    forms = tuple(
        stream(b"/A Do " * 12 + RED, form % (number + 1)) for number in range(5, 5 + levels)
    )
    last = stream(RED, form % 5)
    bomb = pdf(b"/A Do", page=b"/Resources<</XObject<</A 5 0 R>>>>", more=(*forms, last))
    with suppress(Failed):
        assert draw(bomb).size == (220, 110)


@each_case(
    "content",
    [
        pdf()[:100],
        b"%PDF-1.7\n",
        pdf().replace(b"/Kids[3 0 R]/Count 1", b"/Kids[]/Count 0     "),
    ],
)
def test_a_damaged_one_is_refused(draw, content):
    with pytest.raises(Failed):
        draw(content)
