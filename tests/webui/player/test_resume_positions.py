"""Resume positions: where they are shown, and when they change or end."""

import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from webui.deleting.held_deletes import HELD, delete_due
from webui.files.pages.folder import ROWS_AT_ONCE
from webui.models import Watched

pytestmark = pytest.mark.django_db


@pytest.fixture
def film(gwen, storage):
    """A film in the root folder, which Gwen has opened."""
    film = storage.file("Sintel.mkv")
    gwen.client.get("/")
    return film


def report(person, film, at="600", of="3600", folder="0"):
    return person.client.post(f"/watch/{film.id}/", {"at": at, "of": of, "folder": folder})


def player(person, film, folder="0"):
    return person.client.get(f"/files/{folder}/file-{film.id}/view/")


def test_the_player_and_files_show_the_resume_position(gwen, film):
    assert report(gwen, film).status_code == 204
    answer = player(gwen, film)
    assert "Resume at 10:00" in words(answer, "#resume")
    assert "50 minutes left" in words(answer, "#resume")
    assert page(answer).select_one("#resume")["data-at"] == "600.0"
    front = page(gwen.client.get("/"))
    assert front.select_one(f"#file-{film.id} progress.bar")["value"] == "17"
    assert "Sintel" in front.select_one("#continue").text
    assert "50 min left" in front.select_one("#continue").text


def test_a_position_in_a_film_of_another_service_is_offered_too(gwen, foreign):
    film = foreign.file("Sintel.mkv")
    gwen.client.get("/")
    report(gwen, film)
    assert "Resume at 10:00" in words(player(gwen, film), "#resume")


def test_the_latest_position_counts(gwen, film):
    report(gwen, film, at="600")
    report(gwen, film, at="1200")
    assert "Resume at 20:00" in words(player(gwen, film), "#resume")
    assert Watched.objects.count() == 1


def test_everyone_has_their_own(gwen, bob, film):
    report(gwen, film)
    assert page(player(gwen, film)).select_one("#resume")
    assert not page(player(bob, film)).select_one("#resume")
    assert not page(bob.client.get("/")).select_one("#continue")
    assert not page(bob.client.get("/")).select_one("progress.bar")


@each_case(("at", "of"), [("3590", "3600"), ("3480", "3600"), ("3600", "3600")])
def test_the_end_counts_as_watched(gwen, film, at, of):
    report(gwen, film, at=at, of=of)
    front = page(gwen.client.get("/"))
    assert front.select_one(f"#file-{film.id} .seen")
    assert not front.select_one("#continue")
    assert not page(player(gwen, film)).select_one("#resume")


def test_a_short_look_saves_no_position(gwen, film):
    report(gwen, film, at="4")
    assert not page(player(gwen, film)).select_one("#resume")


def test_a_film_of_unknown_length_can_be_resumed(gwen, film):
    report(gwen, film, at="600", of="0")
    assert "You stopped at 10:00." in words(player(gwen, film), "#resume")
    assert not page(gwen.client.get("/")).select_one(f"#file-{film.id} progress.bar")


@each_case("at", ["", "x", "nan", "inf", "-inf", "1e400"])
def test_positions_that_are_not_numbers_change_nothing(gwen, film, at):
    assert report(gwen, film, at=at).status_code == 204
    assert not Watched.objects.exists()


@each_case("at", ["-5", "1e300"])
def test_numbers_out_of_reason_are_bounded(gwen, film, at):
    assert report(gwen, film, at=at, of=at).status_code == 204
    kept = Watched.objects.get()
    assert 0 <= kept.position_seconds <= 1_000 * 3600


def test_nothing_is_saved_for_missing_files(gwen, film, storage):
    class Unknown:
        id = 987654

    assert report(gwen, Unknown).status_code == 204
    assert report(gwen, film, folder="987654").status_code == 204
    assert not Watched.objects.exists()


def test_a_restored_film_has_its_positions_again(gwen, bob, film):
    report(gwen, film)
    bob.client.post("/files/0/delete/", {"entry": f"file-{film.id}"})
    assert not page(gwen.client.get("/")).select("#continue")
    (box,) = page(bob.client.get("/files/deleted/")).select("#deleted input")
    bob.client.post("/files/deleted/restore/", {"id": box["value"]})
    assert page(player(gwen, film)).select_one("#resume")


def test_deleting_a_film_for_good_deletes_its_positions(gwen, bob, film, settings):
    settings.DELETED_DAYS = 0
    report(gwen, film)
    assert Watched.objects.exists()
    bob.client.post("/files/0/delete/", {"entry": f"file-{film.id}"})
    delete_due(timezone.now() + HELD)
    assert not Watched.objects.exists()


def test_deleting_a_folder_for_good_deletes_the_positions_inside(bob, storage, settings):
    settings.DELETED_DAYS = 0
    outer = storage.folder("Series")
    inner = storage.folder("Season 1", outer.id)
    film = storage.file("a.mkv", parent=inner.id)
    for path in ("/", f"/files/{outer.id}/", f"/files/{inner.id}/"):
        bob.client.get(path)
    report(bob, film, folder=str(inner.id))
    assert Watched.objects.exists()
    bob.client.post("/files/0/delete/", {"entry": f"folder-{outer.id}"})
    delete_due(timezone.now() + HELD)
    assert not Watched.objects.exists()


def test_a_renamed_film_keeps_its_position(gwen, bob, film):
    report(gwen, film)
    bob.client.post(f"/files/0/file-{film.id}/rename/", {"name": "Other.mkv"})
    assert page(player(gwen, film)).select_one("#resume")
    assert "Other" in words(gwen.client.get("/"), "#continue")


def test_a_film_deleted_by_someone_else_is_not_offered(gwen, film, storage):
    other = storage.file("b.mkv")
    gwen.client.get("/")
    report(gwen, film)
    report(gwen, other)
    del storage.fake.items[film.id]
    storage.fake.revision += 1
    gwen.client.get("/")
    shown = words(gwen.client.get("/"), "#continue")
    assert "Sintel" not in shown
    assert "b" in shown


def test_films_are_marked_by_hand_and_taken_off_the_list(gwen, film):
    report(gwen, film)
    gwen.client.post(f"/watch/{film.id}/mark/", {"folder": "0", "watched": "1"})
    assert page(gwen.client.get("/")).select_one(f"#file-{film.id} .seen")
    assert not page(gwen.client.get("/")).select_one("#continue")
    answer = gwen.client.post(f"/watch/{film.id}/mark/", {"folder": "0", "watched": "0"})
    assert answer["Location"] == "/"
    assert not page(gwen.client.get("/")).select_one(".seen")


def test_continue_watching_is_on_the_front_page_only(gwen, film, storage):
    folder = storage.folder("Empty")
    report(gwen, film)
    assert page(gwen.client.get("/")).select_one("#continue")
    assert not page(gwen.client.get(f"/files/{folder.id}/")).select_one("#continue")
    assert not page(gwen.client.get("/?q=sintel")).select_one("#continue")


@pytest.mark.promise("positions cost one query")
@pytest.mark.slow
def test_five_hundred_films_cost_one_query(gwen, storage, django_assert_max_num_queries):
    storage.many(500)
    gwen.client.get("/")
    items = [item for item in storage.fake.items.values() if item.content is not None]
    about = {"user": gwen.user, "service": storage.service.key, "folder": "0"}
    rows = [
        Watched(file=str(item.id), is_watched=True, updated_at=timezone.now(), **about)
        for item in items
    ]
    with django_assert_max_num_queries(12) as one:
        gwen.client.get("/")
    before = len(one)
    Watched.objects.bulk_create(rows)
    with django_assert_max_num_queries(before):
        answer = gwen.client.get("/")
    assert len(page(answer).select(".seen")) == ROWS_AT_ONCE


def test_removing_a_person_deletes_their_positions(gwen, film):
    report(gwen, film)
    gwen.user.delete()
    assert not Watched.objects.exists()
