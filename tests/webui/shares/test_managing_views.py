"""Links that exist: how makers see, change, and revoke them, and how owners revoke all."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.hashers import check_password
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.shares.linked import make_link, stranger
from webui.models import Activity, Role, Share
from webui.shares import links

pytestmark = pytest.mark.django_db
PASSWORD = "tern on a rope"
GB = 10**9


@pytest.fixture
def film(storage):
    return storage.file("Das Boot.mkv", b"a film")


@pytest.fixture
def link(bob, storage):
    return make_link(bob, storage.folder("Photos").id, label="Summer")


def player_link(person, path):
    answer = person.client.post(f"/files/{path}/link/")
    return urlsplit(page(answer).select_one(".pairing input")["value"]).path


def address_of(share, more=""):
    return f"/account/links/{share.pk}/{more}"


def shown(person, share):
    return person.client.get(address_of(share))


def change(person, share, **fields):
    """Send the form as the page fills it in, except for these fields."""
    form = page(shown(person, share)).select_one("#share form[method=post]")
    filled = {
        field["name"]: field.get("value", "")
        for field in form.select("input")
        if field["type"] not in {"radio", "checkbox"} or field.has_attr("checked")
    }
    return person.client.post(address_of(share), filled | fields)


def is_open(link):
    return stranger().get(link).status_code == 200


class TestSeeing:
    def test_the_link_is_shown_again_with_a_code_and_its_terms(self, bob, link):
        listed = page(bob.client.get("/account/")).select_one("#shares .rows a")
        answer = bob.client.get(listed["href"])
        assert words(answer, "h1") == "Summer"
        assert urlsplit(page(answer).select_one(".pairing input")["value"]).path == link
        assert page(answer).select_one("svg.qr path")["d"]
        assert page(answer).select_one("[data-copy-field]")
        assert page(answer).select_one("[name=label]")["value"] == "Summer"
        assert "Page, until" in words(answer, "main header")
        assert "no-store" in answer["Cache-Control"]

    @each_case("folder", [False, True])
    def test_a_link_for_players_is_shown_again_without_terms(self, gwen, film, folder):
        link = player_link(gwen, "0" if folder else f"0/file-{film.id}")
        answer = shown(gwen, Share.objects.get())
        assert urlsplit(page(answer).select_one(".pairing input")["value"]).path == link
        assert "/playlist/" in page(answer).select_one("#share a.primary")["href"]
        assert not page(answer).select_one("#share form[method=post]")
        assert gwen.client.post(address_of(Share.objects.get())).status_code == 404
        Share.objects.all().delete()

    def test_only_its_maker_sees_it(self, alice, gwen, link):
        token = link.split("/")[2]
        for person in (alice, gwen):
            assert shown(person, Share.objects.get()).status_code == 404
            assert person.client.post(address_of(Share.objects.get())).status_code == 404
        for path in ("/account/server/", address_of(Share.objects.get(), "revoke/")):
            assert token not in alice.client.get(path).content.decode()

    def test_a_link_that_has_ended_is_not_found(self, bob, link):
        Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert shown(bob, Share.objects.get()).status_code == 404

    def test_a_guest_sees_a_page_of_before_and_changes_nothing(self, bob, link):
        bob.user.role = Role.GUEST
        bob.user.save()
        answer = shown(bob, Share.objects.get())
        assert not page(answer).select_one("#share form[method=post]")
        assert (
            bob.client.post(address_of(Share.objects.get()), {"lasts": "never"}).status_code == 404
        )

    def test_a_link_of_an_earlier_version_says_that_it_cannot_be_shown(self, bob, link):
        Share.objects.update(sealed="")
        answer = shown(bob, Share.objects.get())
        assert "can't show this link again" in words(answer, "#share")
        assert not page(answer).select_one(".pairing, [data-copy-field]")
        change(bob, Share.objects.get(), label="Winter")
        assert is_open(link)


class TestTheDatabase:
    def test_a_copy_of_it_reveals_no_link(self, bob, link):
        assert link.split("/")[2] not in str(Share.objects.values())

    def test_another_key_opens_no_link(self, bob, link, settings):
        share = Share.objects.get()
        assert share.decrypt_token() == link.split("/")[2]
        settings.SECRET_KEY = "another key of another Ferry, long enough"
        assert share.decrypt_token() is None

    def test_a_token_in_another_row_is_not_shown(self, bob, storage, link):
        make_link(bob)
        other, own = Share.objects.order_by("-pk")
        Share.objects.filter(pk=other.pk).update(sealed=own.sealed)
        assert "can't show this link again" in words(shown(bob, other), "#share")

    def test_the_previous_version_can_add_rows(self, bob, link):
        before = MigrationLoader(connection, replace_migrations=False).project_state(
            ("webui", "0022_full_name_index")
        )
        rows = before.apps.get_model("webui", "Share").objects
        row = rows.values().get() | {"id": None, "digest": "of the previous version"}
        rows.create(**row)
        assert Share.objects.get(digest=row["digest"]).decrypt_token() is None


class TestChanging:
    def test_without_a_change_everything_stays(self, bob, storage):
        make_link(bob, label="Summer", password=PASSWORD, most_uses="3", lasts="month")
        before = Share.objects.values().get()
        answer = change(bob, Share.objects.get())
        assert answer["Location"] == address_of(Share.objects.get())
        assert Share.objects.values().get() == before
        assert "Link changed" in words(bob.client.get(answer["Location"]), "#toasts")

    def test_new_terms_apply_at_once(self, bob, link):
        ida = stranger()
        assert words(ida.get(link), "h1") == "Summer"
        change(bob, Share.objects.get(), label="Winter", lasts="never")
        assert words(ida.get(link), "h1") == "Winter"
        assert Share.objects.get().expires_at is None
        change(bob, Share.objects.get(), lasts="hour")
        left = Share.objects.get().expires_at - timezone.now()
        assert timedelta(minutes=59) < left <= timedelta(hours=1)
        change(bob, Share.objects.get(), most_uses="1")
        assert words(ida.get(link), "h1") == "Shared with you"
        assert Activity.objects.filter(kind="share_changed").count() == 3

    @each_case("before", ["", "an older one"])
    def test_a_new_password_ends_open_visits(self, bob, storage, before):
        link, ida = make_link(bob, most_uses="9", password=before), stranger()
        share = Share.objects.get()
        ida.post(link, {"password": before})
        assert ida.get(link).status_code == 200
        assert words(ida.get(link), "h1") != "Shared with you"
        change(bob, share, password=PASSWORD)
        assert words(ida.get(link), "h1") == "Shared with you"
        assert ida.post(link, {"password": before}).status_code == 422
        assert ida.post(link, {"password": PASSWORD}).status_code == 302
        assert words(ida.get(link), "h1") != "Shared with you"
        share.delete()

    def test_an_empty_password_keeps_the_old_one_which_can_be_removed(self, bob, storage):
        link, share = make_link(bob, password=PASSWORD), Share.objects.get
        assert PASSWORD not in shown(bob, share()).content.decode()
        change(bob, share(), label="Winter")
        assert check_password(PASSWORD, share().password)
        assert words(stranger().get(link), "h1") == "Shared with you"
        change(bob, share(), password="another", without_password="1")
        assert check_password("another", share().password)
        change(bob, share(), without_password="1")
        assert words(stranger().get(link), "h1") == "Winter"
        assert not page(shown(bob, share())).select_one("[name=without_password]")

    def test_the_size_limit_of_a_link_to_send_files_changes(self, bob, storage):
        make_link(bob, purpose="send", most_gb="3")
        change(bob, Share.objects.get(), label="Inbox")
        assert Share.objects.get().most_bytes == 3 * GB
        change(bob, Share.objects.get(), most_gb="5", purpose="see")
        assert Share.objects.get().most_bytes == 5 * GB
        assert Share.objects.get().takes_files

    def test_a_page_gets_no_size_limit(self, bob, link):
        assert not page(shown(bob, Share.objects.get())).select_one("[name=most_gb]")
        change(bob, Share.objects.get(), most_gb="5")
        assert Share.objects.get().most_bytes is None

    @each_case("name, value", [("most_uses", "0"), ("lasts", "soon"), ("lasts", "")])
    def test_invalid_terms_change_nothing(self, bob, link, name, value):
        before = Share.objects.values().get()
        assert change(bob, Share.objects.get(), **{name: value}).status_code == 422
        assert Share.objects.values().get() == before

    def test_a_link_that_is_revoked_in_the_meantime_stays_ended(self, bob, link):
        share = Share.objects.get()
        links.revoke(share)
        assert bob.client.post(address_of(share), {"lasts": "never"}).status_code == 404
        assert not Share.objects.exists()


class TestRevoking:
    @pytest.fixture(params=["bob", "alice"])
    def person(self, request):
        return request.getfixturevalue(request.param)

    def test_ferry_asks_first(self, person, link):
        answer = person.client.get(address_of(Share.objects.get(), "revoke/"))
        assert words(answer, "h1") == "Revoke the link “Summer”?"
        assert "Created by bob for “Photos”. Never used" in words(answer, "#main")
        assert page(answer).select_one("#main form[method=post] button")
        assert is_open(link)

    def test_it_ends_at_once(self, person, link):
        answer = person.client.post(address_of(Share.objects.get(), "revoke/"), follow=True)
        assert "Link revoked" in words(answer, "#toasts")
        assert stranger().get(link).status_code == 404
        event = Activity.objects.get(kind="share_revoked")
        assert (event.person, event.subject) == (person.user.username, "Summer")

    @each_case("method", ["get", "post"])
    def test_a_link_that_has_ended_is_not_revoked_again(self, person, link, method):
        path = address_of(Share.objects.get(), "revoke/")
        Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        answer = getattr(person.client, method)(path, follow=True)
        assert "This link had already ended." in words(answer, "#toasts .error")
        assert "Link revoked" not in words(answer, "#toasts")
        assert not Activity.objects.filter(kind="share_revoked").exists()

    def test_members_revoke_their_own_links_only(self, gwen, bob, film):
        link = player_link(gwen, f"0/file-{film.id}")
        for method in ("get", "post"):
            path = address_of(Share.objects.get(), "revoke/")
            answer = getattr(bob.client, method)(path, follow=True)
            assert "This link had already ended." in words(answer, "#toasts")
        assert stranger().get(link).status_code != 404


class TestTheOwnersList:
    def test_it_shows_everyones_valid_links(self, alice, bob, gwen, link, film):
        player_link(gwen, f"0/file-{film.id}")
        make_link(alice, label="Old")
        Share.objects.filter(label="Old").update(expires_at=timezone.now())
        stranger().get(link)
        rows = page(alice.client.get("/account/server/")).select("#links .rows li")
        texts = [" ".join(row.get_text(" ").split()) for row in rows]
        assert len(texts) == 2
        assert texts[0].startswith("Das Boot.mkv For other players, until")
        assert texts[0].endswith("Created by gwen. Never used Revoke")
        assert texts[1].startswith("Summer Page, until")
        assert "Created by bob for “Photos”. Last used: Today" in texts[1]

    def test_links_of_removed_people_and_old_passwords_are_not_in_it(self, alice, bob, link):
        bob.user.begin_epoch()
        assert not page(alice.client.get("/account/server/")).select_one("#links")

    def test_only_owners_see_it(self, bob, gwen, link):
        for person in (bob, gwen):
            assert not page(person.client.get("/account/server/")).select_one("#links")

    def test_revoking_leads_back_to_it(self, alice, link):
        listed = page(alice.client.get("/account/server/")).select_one("#links .rows a")
        answer = alice.client.get(listed["href"])
        assert page(answer).select_one(".crumbs a")["href"] == "/account/server/#links"
        assert alice.client.post(listed["href"])["Location"] == "/account/server/#links"


class TestTheLastUse:
    @pytest.fixture(params=["page", "player", "list", "send"])
    def path(self, request, bob, storage, film):
        if request.param == "page":
            return make_link(bob)
        if request.param == "send":
            return make_link(bob, purpose="send") + "send/"
        return player_link(bob, f"0/file-{film.id}" if request.param == "player" else "0")

    def test_each_use_is_noted_once_a_minute(self, path):
        before = timezone.now()
        stranger().get(path)
        first = Share.objects.get().last_used_at
        assert before <= first <= timezone.now()
        stranger().get(path)
        assert Share.objects.get().last_used_at == first
        for away in (timedelta(seconds=-61), timedelta(minutes=5)):
            Share.objects.update(last_used_at=timezone.now() + away)
            stranger().get(path)
            assert abs(Share.objects.get().last_used_at - timezone.now()) < timedelta(seconds=30)

    def test_looking_at_the_form_is_no_use(self, bob, storage):
        link, ida = make_link(bob, password=PASSWORD), stranger()
        ida.get(link)
        ida.post(link, {"password": "a guess"})
        assert Share.objects.get().last_used_at is None
        ida.post(link, {"password": PASSWORD})
        ida.get(link)
        assert Share.objects.get().last_used_at

    def test_of_two_at_once_one_writes(self, bob, link):
        mine, yours, now = Share.objects.get(), Share.objects.get(), timezone.now()
        links.note_use(mine, now)
        links.note_use(yours, now + timedelta(seconds=1))
        assert Share.objects.get().last_used_at == now

    def test_a_full_disk_keeps_no_visitor_out(self, link, monkeypatch):
        # No test can fill the disk of its database.
        def refuse(*_args, **_options):
            raise OperationalError("database or disk is full")

        monkeypatch.setattr("django.db.models.query.QuerySet.update", refuse)
        assert is_open(link)
