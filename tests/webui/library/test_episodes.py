"""Finding the next episode of a series by the names that people give their files."""

from time import thread_time

from tests.cases import each_case
from webui.library.episodes import episode_of, is_next_episode, title_of

FOLLOWING = [
    ("Tide S01E01", "Tide S01E02"),
    ("Tide S01E02", "tide.s01e03.1080p"),
    ("Tide S01E02", "Tide S01E10"),
    ("Tide S01E10 The Last One", "Tide S02E01 The First One"),
    ("tide.s01e02.part.1.720p.WEB-DL", "tide.s01e03.part.2.720p.WEB-DL"),
    ("Tide S01E01E02", "Tide S01E03E04"),
    ("Tide - S1 E9", "Tide - S1 E10"),
    ("Tide 1x02 (1920x1080 x264)", "Tide 1x03 (1280x720 x265)"),
    ("Tide - Episode 3", "Tide - Episode 4"),
    ("Tide Ep. 3 - Ebb", "Tide Ep. 4 - Flood"),
    ("Gezeiten Staffel 1 Folge 9", "Gezeiten Staffel 2 Folge 1"),
    ("Episode 1", "Episode 2"),
    ("S01E01", "S01E02"),
    ("The Long Film Part 1", "The Long Film Part 2"),
    ("Long.Film.CD1.DVDRip", "Long.Film.CD2.DVDRip"),
    ("Der lange Film, Teil 1 (1984)", "Der lange Film, Teil 2 (1985)"),
    ("[Group] Name - 07 [ABCD]", "[Group] Name - 08 [0123]"),
    ("[Group] Name - 07v2 [1080p][ABCD1234]", "[Other] Name - 08 [1080p][0123ABCD]"),
    ("[Group][Name][07][1080p]", "[Group][Name][08][1080p]"),
    ("Name_-_099_(720p)_{x}", "Name_-_100_(720p)_{x}"),
    ("Tide01", "Tide02"),
    ("Tide 9.1080p.x264", "Tide 10.1080p.x264"),
    ("01", "02"),
    ("Тихий Дон S01E01", "тихий дон s01e02"),
    ("Über uns – Folge 1", "über UNS – Folge 2"),
]
UNRELATED = [
    ("Ocean's Eleven", "Ocean's Twelve"),
    ("Dune (1984)", "Dune (2021)"),
    ("Dune 1984", "Dune 1985"),
    ("Dune.1984.1080p.BluRay.x264", "Dune.1985.1080p.BluRay.x264"),
    ("Blade Runner", "Blade Runner 2049"),
    ("Casablanca", "Citizen Kane"),
    ("Apollo 13", "District 14"),
    ("Tide S01E02", "Ebb S01E03"),
    ("Tide S01E02", "Tide S01E02 720p"),
    ("Tide S01E03", "Tide S01E02"),
    ("Tide S02E01", "Tide S01E09"),
    ("Tide S01E02", "Tide Special"),
    ("Tide S01E02", "Tide 3"),
    ("Tide 2", "Tide 4"),
    ("The Long Film Part 1", "The Long Film Part 3"),
    ("Film 720p", "Film 1080p"),
    ("Film 1280x720", "Film 1920x1080"),
    ("Film x264", "Film x265"),
    ("Film [720p]", "Film [1080p]"),
    ("Deep 3 in the Sea", "Deep 4 in the Sea"),
    ("Wall-E", "Wall-E (2008)"),
    ("Se7en", "Se8en"),
    ("[Group][Name][07]", "[Group][Other][08]"),
    ("IMG_0012", "IMG_0013"),
    ("VID_20240105_101010", "VID_20240105_101011"),
    ("DSC00012", "DSC00013"),
    ("12 Angry Men", "13 Assassins"),
    ("(500) Days", "(501) Days"),
    ("", "1"),
    ("", ""),
]


@each_case(("stem", "after"), FOLLOWING)
def test_an_episode_follows_another_of_its_series(stem, after):
    assert is_next_episode(stem, after)
    assert not is_next_episode(after, stem)


@each_case(("stem", "after"), UNRELATED)
def test_an_unrelated_film_follows_none(stem, after):
    assert not is_next_episode(stem, after)


@each_case(
    ("stem", "number"),
    [
        ("Tide S01E04", 4),
        ("Tide 1x05", 5),
        ("Tide - Episode 0012", 12),
        ("tide.ep.7", 7),
        ("Tide E08", 8),
    ],
)
def test_episode_names_yield_their_number(stem, number):
    found = episode_of(stem)
    assert found is not None
    assert found.is_called_so
    assert found.number == number


@each_case("stem", ["The Long Film Part 2", "Name - 07", "03"])
def test_a_part_or_a_bare_number_is_not_called_an_episode(stem):
    found = episode_of(stem)
    assert found is not None
    assert not found.is_called_so


@each_case(
    ("stem", "title"),
    [
        ("Tide.S01E01.The.Boat.Arrives.1080p.WEB-DL.x264-GRP", "The Boat Arrives"),
        ("[Group] Tide - S01E07 - Ebb [1080p][ABCD]", "Ebb"),
        ("Tide S01E01E02 Two in One (720p)", "Two in One"),
        ("Tide S01E01-02 - Ebb", "Ebb"),
        ("Tide S01E04 10 Minutes", "10 Minutes"),
        ("Straße_S01E02_Große_Flut_repack", "Große Flut"),
        ("İzmir S01E02 Dalga", "dalga"),
        ("Tide - S1 E9", ""),
        ("Tide.S01E05.1080p.BluRay", ""),
        ("The Long Film Part 2", ""),
    ],
)
def test_the_title_of_an_episode_is_what_people_would_write(stem, title):
    assert title_of(stem) == title


def test_hostile_names_are_read_quickly():
    began = thread_time()
    for name in ("[", "(", "a.720p", " -.", "[x] ", ". ", "season 1 ", " ", "s1 ", "s1e", "720p"):
        episode_of(name * 10_000 + "!")
        title_of(f"s1e1{name * 10_000}!")
    assert thread_time() - began < 1
