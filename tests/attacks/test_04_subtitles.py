"""Row 4: subtitles that are scripts, style sheets, bombs, or in unusual encodings."""

import time

import httpx
import pytest

from common.webvtt import Cue, markup_of, tag_emphasis
from service.media.sandboxed.captioner import write
from webui.player import subtitles

pytestmark = pytest.mark.django_db
CUE = "00:00:01,000 --> 00:00:02,000\n%s\n\n"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
VTT = f"""WEBVTT {SCRIPT}

STYLE
::cue {{ background-image: url("https://evil.example/seen.png"); content: "{SCRIPT}" }}

REGION
id:evil
url:https://evil.example/

NOTE {SCRIPT}

{SCRIPT}
00:01.000 --> 00:02.000 region:evil {SCRIPT}
Hello {SCRIPT}
"""
ASS = f"""[Script Info]
Title: {SCRIPT}
[Fonts]
fontname: evil.ttf
[Events]
Format: Start, End, Text
Dialogue: 0:00:01.00,0:00:02.00,Hello {{{SCRIPT}}}{SCRIPT}
"""


@pytest.fixture(params=["storage", "foreign"])
def anywhere(request):
    return request.getfixturevalue(request.param)


def ask(person, storage, content, name="Film.srt"):
    sub = storage.file(name, content)
    return person.client.get(f"/files/0/file-7/subtitles/{sub.id}.vtt")


@pytest.mark.parametrize("text", [CUE % f"Hello {SCRIPT}", VTT, ASS])
def test_only_words_are_left(gwen, anywhere, text):
    answer = ask(gwen, anywhere, text.encode())
    found = answer.content.decode()
    assert "Hello" in found
    for evil in ("<script", "<img", "onerror", "evil", "STYLE", "REGION", "url("):
        assert evil not in found


def test_subtitle_responses_forbid_scripts(gwen, anywhere):
    answer = ask(gwen, anywhere, (CUE % SCRIPT).encode(), "evil.html.srt")
    assert answer["Content-Type"] == "text/vtt; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_utf_7_stays_the_letters_that_it_is(gwen, anywhere):
    """Decoded as UTF-7, the text would be a script."""
    found = ask(gwen, anywhere, (CUE % "Hello +ADw-script+AD4-alert(1)").encode()).content
    assert b"+ADw-script+AD4-" in found
    assert b"<script" not in found


def test_utf_16_hides_no_script(gwen, anywhere):
    found = ask(gwen, anywhere, (CUE % f"Hello {SCRIPT}").encode("utf-16")).content
    assert b"Hello" in found
    assert b"<script" not in found


def test_a_gigabyte_is_refused_before_it_is_read(gwen, foreign):
    given = []

    def endless():
        for _piece in range(16_384):
            given.append(1)
            yield b"x" * 65_536

    foreign.says("/rest/file/9", httpx.Response(200, content=endless()))
    answer = gwen.client.get("/files/0/file-7/subtitles/9.vtt")
    assert answer.status_code == 422
    assert 0 < len(given) * 65_536 < 2 * subtitles.MOST_BYTES


@pytest.mark.slow
def test_a_million_cues_are_cut_with_a_notice(gwen, anywhere):
    content = ("0:1:1.1 --> 0:1:2.1\na\n\n" * 1_000_000).encode()[: subtitles.MOST_BYTES]
    start = time.process_time()
    answer = ask(gwen, anywhere, content)
    assert time.process_time() - start < 5
    assert answer.content.count(b"-->") == 20_001
    assert b"The subtitles end here" in answer.content


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"<" * 5_000_000,
        b"{\\" * 2_500_000,
        b"00:00:01,000 --> " * 290_000,
        b"00:00:01,000 --> 00:00:02,000\n" + b"<b " * 1_600_000,
        b"00:00:01,000 --> 00:00:02,000\n" + b"<b>" * 1_600_000,
        b"[Script Info]\n[Events]\n" + b"Dialogue: " + b"," * 4_900_000,
        b"[Script Info]\n[Events]\nFormat: " + b"a," * 2_400_000 + b"\nDialogue: 1,2,3",
        b"\n" * 5_000_000,
        b"\xff\xfe" + b"<\x00" * 2_400_000,
    ],
)
def test_no_shape_of_five_megabytes_keeps_a_thread_busy(gwen, storage, content):
    start = time.process_time()
    assert ask(gwen, storage, content).status_code in (200, 422)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("mark", ["", r"{\i1}", r"{\p0\i1}"])
def test_the_tracks_of_a_film_are_words_too(mark):
    text = markup_of(tag_emphasis(f"{mark}Hello {SCRIPT}\\N--> STYLE"))
    assert "Hello" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "-->" not in write([Cue(1000, 2000, text)]).partition("\n\n")[2].partition("\n")[2]
