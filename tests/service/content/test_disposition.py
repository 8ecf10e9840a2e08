from hypothesis import given
from hypothesis import strategies as st

from common.http.content_disposition import disposition
from common.http.content_types import PLAIN, UNKNOWN
from service.content.disposition import presentation
from tests.cases import each_case


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_name_is_more_than_a_name(name):
    value = disposition("attachment", name)
    value.encode("ascii")
    assert not set(value) & set("\r\n\x00\\")
    kind, plain, *true = value.split('"')
    assert (kind, len(true)) == ("attachment; filename=", 1)
    assert "/" not in plain
    assert true == [""] or true[0].startswith("; filename*=UTF-8''")


@each_case(
    ("name", "value"),
    [
        ("film.mkv", 'attachment; filename="film.mkv"'),
        ("a b; c=d.txt", 'attachment; filename="a b; c=d.txt"'),
        ("né.txt", "attachment; filename=\"n_.txt\"; filename*=UTF-8''n%C3%A9.txt"),
        ("100%.txt", "attachment; filename=\"100_.txt\"; filename*=UTF-8''100%25.txt"),
        ('a"b.txt', 'attachment; filename="a_b.txt"'),
        ("a\r\nSet-Cookie: x", 'attachment; filename="a__Set-Cookie_ x"'),
        ("../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'),
    ],
)
def test_names_are_sent_in_both_forms(name, value):
    assert disposition("attachment", name) == value


@each_case("name", ["a.html", "a.SVG", "a.xml", "a.xhtml", "a.js", "a.mht", "a", "a."])
def test_active_types_are_sent_as_bytes_to_save(name):
    shown = presentation(name, inline=False)
    assert shown.content_type == UNKNOWN
    assert shown.disposition.startswith("attachment")
    assert "sandbox" in shown.policy


@each_case("name", ["a.html", "a.svg", "a.xml", "a.json", "a.css"])
def test_active_types_are_shown_as_text_when_displayed(name):
    shown = presentation(name, inline=True)
    assert (shown.content_type, shown.disposition[:6]) == (PLAIN, "inline")
    assert "sandbox" in shown.policy


@each_case("name", ["a.exe", "a.swf", "a.mht", "a.zip", "a.unknown", "pdf.", "a"])
def test_unknown_types_are_never_shown(name):
    assert presentation(name, inline=True).disposition.startswith("attachment")


@each_case(
    ("name", "content_type"),
    [("a.JPG", "image/jpeg"), ("a.mp4", "video/mp4"), ("a.pdf", "application/pdf")],
)
def test_known_types_are_shown_when_displayed(name, content_type):
    shown = presentation(name, inline=True)
    assert (shown.content_type, shown.disposition[:6]) == (content_type, "inline")
    assert "sandbox" in shown.policy
    assert presentation(name, inline=False).disposition.startswith("attachment")
