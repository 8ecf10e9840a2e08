"""When and how a picture was taken, on its page."""

import pytest

from tests.cases import each_case
from tests.people import page, words
from webui.library.entries import FILE, Entry
from webui.previews.pages.camera import camera_words
from webui.v1.own_records import Camera, convert

pytestmark = pytest.mark.django_db
WHOLE = {
    "model": "Canon EOS R6",
    "lens": "RF24-105mm F4",
    "exposure_seconds": 0.004,
    "aperture": 2.8,
    "iso": 200.0,
    "focal_length_mm": 35.0,
}


def shown(person, item):
    return person.client.get(f"/files/0/file-{item.id}/view/")


def test_a_picture_says_when_and_how_it_was_taken(gwen, storage):
    item = storage.file("a.jpg")
    item.facts |= {"camera": WHOLE, "taken": "2024-07-01 11:22:33"}
    assert words(shown(gwen, item), ".camera") == (
        "1 July 2024, 11:22 · Canon EOS R6 · RF24-105mm F4 · 35 mm · 1/250 s · f/2.8 · ISO 200"
    )


def test_in_german_there_is_a_comma(alice, storage):
    alice.user.language = "de"
    alice.user.save()
    item = storage.file("a.jpg")
    item.facts |= {"camera": {"aperture": 2.8}}
    assert "2,8" in words(shown(alice, item), ".camera")


def test_unknown_camera_data_is_not_mentioned(gwen, storage):
    for name, facts in (("a.jpg", {}), ("b.jpg", {"camera": {}}), ("c.txt", {"camera": WHOLE})):
        item = storage.file(name)
        item.facts |= facts
        assert not page(shown(gwen, item)).select(".camera")


def test_a_picture_is_shown_although_the_service_fails_to_say(gwen, storage):
    item = storage.file("a.jpg")
    storage.fails(f"/rest/file/{item.id}/camera", 500)
    answer = shown(gwen, item)
    assert answer.status_code == 200
    assert not page(answer).select(".camera")


def test_a_foreign_service_gets_no_request(gwen, foreign):
    item = foreign.file("a.jpg")
    gwen.client.get("/")
    shown(gwen, item)
    assert not [path for _method, path in foreign.calls if "camera" in path]


@each_case(
    "facts, said",
    [
        ({"exposure_seconds": 2.0}, "2 s"),
        ({"exposure_seconds": 0.5}, "0.5 s"),
        ({"exposure_seconds": 1 / 8000}, "1/8000 s"),
        ({"focal_length_mm": 6.765}, "6.76 mm"),
        ({"iso": 12800}, "ISO 12800"),
        ({"model": "<b>&"}, "<b>&"),
    ],
)
def test_settings_are_written_as_on_a_camera(facts, said):
    assert camera_words(Entry(FILE, "1", "a.jpg", 1, 1), convert(facts, Camera)) == said


@each_case(
    "facts",
    [
        *({"aperture": -1}, {"iso": "many"}, {"exposure_seconds": None}, {"model": 5}),
        *({"focal_length_mm": 1e400}, {"aperture": 1e-320}, {"exposure_seconds": True}),
    ],
)
def test_impossible_settings_are_not_mentioned(facts):
    assert convert(facts, Camera) is None
