"""Recognize episodes of a series by their file names."""

import re
from dataclasses import dataclass

GAP = r"[\s._\-\u2013\u2014#:,]*"
# Matches begin and end at word boundaries: "Deep 3" isn't "ep 3".
START, END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
SEASON = rf"(?:season|staffel){GAP}(?P<season>\d{{1,3}}){GAP}"
# The first pattern that matches counts, so that an episode's number takes precedence over a number
# in its title.
EPISODES = [
    re.compile(rf"{START}s(?P<season>\d{{1,3}}){GAP}e(?:p{GAP})?(?P<number>\d{{1,4}})"),
    re.compile(rf"{START}(?P<season>\d{{1,2}})x(?P<number>\d{{1,3}}){END}"),
    re.compile(rf"{START}(?:{SEASON})?(?:episode|folge|ep?){GAP}(?P<number>\d{{1,4}}){END}"),
]
PART = r"(?:part|pt|teil|vol|volume|chapter|kapitel|disc|cd)"
PARTS = [
    re.compile(rf"{START}{PART}{GAP}(?P<number>\d{{1,3}}){END}"),
    # A number at the end, once brackets and release tags are removed.
    re.compile(r"(?<!\d)(?P<number>\d{1,4})(?:v\d)?\]?$"),
]
TAG = (
    r"(?:\d{3,4}[pi]|4k|uhd|hdr|[xh][. ]?26[45]|hevc|avc|av1|xvid|divx|10bit|"
    r"web(?:[- ]?dl|[- ]?rip)?|blu-?ray|b[dr]rip|dvd(?:rip)?|hdtv|aac|ac3|dts|flac)"
)
TAIL = re.compile(
    r"(?:[\s._\-]*(?:\[(?!\d{1,3}(?:v\d)?\])[^\]]*\]|\([^)]*\)|\{[^}]*\}|"
    rf"(?<![a-z0-9]){TAG}))+$"
)
# Where a title ends: at a tag of its release, or at brackets.
RELEASE = re.compile(rf"[\[({{]|{START}(?:{TAG}|repack|remux){END}")
# More episodes in the same file.
MORE_EPISODES = re.compile(rf"(?:{GAP}e(?:p{GAP})?\d{{1,4}}{END}|-\d{{1,4}}{END})*")
BLANKS = re.compile(r"[\s._]+")
LEADING_BRACKET = re.compile(r"^\s*\[[^\]]*\](?=.*[^\W_])")
WORD = re.compile(r"[^\W_]+")
YEARS = range(1900, 2100)
# No file system allows longer names, and the patterns take quadratic time.
LONGEST_NAME = 255
# Cameras number their recordings.
CAMERAS = frozenset(["dji", "dsc", "dscf", "dscn", "gopr", "img", "mov", "mvi", "pxl", "vid"])


@dataclass(frozen=True)
class Episode:
    series: tuple[str, ...]  # the words before its number
    season: int
    number: int
    is_called_so: bool  # otherwise it is a part, or has only a number


def episode_of(stem: str) -> Episode | None:
    """Parse a name without its extension. A year isn't an episode number."""
    name = stem.casefold()[:LONGEST_NAME]
    for pattern in EPISODES:
        if match := pattern.search(name):
            season = int(match["season"] or 0)
            return Episode(_series(name, match), season, int(match["number"]), is_called_so=True)
    name = TAIL.sub("", name)
    for pattern in PARTS:
        match = pattern.search(name)
        if match and not (len(match["number"]) == 4 and int(match["number"]) in YEARS):
            series = _series(name, match)
            if not CAMERAS.intersection(series):
                return Episode(series, 0, int(match["number"]), is_called_so=False)
    return None


def title_of(stem: str) -> str:
    """Return what follows the number of an episode, as people write it; "" if nothing does."""
    name = stem[:LONGEST_NAME]
    # Unlike `casefold`, this keeps the length of a name, but for one letter.
    small = name.lower()
    name = name if len(small) == len(name) else small
    episode = next((match for each in EPISODES if (match := each.search(small))), None)
    if episode is None:
        return ""
    rest = MORE_EPISODES.match(small, episode.end())
    begin = rest.end() if rest else episode.end()
    release = RELEASE.search(small, begin)
    title = name[begin : release.start() if release else LONGEST_NAME]
    return BLANKS.sub(" ", title).strip(" -\u2013\u2014#:,")


def _series(name: str, match: re.Match[str]) -> tuple[str, ...]:
    """Return the words before the number, without the release group in leading brackets."""
    return tuple(WORD.findall(LEADING_BRACKET.sub("", name[: match.start()])))


def is_next_episode(stem: str, after: str) -> bool:
    """Return whether the film `after` continues the series of the film `stem`. Episodes may be
    missing between the two, but parts and bare numbers must be consecutive."""
    one, other = episode_of(stem), episode_of(after)
    if one is None or other is None or one.series != other.series:
        return False
    if one.is_called_so and other.is_called_so:
        return (one.season, one.number) < (other.season, other.number)
    return one.is_called_so == other.is_called_so and one.number + 1 == other.number
