"""SVG files, which ffmpeg draws in the sandbox. They may come from anyone."""

import socket
from contextlib import suppress
from functools import partial

import pytest

from service.media.sandbox.launcher import Failed
from tests.cases import each_case

pytestmark = pytest.mark.usefixtures("library_folder")
ROOT = b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
RED = b'<rect width="100%" height="100%" fill="#c00000"/>'


def svg(inside: bytes = RED, size: bytes = b'width="40" height="20"') -> bytes:
    return ROOT + size + b">" + inside + b"</svg>"


@pytest.fixture
def draw(draw_medium):
    return partial(draw_medium, "picture", "svg")


@each_case(
    "head",
    [
        b"",
        b"\xef\xbb\xbf",
        b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- Made by hand -->\n',
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n',
    ],
)
def test_svg_files_are_recognized(probe, head):
    facts = probe(head + svg())
    assert (facts["kind"], facts["has_picture"]) == ("picture", True)
    assert facts["probed"]["container"] == "svg"


@each_case(
    "content",
    [
        b"<html><body>" + svg() + b"</body></html>",
        b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + svg(b"<text>&b;</text>"),
        b"<svgs/>",
        b"\x1f\x8b" + svg(),
    ],
)
def test_what_only_contains_one_is_none(probe, content):
    assert probe(content)["kind"] == "other"


def test_an_svg_is_drawn_in_every_size(draw):
    small, large = draw(svg()), draw(svg(), "i1600")
    assert (small.size, large.size) == ((220, 110), (1600, 800))
    red, green, blue = small.convert("RGB").getpixel((50, 50))
    assert red > 180
    assert max(green, blue) < 20


def test_a_transparent_one_stays_transparent(draw):
    picture = draw(svg(b'<rect width="10" height="20" fill="red"/>'))
    assert picture.mode == "RGBA"
    assert picture.getpixel((200, 50))[3] == 0


def test_scripts_and_links_to_files_and_hosts_do_nothing(draw, tmp_path):
    """The picture of a whole page is green if nothing that the SVG links to was drawn over it."""
    secret = tmp_path / "secret.svg"
    secret.write_bytes(svg())
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        links = [f"file://{secret}", str(secret), f"http://{host}:{port}/x.png"]
        images = "".join(f'<image href="{link}" width="40" height="20"/>' for link in links)
        uses = f'<use xlink:href="{secret}#a"/><script>document.documentElement.remove()</script>'
        style = f"<style>@import url(http://{host}:{port}/x.css);</style>"
        green = '<rect width="100%" height="100%" fill="#00c000"/>'
        picture = draw(svg(f"{style}{green}{images}{uses}".encode()))
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    red, green_part, _blue = picture.convert("RGB").getpixel((100, 50))
    assert green_part > 180
    assert red < 20


@pytest.mark.slow
@each_case(
    "inside",
    [
        b'<g id="a0"><rect width="9" height="9"/></g>'
        + b"".join(
            b'<g id="a%d">%b</g>' % (n, b'<use xlink:href="#a%d"/>' % (n - 1) * 12)
            for n in range(1, 12)
        ),
        b'<filter id="f"><feTurbulence baseFrequency="0.01" numOctaves="9999"/></filter>'
        b'<rect width="40" height="20" filter="url(#f)"/>' * 2000,
        b"<g>" * 300_000 + b"</g>" * 300_000,
    ],
)
def test_an_endless_one_ends(draw, inside):
    """Either a picture is drawn within the limits, or it is refused."""
    with suppress(Failed):
        assert draw(svg(inside)).size == (220, 110)


def test_a_huge_one_is_drawn_small(draw):
    assert draw(svg(size=b'width="99999999" height="99999999"')).size == (220, 220)


def test_a_damaged_one_is_refused(draw):
    with pytest.raises(Failed):
        draw(svg()[:100])
