"""H.264 as MPEG-TS and MP4 store it: with start codes, or with the length before each unit."""

from service.media.hls.formats import nal
from tests.cases import each_case

INSTANT, LATER = b"\x65key frame", b"\x41frame between"
PARAMETERS, PICTURE_PARAMETERS = b"\x67\x64\x00\x28rest", b"\x68rest"
CONFIGURED = b"\x01\x64\x00\x28\xff"


def coded(*units):
    return b"".join(b"\x00\x00\x00\x01" + unit for unit in units)


def measured(size, *units):
    return b"".join(len(unit).to_bytes(size, "big") + unit for unit in units)


@each_case(
    ("extradata", "length_bytes"),
    [(CONFIGURED, 4), (CONFIGURED[:4] + b"\xfd", 2), (CONFIGURED[:4], 0), (coded(PARAMETERS), 0)],
)
def test_the_configuration_tells_how_long_a_length_is(extradata, length_bytes):
    assert nal.length_bytes(extradata) == length_bytes


@each_case("size", [0, 1, 2, 4])
def test_a_frame_is_split_into_its_units(size):
    units = [LATER, INSTANT]
    data = measured(size, *units) if size else coded(*units)
    assert nal.units(data, size) == units
    assert nal.is_instant(data, size)
    assert not nal.is_instant(measured(size, LATER) if size else coded(LATER), size)


def test_empty_units_and_a_cut_length_are_no_units():
    assert nal.units(measured(4, b"", LATER) + b"\x00\x00", 4) == [LATER]
    assert nal.units(coded(b"", LATER), 0) == [LATER]


def test_start_codes_become_lengths():
    assert nal.with_lengths(coded(PARAMETERS, INSTANT)) == measured(4, PARAMETERS, INSTANT)


@each_case("extradata", [CONFIGURED, coded(PICTURE_PARAMETERS, PARAMETERS)])
def test_the_profile_is_read_from_either(extradata):
    assert nal.profile_of(extradata) == b"\x64\x00\x28"


def test_a_stream_that_tells_none_has_the_profile_that_every_player_knows():
    assert nal.profile_of(coded(PICTURE_PARAMETERS)) == b"\x42\xe0\x1e"
