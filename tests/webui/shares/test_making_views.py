"""Making a link to a page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.shares.linked import TERMS, make_link
from webui.models import Share
from webui.shares import links
from webui.shares.form import LIFETIMES

pytestmark = pytest.mark.django_db


class TestTheForm:
    def test_the_page_names_the_shared_items(self, bob, storage):
        photos = storage.folder("Photos")
        answer = bob.client.get(f"/files/0/share/?entry=folder-{photos.id}")
        assert words(answer, "h1") == "Share Photos"
        assert not Share.objects.exists()

    def test_a_selection_asks_for_confirmation_first(self, bob, storage):
        keys = [f"file-{storage.file(f'{name}.jpg').id}" for name in "abc"]
        answer = bob.client.post("/files/0/share/", {"entry": keys[:2]})
        assert words(answer, "h1") == "Share 2 items"
        assert [each["value"] for each in page(answer)("input", {"name": "entry"})] == keys[:2]
        assert "c.jpg" not in answer.content.decode()
        assert not Share.objects.exists()

    def test_a_selection_cannot_receive_files(self, bob, storage):
        keys = [f"file-{storage.file(f'{name}.jpg').id}" for name in "ab"]
        answer = bob.client.post("/files/0/share/", {"entry": keys})
        assert not page(answer).select_one("input[value=send]")

    def test_without_folders_at_the_service_only_the_root_receives_files(self, bob, foreign):
        inbox = foreign.folder("Inbox")
        for path in (f"/files/{inbox.id}/share/", f"/files/0/share/?entry=folder-{inbox.id}"):
            assert not page(bob.client.get(path)).select_one("input[value=send]")
            answer = bob.client.post(path, TERMS | {"purpose": "send"})
            assert answer.status_code == 422
            assert "this service doesn't accept a folder" in words(answer, "#refusal")
        assert not Share.objects.exists()
        assert page(bob.client.get("/files/0/share/")).select_one("input[value=send]")
        make_link(bob, purpose="send")

    def test_a_service_with_folders_receives_files_in_each(self, bob, foreign):
        foreign.fake.keeps_folder_id = True
        make_link(bob, foreign.folder("Inbox").id, purpose="send")
        assert Share.objects.get().takes_files

    def test_an_empty_selection_creates_no_link_to_everything(self, bob, storage):
        answer = bob.client.post("/files/0/share/", {"entry": ["file-99"], **TERMS})
        assert answer.status_code == 302
        assert not Share.objects.exists()

    @each_case("name, value", [("most_uses", "0"), ("most_uses", "many"), ("lasts", "soon")])
    def test_invalid_terms_are_reported_at_the_field(self, bob, storage, name, value):
        answer = bob.client.post("/files/0/share/", TERMS | {name: value})
        assert answer.status_code == 422
        assert not Share.objects.exists()

    def test_the_number_of_links_per_person_is_limited(self, bob, storage, monkeypatch):
        # A hundred links take seconds.
        monkeypatch.setattr(links, "MOST_EACH", 1)
        make_link(bob)
        answer = bob.client.post("/files/0/share/", TERMS)
        assert answer.status_code == 422
        assert "already have 100 links" in words(answer, "#refusal")

    def test_guests_make_none(self, gwen, storage):
        assert gwen.client.get("/files/0/share/").status_code == 403
        assert "Share" not in words(gwen.client.get("/"), "#main")


class TestTheLink:
    def test_the_database_shows_neither_link_nor_password(self, bob, storage):
        token = make_link(bob, password="tern on a rope").split("/")[2]
        kept = str(Share.objects.values())
        assert token not in kept
        assert "tern on a rope" not in kept
        assert token not in bob.client.get("/account/").content.decode()

    @each_case("lasts", LIFETIMES)
    def test_a_link_lasts_for_the_chosen_time(self, bob, storage, lasts):
        make_link(bob, lasts=lasts)
        end = Share.objects.get().expires_at
        lifetime, _words = LIFETIMES[lasts]
        if lifetime is None:
            assert end is None
        else:
            assert abs(end - timezone.now() - lifetime) < timedelta(minutes=1)

    def test_the_account_page_lists_it(self, bob, storage):
        make_link(bob, lasts="never", label="For Ida", password="x", most_uses="3")
        row = words(bob.client.get("/account/"), "#shares .rows")
        assert "For Ida Page, no expiry date, with a password, opened 0 of 3 times" in row

    def test_sharing_a_film_includes_the_subtitles_beside_it(self, bob, storage):
        film, subtitles = storage.file("Film.mkv"), storage.file("Film.en.srt")
        storage.file("Other.mkv"), storage.file("Other.srt")
        make_link(bob, entries=[f"file-{film.id}"])
        assert Share.objects.get().only == sorted([f"file-{film.id}", f"file-{subtitles.id}"])
