"""Rewriting the playlists of a foreign service before a player sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.cases import each_case
from tests.webui.media_host import MASTER, VARIANT
from webui.streams import playlists
from webui.streams.playlists import TargetKind, rewrite
from webui.v1.errors import Unreadable


def marked(reference, kind):
    return f"<{kind}:{reference}>"


def refusing(reference, _kind):
    raise Unreadable("refused_link")


def through(text, kind=TargetKind.PLAYLIST, address=marked):
    return rewrite(text.encode(), kind, address)


def test_each_url_of_a_master_playlist_is_relayed_by_the_site():
    assert through(MASTER).splitlines() == [
        "#EXTM3U",
        "#EXT-X-VERSION:6",
        (
            '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch, leise",LANGUAGE="de",'
            'URI="<v:audio/de.m3u8>"'
        ),
        (
            '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",'
            'URI="<v:https://media.example/subs/en.m3u8>"'
        ),
        '#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a"',
        "<v:low/index.m3u8?sig=abc>",
        '#EXT-X-STREAM-INF:BANDWIDTH=2400000,RESOLUTION=1280x720,AUDIO="a"',
        "<v:https://media.example/film/high.m3u8>",
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,URI="<v:frames.m3u8>"',
    ]


def test_each_url_of_a_variant_playlist_is_relayed_by_the_site():
    assert through(VARIANT, TargetKind.VARIANT).splitlines() == [
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:6",
        '#EXT-X-KEY:METHOD=AES-128,URI="<p:key.bin>",IV=0x00000000000000000000000000000001',
        '#EXT-X-MAP:URI="<p:init.mp4>",BYTERANGE="720@0"',
        "#EXTINF:6.0,",
        "<p:one.ts>",
        "#EXTINF:4.5,",
        "<p:/other/two.ts?sig=x%2Fy>",
        "#EXT-X-ENDLIST",
    ]


def test_a_playlist_without_variants_is_played_as_it_is():
    assert "<p:one.ts>" in through(VARIANT)


def test_a_mark_and_the_line_ends_of_windows_are_nothing_new():
    assert through("\ufeff" + VARIANT.replace("\n", "\r\n")) == through(VARIANT)


def test_unneeded_lines_are_left_out():
    text = through(
        "#EXTM3U\n# made by http://evil.example\n"
        '#EXT-X-DEFINE:NAME="a",VALUE="http://evil.example"\n'
        '#EXT-X-CONTENT-STEERING:SERVER-URI="http://evil.example"\n'
        '#EXT-X-DATERANGE:ID="x",X-ASSET-URI="http://evil.example"\n'
        '#EXT-X-PART:DURATION=1,URI="http://evil.example"\n'
        '#EXT-X-UNHEARD-OF:URI="http://evil.example"\n'
        '#EXT-X-KEY:METHOD=NONE,X-OTHER-URI="http://evil.example"\n'
    )
    assert text == "#EXTM3U\n#EXT-X-KEY:METHOD=NONE\n"


def test_a_refused_address_refuses_the_whole_playlist():
    with pytest.raises(Unreadable, match="refused_link"):
        through(VARIANT, address=refusing)


def test_a_variant_of_variants_is_refused():
    assert "<v:" in through(MASTER, TargetKind.PLAYLIST)
    with pytest.raises(Unreadable, match="nested_playlist"):
        through(MASTER, TargetKind.VARIANT)


@each_case(
    ("content", "reason"),
    [
        (b"", "bad_playlist"),
        (b"<!doctype html><title>Sign in</title>", "bad_playlist"),
        (b"#EXTM3U\n\xff\xfe", "bad_playlist"),
        (b"#EXTM3U\n" + b"a" * 9000, "bad_playlist"),
        (b"#EXTM3U\n" * 1_000_000, "too_large"),
        (b"#EXTM3U\n" + b"a.ts\n" * 99_000, "too_large"),
        (b"#EXTM3U\n" + b" " * playlists.MOST_BYTES, "too_large"),
    ],
)
def test_malformed_or_oversized_playlists_are_refused(content, reason):
    with pytest.raises(Unreadable, match=reason):
        rewrite(content, TargetKind.PLAYLIST, marked)


LINES = some.lists(
    some.one_of(
        some.sampled_from(MASTER.splitlines() + VARIANT.splitlines()),
        some.text(max_size=60),
        some.builds('#EXT-X-KEY:METHOD=AES-128,URI="{}"'.format, some.text(max_size=30)),
    ),
    max_size=30,
)


@pytest.mark.slow
@given(LINES)
def test_no_url_ever_passes_unchanged(lines):
    """Each line is an address of ours or a known tag; otherwise the playlist is refused."""
    seen = []

    def address(reference, _kind):
        seen.append(reference)
        return "ours"

    try:
        text = through("\n".join(["#EXTM3U", *lines]), address=address)
    except Unreadable:
        return
    for line in text.rstrip("\n").split("\n"):
        tag = line[1:].partition(":")[0]
        assert (
            line in ("ours", "#EXTM3U")
            or tag in playlists.PLAIN
            or 'URI="ours"' in line
            or (tag in playlists.WITH_ADDRESS and "URI" not in line)
        )


WORDS = some.text(some.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=12)
REFERENCES = some.one_of(
    some.sampled_from(["../../rest/user", "//evil.example/x", "javascript:alert(1)", "a.ts?b=c,d"]),
    WORDS.filter(lambda word: word and not word.startswith("#") and '"' not in word),
)
NAMES = some.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ-", min_size=1, max_size=8)
VALUES = some.one_of(
    some.integers(0, 10**9).map(str), WORDS.map(lambda word: '"' + word.replace('"', "") + '"')
)
ATTRIBUTES = some.dictionaries(NAMES.filter(lambda name: "URI" not in name), VALUES, max_size=4)
TAGS = some.sampled_from(sorted(playlists.WITH_ADDRESS))


@pytest.mark.slow
@given(some.lists(some.tuples(TAGS, ATTRIBUTES, REFERENCES, REFERENCES), max_size=8))
def test_each_url_is_rewritten_and_the_rest_stays(parts):
    """In a well-formed playlist, nothing is lost, moved, or doubled."""

    def written(way):
        lines = ["#EXTM3U"]
        for tag, attributes, key, segment in parts:
            pairs = [f"{name}={value}" for name, value in attributes.items()]
            pairs.insert(len(pairs) // 2, f'URI="{way(key)}"')
            lines += [f"#{tag}:{','.join(pairs)}", "#EXTINF:4,words", way(segment)]
        return "\n".join(lines) + "\n"

    seen = []

    def address(reference, _kind):
        seen.append(reference)
        return f"ours/{reference}"

    assert through(written(str), address=address) == written(lambda one: f"ours/{one}")
    assert seen == [one for part in parts for one in part[2:]]
