"""Subtitles in the folder of a film."""

from itertools import count

import pytest
from django.core.cache import cache
from hypothesis import given
from hypothesis import strategies as some

from tests.cases import each_case
from tests.common.test_webvtt import LINE, PIECES, SAFE
from tests.people import SignedIn
from webui.library.entries import FILE, FOLDER, Entry
from webui.limiter import Limiter
from webui.player import subtitles
from webui.player.subtitles import sidecars

NUMBERS = count(1)
SRT = b"1\n00:00:01,000 --> 00:00:02,000\n%s\n"


def file(name):
    return Entry(FILE, str(next(NUMBERS)), name, 1, 0, "a" * 40)


def find_subtitles(video, *names, below=()):
    film = file(video)
    beside = sidecars("7", film, [film, *map(file, names)], [file(name) for name in below])
    return [(each.language, each.label) for each in beside]


class TestMatching:
    @each_case(
        ("name", "language", "label"),
        [
            ("Film.srt", "", "Film.srt"),
            ("Film.en.srt", "en", "English"),
            ("FILM.ENG.SRT", "en", "English"),
            ("Film.eng.forced.srt", "en", "English, forced"),
            ("Film.de.sdh.vtt", "de", "Deutsch, for the hard of hearing"),
            ("Film.German.ass", "de", "Deutsch"),
            ("Film.pt-BR.srt", "pt-br", "Português Brasileiro"),
            ("Film (zh).ssa", "zh", "中文"),
            ("Film_français.srt", "fr", "Français"),
            ("Film.director's cut.srt", "", "director's cut"),
            ("2_English.srt", "en", "English"),
        ],
    )
    def test_a_name_tells_the_language(self, name, language, label):
        assert find_subtitles("Film.mkv", name) == [(language, label)]

    @each_case("name", ["Film.txt", "Film.sub", "Film.srt.exe", "Film.mp4"])
    def test_files_that_are_not_subtitles_are_ignored(self, name):
        assert find_subtitles("Film.mkv", "Film.en.srt", name) == [("en", "English")]

    def test_the_subs_folder_counts(self):
        assert find_subtitles("Film.mkv", below=["3_German.srt", "Film.fr.srt"]) == [
            ("de", "Deutsch"),
            ("fr", "Français"),
        ]

    def test_each_of_several_films_has_its_own(self):
        films = [file("Film.mkv"), file("Film 2.mkv"), file("Film 20.mkv")]
        subs = [file("Film.en.srt"), file("Film 2.en.srt"), file("English.srt"), file("Filmed.srt")]
        for film, sub in zip(films, subs, strict=False):
            if film.name != "Film 20.mkv":
                assert [each.id for each in sidecars("7", film, films + subs)] == [sub.id]
        assert not sidecars("7", films[2], films + subs)

    def test_names_of_both_normal_forms_are_one(self):
        assert find_subtitles("Caf\u00e9.mkv", "Cafe\u0301.fr.srt", "Other.mkv") == [
            ("fr", "Français")
        ]

    def test_ten_thousand_are_not_all_shown(self):
        assert len(find_subtitles("Film.mkv", *[f"Film.{n}.srt" for n in range(1000)])) == 60

    def test_a_folder_is_not_a_subtitle(self):
        film = file("Film.mkv")
        folder = Entry(FOLDER, "9", "Film.en.srt", 1, 0)
        assert not sidecars("7", film, [film, folder])


@pytest.mark.django_db
class TestReading:
    def ask(self, person: SignedIn, sub, mark="", lang=""):
        query = {"mark": mark, "lang": lang}
        return person.client.get(f"/files/0/file-7/subtitles/{sub.id}.vtt", query)

    @each_case(
        ("encoding", "words"),
        [
            ("utf-8", "Où est le ferry ?"),
            ("utf-8-sig", "Où est le ferry ?"),
            ("utf-16", "Где паром?"),
            ("utf-16-le", "Where is the ferry? It left an hour ago."),
            ("utf-16-be", "Where is the ferry? It left an hour ago."),
            ("utf-32", "フェリーはどこ？"),
        ],
    )
    def test_any_encoding_is_read(self, gwen, storage, encoding, words):
        text = SRT.decode() % words
        answer = self.ask(gwen, storage.file("Film.fr.srt", text.encode(encoding)))
        assert answer["Content-Type"] == "text/vtt; charset=utf-8"
        assert words in answer.content.decode()

    @each_case(
        ("language", "encoding", "words"),
        [
            ("fr", "cp1252", "Où est passé le ferry ? Il est déjà parti, il y a une heure."),
            ("fr", "utf-8", "Où est passé le ferry ? Il est déjà parti, il y a une heure."),
            ("ru", "cp1251", "Где паром? Он ушёл час назад, и больше сегодня не будет."),
            ("ru", "koi8-r", "Где паром? Он ушёл час назад, и больше сегодня не будет."),
        ],
    )
    def test_the_language_helps_to_read_old_letters(self, gwen, storage, language, encoding, words):
        sub = storage.file("Film.srt", (SRT.decode() % words).encode(encoding))
        assert words in self.ask(gwen, sub, lang=language).content.decode()

    def test_a_foreign_services_are_read_as_well(self, gwen, foreign):
        answer = self.ask(gwen, foreign.file("Film.srt", SRT % b"Hello"))
        assert b"Hello" in answer.content

    def test_a_subtitle_is_requested_once_and_cached_by_content(self, gwen, storage):
        cache.clear()
        sub = storage.file("Film.srt", SRT % b"Hello")
        first = self.ask(gwen, sub, "abc")
        calls = len(storage.calls)
        assert self.ask(gwen, sub, "abc").content == first.content
        assert len(storage.calls) == calls
        assert "immutable" in first["Cache-Control"]
        sub.content = SRT % b"Good bye"
        assert b"Good bye" in self.ask(gwen, sub, "def").content

    def test_unmarked_responses_are_not_cached(self, gwen, storage):
        sub = storage.file("Film.srt", SRT % b"Hello")
        assert "immutable" not in self.ask(gwen, sub)["Cache-Control"]
        sub.content = SRT % b"Good bye"
        assert b"Good bye" in self.ask(gwen, sub).content

    def test_an_unreadable_subtitle_says_so(self, gwen, storage):
        answer = self.ask(gwen, storage.file("Film.srt", b"\x89PNG\x00\x01\x02\x03" * 20))
        assert answer.status_code == 422
        assert answer["Content-Type"].startswith("text/plain")

    def test_a_deleted_subtitle_is_not_found(self, gwen, storage):
        sub = storage.file("Film.srt", SRT % b"Hello")
        assert self.ask(gwen, sub).status_code == 200
        del storage.fake.items[sub.id]
        assert self.ask(gwen, sub).status_code == 404

    def test_no_more_than_a_few_at_once(self, gwen, storage, monkeypatch):
        sub = storage.file("Film.srt", SRT % b"Hello")
        # The real limiter allows four at once, and the fifth waits for 20 s.
        monkeypatch.setattr(subtitles, "turns", Limiter(1, wait_seconds=0))
        with subtitles.turns.one():
            assert self.ask(gwen, sub).status_code == 503
        assert self.ask(gwen, sub).status_code == 200


LETTERS = some.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "cp932", "utf-7"])


@given(PIECES, LETTERS, some.binary(max_size=6), some.sampled_from(["", "de", "ja"]))
def test_bytes_of_any_alphabet_become_words_or_none(text, letters, noise, language):
    """A wrong guess yields odd words, never markup."""
    content = f"00:00:01,000 --> 00:00:02,000\n{text}".encode(letters, "replace") + noise
    for each in (content, noise + content):
        converted = subtitles.convert(each, language)
        if not converted:
            continue
        head, *cues = converted.rstrip("\n").split("\n\n")
        assert head == "WEBVTT"
        assert all(LINE.fullmatch(cue.split("\n")[0]) for cue in cues)
        assert all(SAFE.fullmatch(line) for cue in cues for line in cue.split("\n")[1:])
