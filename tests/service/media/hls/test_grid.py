"""Where segments begin."""

from service.media.hls.grid import cuts
from tests.cases import each_case


@each_case(
    ("times", "end", "expected"),
    [
        ([0, 2, 4, 6, 8, 10, 12], 14, [0, 3, 6]),
        ([0, 5, 11, 17], 20, [0, 2, 3]),
        # Key frame 2 would be too far from the first: the one before begins the segment.
        ([0, 5.5, 12.5], 18, [0, 1, 2]),
        ([0, 6, 12], 12.3, [0, 1]),
        ([0], 3, [0]),
    ],
)
def test_copied_segments_last_about_six_seconds(times, end, expected):
    assert cuts(times, end) == expected


@each_case(
    ("times", "end"),
    [([], 10), ([0, 4, 4], 10), ([0, 4, 3], 10), ([0, 13], 20), ([0, 6], 19)],
)
def test_key_frames_that_are_no_places_to_cut_are_refused(times, end):
    assert cuts(times, end) is None
