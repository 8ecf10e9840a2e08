"""Find the subtitles beside a film, and convert them for the browser."""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from urllib.parse import urlencode

from django.core.cache import cache
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from common import webvtt
from webui.connection.connection import Service
from webui.contents import encodings
from webui.contents.content_check import Expected, check, expected_file
from webui.library import folders
from webui.library.entries import Entry, split_name
from webui.library.snapshot import Snapshot
from webui.library.sorting import by_name
from webui.limiter import Limiter
from webui.player import subtitle_languages
from webui.player.subtitle_languages import LONGEST_LABEL, Sidecar
from webui.v1.errors import Failure

EXTENSIONS = frozenset({".srt", ".vtt", ".ass", ".ssa"})
FOLDERS = frozenset({"subs", "sub", "subtitles", "subtitle"})
MOST_SIDECARS = 60
MOST_BYTES = 5 * 2**20
KEPT_SECONDS = 7 * 24 * 3600

turns = Limiter(4, wait_seconds=20)


# Matching subtitles to a film


def of(service: Service, snapshot: Snapshot, video: Entry, now: datetime) -> list[Sidecar]:
    """Return a film's subtitles, with those in a Subs folder, which costs a call. If that call
    fails, leave them out."""
    entries = snapshot.contents.entries
    below: list[Entry] = []
    for folder in [each for each in entries if each.is_folder and plain(each.name) in FOLDERS][:1]:
        with suppress(Failure):
            below = folders.read(service, folder.id, now=now).snapshot.contents.entries
    return sidecars(snapshot.folder, video, entries, below)


def sidecars(
    folder: str, video: Entry, entries: Sequence[Entry], subs_entries: Iterable[Entry] = ()
) -> list[Sidecar]:
    """Return a film's subtitles by name: `Film.srt`, `Film.en.srt`, `Film.eng.forced.srt`; all
    subtitles if the folder has only one film. `Film 2.srt` belongs to `Film 2.mkv` if that exists,
    not to `Film.mkv`."""
    films = [each for each in entries if not each.is_folder and each.look == "film"]
    stems = [stem_of(each) for each in films]
    own, is_only = stem_of(video), len(films) == 1
    matches = []
    for entry in sorted([*entries, *subs_entries], key=by_name):
        if entry.is_folder or split_name(entry.name)[1].lower() not in EXTENSIONS:
            continue
        stem = stem_of(entry)
        belongs = max((each for each in stems if begins(stem, each)), key=len, default="")
        if belongs == own or (is_only and not belongs):
            words = stem[len(own) :] if belongs else stem
            matches.append(sidecar(folder, video, entry, words))
    return matches[:MOST_SIDECARS]


def stem_of(entry: Entry) -> str:
    return plain(split_name(entry.name)[0])


def plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def begins(stem: str, film: str) -> bool:
    return stem.startswith(film) and (
        len(stem) == len(film) or bool(subtitle_languages.BETWEEN.match(stem[len(film)]))
    )


def sidecar(folder: str, video: Entry, entry: Entry, words: str) -> Sidecar:
    code, label = subtitle_languages.code_and_label(words)
    url = reverse("subtitles", args=[folder, video.id, entry.id])
    query = urlencode({"mark": entry.version} | ({"lang": code} if code else {}))
    return Sidecar(entry.id, code, label or entry.name[:LONGEST_LABEL], f"{url}?{query}")


# Their words


def read(service: Service, folder: str, file: str, language: str, version: str) -> str:
    """Return a subtitle file as WebVTT, empty if it contains no subtitles. `version` is the file's,
    and keys the cache of all processes. Raises `TimeoutError` if too many files are being read."""
    name = "\0".join([service.key, file, language, version, get_language() or ""])
    key = f"subtitles-{hashlib.sha256(name.encode()).hexdigest()}"
    cached = cache.get(key) if version else None
    if isinstance(cached, str):
        return cached
    with turns.one():
        text = convert(fetch(service, folder, file), language)
    if version and text:
        with suppress(OSError):
            cache.set(key, text, KEPT_SECONDS)
    return text


def fetch(service: Service, folder: str, file: str) -> bytes:
    """Fetch a subtitle file. If it is in a Subs folder, this folder's listing lacks it."""
    entry = folders.listed_file(service, folder, file)
    source = service.v1.open(service.v1.file_link(file))
    check(service.v1, source, expected_file(entry) if entry else Expected("subtitles"))
    return service.v1.whole(source, MOST_BYTES)


def convert(content: bytes, language: str) -> str:
    encoding = encoding_of(content, language)
    if not encoding:
        return ""
    text, _byte_count = encodings.decode(content, encoding, is_last=True)
    return webvtt.webvtt(text, _("The subtitles end here, because there are too many."))


def encoding_of(content: bytes, language: str) -> str:
    """Return the encoding. A language in the file name outweighs a guess from a few words."""
    encoding = encodings.encoding_of(content, is_art=False)
    is_guess = encoding in encodings.GUESSED
    return encodings.USUAL if is_guess and language in subtitle_languages.WESTERN else encoding
