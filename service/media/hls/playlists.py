"""Playlists, which players read first (RFC 8216 and its second edition).

They list the renditions, and all segments of each from the first answer on.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from service.media.hls.plans import Hidden, PlaybackPlan
from service.media.hls.renditions import AAC_CODECS, Rendition, RenditionKind

SOUNDS, TEXTS = "sound", "text"
# A quote or line break would end the attribute. A language is a BCP 47 tag or nothing.
UNQUOTABLE = re.compile(r'["\x00-\x1f\x7f-\x9f\u2028\u2029]')
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
UNKNOWN_LANGUAGES = frozenset({"und", "unk", "mis", "zxx", "mul"})
LONGEST_NAME = 100
# By the codes that browsers know: each language's name, and its codes in ISO 639-2, which
# containers use.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "en": ("English", "eng"),
    "de": ("Deutsch", "deu", "ger"),
    "fr": ("Français", "fra", "fre"),
    "es": ("Español", "spa"),
    "it": ("Italiano", "ita"),
    "pt": ("Português", "por"),
    "nl": ("Nederlands", "nld", "dut"),
    "ru": ("Русский", "rus"),
    "ja": ("日本語", "jpn"),
    "zh": ("中文", "zho", "chi"),
    "ko": ("한국어", "kor"),
    "ar": ("العربية", "ara"),
    "tr": ("Türkçe", "tur"),
    "pl": ("Polski", "pol"),
    "sv": ("Svenska", "swe"),
    "no": ("Norsk", "nor"),
    "da": ("Dansk", "dan"),
    "fi": ("Suomi", "fin"),
    "cs": ("Čeština", "ces", "cze"),
    "hu": ("Magyar", "hun"),
    "el": ("Ελληνικά", "ell", "gre"),
    "he": ("עברית", "heb"),
    "hi": ("हिन्दी", "hin"),
    "th": ("ไทย", "tha"),
    "uk": ("Українська", "ukr"),
    "ro": ("Română", "ron", "rum"),
    "vi": ("Tiếng Việt", "vie"),
    "id": ("Bahasa Indonesia", "ind"),
}


def master(plan: PlaybackPlan, burned: int | None = None) -> str:
    """List all other playlists. `burned`: the hidden subtitles that the pictures contain."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    sounds = plan.of_kind(RenditionKind.SOUND)
    pictures = plan.of_kind(RenditionKind.PICTURE) if burned is None else plan.pictures_with(burned)
    texts = plan.of_kind(RenditionKind.TEXT) if pictures else []
    has_group = bool(sounds) and (bool(pictures) or len(sounds) > 1)
    lines += [f"## Not shown: {name_of(each, order)}, {one_line(each.codec)}"
              for order, each in enumerate(plan.hidden, 1)]  # fmt: skip
    lines += _media("AUDIO", SOUNDS, sounds) if has_group else []
    lines += _media("SUBTITLES", TEXTS, texts)
    default = [each for each in sounds if each.is_default][:1]
    for each in pictures or default:
        stream_sounds = sounds if pictures else []
        lines += [_stream(each, stream_sounds, has_group=has_group, has_texts=bool(texts))]
        lines += [f"{each.name}/index.m3u8"]
    return "\n".join([*lines, ""])


def _media(kind: str, group: str, renditions: list[Rendition]) -> Iterator[str]:
    names = distinct([name_of(each, order) for order, each in enumerate(renditions, 1)])
    for rendition, name in zip(renditions, names, strict=True):
        facts = [f"TYPE={kind}", f'GROUP-ID="{group}"', f'NAME="{name}"']
        language = language_of(rendition.language)
        facts += [f'LANGUAGE="{language}"'] if language else []
        # Viewers turn subtitles on themselves.
        is_default = rendition.is_default and kind == "AUDIO"
        facts += [f"DEFAULT={'YES' if is_default else 'NO'}", "AUTOSELECT=YES"]
        facts += [f'CHANNELS="{rendition.channels}"'] if rendition.channels else []
        facts += [f'URI="{rendition.name}/index.m3u8"']
        yield f"#EXT-X-MEDIA:{','.join(facts)}"


def _stream(main: Rendition, sounds: list[Rendition], *, has_group: bool, has_texts: bool) -> str:
    sound_bits = max((each.bits for each in sounds), default=0)
    codecs = dict.fromkeys(each.codecs or AAC_CODECS for each in [main, *sounds])
    facts = [f"BANDWIDTH={main.bits + sound_bits}", f'CODECS="{",".join(codecs)}"']
    if main.kind == RenditionKind.PICTURE:
        facts += [f"RESOLUTION={main.width}x{main.height}"]
        facts += [f"FRAME-RATE={float(Fraction(main.rate)):.3f}"]
    facts += [f'AUDIO="{SOUNDS}"'] if has_group else []
    facts += [f'SUBTITLES="{TEXTS}"'] if has_texts else []
    return f"#EXT-X-STREAM-INF:{','.join(facts)}"


def media(rendition: Rendition) -> str:
    durations = rendition.durations
    lines = [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        f"#EXT-X-TARGETDURATION:{ceil(max(durations))}",
        "#EXT-X-MEDIA-SEQUENCE:0",
        "#EXT-X-PLAYLIST-TYPE:VOD",
    ]
    if rendition.kind != RenditionKind.TEXT:
        lines += ["#EXT-X-INDEPENDENT-SEGMENTS", '#EXT-X-MAP:URI="init.mp4"']
    for number, duration in enumerate(durations):
        lines += [f"#EXTINF:{duration:.6f},", f"{number}.{rendition.extension}"]
    return "\n".join([*lines, "#EXT-X-ENDLIST", ""])


# Words


def name_of(track: Rendition | Hidden, order: int) -> str:
    language = language_of(track.language)
    name, *_codes = LANGUAGES.get(language, (language,))
    return one_line(track.title) or name or str(order)


def distinct(names: list[str]) -> list[str]:
    """Make names unique, as they must be in a group."""
    unique_names: list[str] = []
    for name in names:
        number, unique = 2, name
        while unique in unique_names:
            unique, number = f"{name} ({number})", number + 1
        unique_names.append(unique)
    return unique_names


def one_line(text: str) -> str:
    return UNQUOTABLE.sub(" ", text).strip()[:LONGEST_NAME]


def language_of(tag: str) -> str:
    if not LANGUAGE.fullmatch(tag) or tag.lower() in UNKNOWN_LANGUAGES:
        return ""
    codes = (code for code, (_name, *longer) in LANGUAGES.items() if tag.lower() in longer)
    return next(codes, tag)
