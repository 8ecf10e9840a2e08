"""What people see when they open a link, and what they don't."""

import io
import zipfile
from datetime import timedelta

import pytest
from django.urls import get_resolver
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.contents.test_relayed_files import leave
from tests.webui.service import ROOT
from tests.webui.shares.linked import make_link, stranger
from webui.models import Activity, Role, Selection, Share, Throttle, Watched

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}


@pytest.fixture
def shelf(storage):
    """A folder to share, with a folder inside it, beside a folder that isn't shared."""
    shared, other = storage.folder("Shared"), storage.folder("Other")
    inside = storage.folder("Inside", shared.id)
    return {
        "shared": shared.id,
        "other": other.id,
        "inside": inside.id,
        "picture": storage.file("Beach.jpg", b"jpg", shared.id).id,
        "film": storage.file("Film.mp4", b"mp4", shared.id).id,
        "subtitles": storage.file("Film.en.srt", b"1\n", shared.id).id,
        "deep": storage.file("Deep.txt", b"deep", inside.id).id,
        "secret": storage.file("Secret.jpg", b"no", other.id).id,
        "at_root": storage.file("Root.jpg", b"no").id,
        "alone": storage.file("Alone.srt", b"no").id,
    }


@pytest.fixture
def link(bob, shelf):
    return make_link(bob, shelf["shared"])


@pytest.fixture
def ida():
    return stranger()


def packed_in(answer):
    """Return the paths of the files in an archive."""
    content = answer.getvalue()
    leave(answer)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return set(archive.namelist())


class TestAFolder:
    def test_a_link_opens_with_the_items_it_contains(self, link, ida):
        answer = ida.get(link)
        assert answer.status_code == 200
        assert words(answer, "h1") == "Shared"
        assert {"Beach", "Film", "Inside"} <= set(words(answer, "#listing").split())
        assert answer["X-Robots-Tag"] == "noindex"

    @pytest.mark.slow
    def test_every_link_on_its_pages_stays_within(self, link, ida, shelf):
        seen, waiting = set(), [link]
        while waiting:
            path = waiting.pop()
            seen.add(path)
            answer = ida.get(path)
            if answer.status_code == 302:
                assert answer["Location"].startswith(link), path
                continue
            if not answer.headers.get("Content-Type", "").startswith("text/html"):
                continue
            if answer.status_code == 405:
                continue  # A form's address.
            assert answer.status_code == 200, path
            found = {each.get(name) for name in LINKS for each in page(answer).select(f"[{name}]")}
            for url in sorted(filter(None, found)):
                if url.startswith(("#", "/static/", "http://localhost/static/")):
                    continue
                target = url.removeprefix("http://localhost").partition("#")[0]
                assert target.startswith(link), f"{url} on {path}"
                if target.partition("?")[0] not in {each.partition("?")[0] for each in seen}:
                    waiting.append(target)
        assert f"{link}files/{shelf['inside']}/" in seen
        assert f"{link}files/{shelf['shared']}/file-{shelf['film']}/view/" in seen

    def test_the_breadcrumbs_begin_with_the_link(self, bob, shelf, storage, ida):
        deep = storage.folder("Deeper", shelf["inside"])
        link = make_link(bob, shelf["shared"], label="Summer")
        crumbs = page(ida.get(f"{link}files/{deep.id}/")).select(".crumbs a")
        assert [each.get_text() for each in crumbs] == ["Summer", "Inside"]
        assert crumbs[0]["href"] == link

    def test_visitors_see_neither_the_person_nor_the_quota(self, link, ida):
        text = ida.get(link).content.decode()
        assert "bob" not in text
        assert 'id="meter"' not in text
        assert "Sign out" not in text

    def test_nothing_can_be_changed(self, link, ida):
        answer = ida.get(link)
        assert not page(answer).select("[data-do=rename], [data-do=delete], #new, [data-upload]")
        assert not page(answer).select("[data-do=share], [data-do=play], [data-do=unpack]")
        assert words(answer, "[data-do=copy]") == "Copy link"

    def test_positions_in_films_are_not_saved(self, link, ida, shelf):
        answer = ida.get(f"{link}files/{shelf['shared']}/file-{shelf['film']}/view/")
        assert not page(answer).select_one("#watching")
        assert ida.post(f"{link}watch/{shelf['film']}/", {"at": "50"}).status_code == 404
        assert not Watched.objects.exists()

    def test_subtitles_and_films_play(self, link, ida, shelf):
        address = f"{link}files/{shelf['shared']}/file-{shelf['film']}/view/"
        track = page(ida.get(address)).select_one("#source [data-words]")["data-words"]
        assert track.startswith(link)
        assert ida.get(track).status_code == 422  # The file has no subtitles in it.
        assert ida.get(f"{link}files/file/{shelf['film']}/hls/?in={shelf['shared']}").json()

    def test_subtitles_in_a_separate_folder_are_found(self, link, ida, shelf, storage):
        subs = storage.folder("Subs", shelf["shared"])
        track = storage.file("Film.de.srt", b"1\n", subs.id)
        address = f"{link}files/{shelf['shared']}/file-{shelf['film']}/view/"
        tracks = page(ida.get(address)).select("#source [data-words]")
        assert str(track.id) in str(tracks)
        assert {ida.get(each["data-words"]).status_code for each in tracks} == {422}

    def test_a_message_with_an_undo_waits_for_its_own_page(self, link, bob, storage):
        file = storage.file("gone.txt")
        bob.client.post("/files/0/delete/", {"entry": f"file-{file.id}"})
        assert bob.client.get(link).status_code == 200

    def test_signed_in_people_see_the_same(self, link, alice):
        assert not page(alice.client.get(link)).select_one(".nav")
        assert page(alice.client.get("/")).select_one(".nav")


LINKS = ("href", "src", "hx-get", "hx-post", "action", "formaction", "data-hls")


@each_case(
    "path",
    [
        "files/{other}/",
        "files/0/",
        "files/{other}/listing/",
        "files/{other}/rows/",
        "files/{other}/file-{secret}/view/",
        "files/{shared}/file-{secret}/view/",
        "files/{shared}/file-{film}/subtitles/{secret}.vtt",
        "files/file/{secret}/download/?in={other}",
        "files/file/{secret}/download/?in={shared}",
        "files/file/{film}/download/?in={shared}&in={other}",
        "files/file/{secret}/download/",
        "files/file/{secret}/download/?in=../{other}",
        "files/file/{at_root}/raw/?in=0",
        "files/file/{secret}/thumb/abc/?in={other}",
        "files/file/{secret}/image/abc/?in={other}",
        "files/file/{secret}/hls/?in={other}",
        "files/file/{secret}/mp4/?in={other}",
        "files/file/{secret}/pdf/?in={other}",
        "files/file/{secret}/tags/?in={other}",
        "files/folder/{other}/zip/",
        "files/folder/0/zip/",
        "files/zip/guess/",
        "stream/guess",
        "search/?q=secret",
        "account/",
        "files/deleted/",
        "files/largest/",
        "s/guess/",
        "../files/{other}/",
        "%2e%2e/files/{other}/",
    ],
)
def test_entries_outside_the_shared_folder_are_not_found(link, ida, shelf, path):
    answer = ida.get(link + path.format(**shelf))
    assert answer.status_code == 404
    assert b"Secret" not in answer.content


@each_case(
    "path",
    ["new/", "upload/", "delete/", "move/", "uploads/", "share/", "link/", "file-7/unpack/"],
)
def test_nothing_that_acts_is_there(link, ida, shelf, path):
    assert ida.post(f"{link}files/{shelf['shared']}/{path}").status_code == 404


def test_the_urls_of_a_visitor_all_look_only():
    urls = get_resolver("webui.visitor_urls").url_patterns
    assert {each.callback.open_to for each in urls} == {Role.GUEST}


class TestASelection:
    @pytest.fixture
    def part(self, bob, shelf):
        entries = [f"file-{shelf['picture']}", f"folder-{shelf['inside']}"]
        return make_link(bob, shelf["shared"], entries)

    def test_only_shared_items_are_visible(self, part, ida, shelf):
        listing = words(ida.get(part), "#listing")
        assert "Beach" in listing
        assert "Film" not in listing
        assert ida.get(f"{part}files/{shelf['inside']}/").status_code == 200
        film = f"files/file/{shelf['film']}/download/?in={shelf['shared']}"
        assert ida.get(part + film).status_code == 404

    def test_the_zip_contains_only_shared_items(self, part, ida, shelf, storage):
        answer = ida.get(f"{part}files/folder/{shelf['shared']}/zip/")
        assert packed_in(answer) == {"Beach.jpg", "Inside/Deep.txt"}

    def test_nor_has_the_zip_of_the_root_by_its_other_id(self, bob, ida, shelf, storage):
        link = make_link(bob, "0", [f"file-{shelf['at_root']}"])
        for root in ("0", str(ROOT)):
            answer = ida.get(f"{link}files/folder/{root}/zip/")
            assert packed_in(answer) == {"Root.jpg"}

    def test_the_zip_contains_the_current_items(self, part, ida, shelf, storage):
        storage.fake.items[shelf["inside"]].parent = shelf["other"]
        storage.fake.revision += 1
        answer = ida.get(f"{part}files/folder/{shelf['shared']}/zip/")
        assert packed_in(answer) == {"Beach.jpg"}

    def test_packed_entries_that_left_the_folder_are_not_found(self, part, ida, shelf, storage):
        ida.post(f"{part}files/{shelf['shared']}/zip/", {"all": "1"}, headers=HTMX)
        path = f"{part}files/zip/{Selection.objects.get().key}/download/"
        assert "Beach.jpg" in packed_in(ida.get(path))
        storage.fake.items[shelf["inside"]].parent = shelf["other"]
        storage.fake.revision += 1
        assert ida.get(path).status_code == 404

    def test_strangers_pack_only_so_many(self, part, ida, shelf, monkeypatch):
        # A hundred would take seconds.
        monkeypatch.setattr("webui.archives.selections.MOST_OF_VISITORS", 2)
        path = f"{part}files/{shelf['shared']}/zip/"
        keys = [f"file-{shelf['picture']}", f"folder-{shelf['inside']}"]
        choices = [*([each] for each in keys), keys, [keys[0]]]
        answers = [ida.post(path, {"entry": each}, headers=HTMX).status_code for each in choices]
        assert answers == [200, 200, 503, 200]
        assert ida.post(path, {"entry": "file-99"}).status_code == 302
        assert not ida.cookies.get("sessionid")

    def test_neither_other_links_nor_their_maker_count(self, bob, ida, shelf, monkeypatch):
        # A hundred would take seconds.
        monkeypatch.setattr("webui.archives.selections.MOST_OF_VISITORS", 1)
        path = f"files/{shelf['shared']}/zip/"
        choice = {"entry": f"file-{shelf['picture']}"}
        assert bob.client.post(f"/{path}", choice, headers=HTMX).status_code == 200
        for _link in range(2):
            link = make_link(bob, shelf["shared"])
            assert ida.post(f"{link}{path}", choice, headers=HTMX).status_code == 200
        assert Selection.objects.count() == 3

    def test_all_of_it_selected_is_not_the_whole_folder(self, part, ida, shelf):
        ida.get(part)
        answer = ida.post(f"{part}files/{shelf['shared']}/zip/", {"all": "1"}, headers=HTMX)
        selection = Selection.objects.get()
        assert not selection.is_whole
        assert len(selection.entries) == 2
        assert page(answer).select_one("#packed")["href"].startswith(part)

    def test_an_archive_of_another_link_is_not_there(self, part, bob, ida, shelf):
        ida.post(f"{part}files/{shelf['shared']}/zip/", {"all": "1"}, headers=HTMX)
        key = Selection.objects.get().key
        assert ida.get(f"{part}files/zip/{key}/").status_code == 200
        other = make_link(bob, shelf["other"])
        assert ida.get(f"{other}files/zip/{key}/").status_code == 404
        smaller = make_link(bob, shelf["shared"], [f"file-{shelf['picture']}"])
        assert ida.get(f"{smaller}files/zip/{key}/").status_code == 404

    def test_a_single_file_opens_itself(self, bob, ida, shelf):
        link = make_link(bob, shelf["shared"], [f"file-{shelf['film']}"])
        answer = ida.get(link, follow=True)
        assert words(answer, "h1") == "Film.mp4"
        assert page(answer).select_one("#source [data-words]")

    def test_a_single_file_opens_itself_after_the_password_too(self, bob, ida, shelf):
        link = make_link(bob, "0", [f"file-{shelf['at_root']}"], password="tern")
        came = {"Referer": f"http://localhost{link}"}
        shown = ida.post(link, {"password": "tern"}, headers=came, follow=True)
        assert words(shown, "#viewer-name") == "Root.jpg"

    def test_no_way_leads_from_a_single_file_to_a_list_of_it(self, bob, ida, shelf):
        for entry in (f"file-{shelf['at_root']}", f"file-{shelf['alone']}"):
            link = make_link(bob, "0", [entry])
            shown = ida.get(link, follow=True)
            assert not page(shown).select("[data-back]")
            came = {"Referer": f"http://localhost{shown.redirect_chain[-1][0]}"}
            assert ida.get(link, headers=came).status_code == 302

    def test_the_way_back_from_a_film_leads_to_its_subtitles(self, bob, ida, shelf, storage):
        film = storage.file("Film.mp4", b"mp4")
        storage.file("Film.en.srt", b"1\n")
        link = make_link(bob, "0", [f"file-{film.id}"])
        shown = ida.get(link, follow=True)
        back = page(shown).select_one("#back")["href"].partition("#")[0]
        came = {"Referer": f"http://localhost{shown.redirect_chain[-1][0]}"}
        listed = ida.get(back, headers=came)
        assert words(listed, "#listing .ext") == ".srt"
        came = {"Referer": f"http://localhost{link}"}
        assert ida.get(f"{link}?sort=-size", headers=came).status_code == 200

    def test_entries_moved_out_of_the_folder_leave_the_link(self, part, ida, shelf, storage):
        storage.fake.items[shelf["inside"]].parent = shelf["other"]
        storage.fake.revision += 1
        assert ida.get(f"{part}files/{shelf['inside']}/").status_code == 404


class TestTheDoor:
    def test_a_password_is_required_first(self, bob, shelf, ida):
        link = make_link(bob, shelf["shared"], password="tern on a rope", label="Summer")
        for path in (link, f"{link}files/{shelf['shared']}/"):
            answer = ida.get(path)
            assert page(answer).select_one("input[type=password]")
            assert b"Beach" not in answer.content
            assert b"Summer" not in answer.content
        assert ida.post(link, {"password": "tern"}).status_code == 422
        answer = ida.post(link, {"password": "tern on a rope"}, follow=True)
        assert words(answer, "h1") == "Summer"
        assert ida.get(f"{link}files/{shelf['shared']}/").status_code == 200
        assert page(stranger().get(link)).select_one("input[type=password]")

    def test_a_visit_to_one_link_does_not_open_another(self, bob, shelf, ida):
        one = make_link(bob, shelf["shared"], password="one")
        other = make_link(bob, shelf["shared"], password="other")
        ida.post(one, {"password": "one"})
        cookie = next(iter(ida.cookies.values()))
        assert cookie["path"] == one
        assert cookie["httponly"]
        # The fake browser sends each cookie everywhere.
        assert page(ida.get(other)).select_one("input[type=password]")

    def test_guesses_are_slowed_down(self, bob, shelf, ida, clock):
        link = make_link(bob, shelf["shared"], password="tern")
        answers = [ida.post(link, {"password": str(guess)}).status_code for guess in range(21)]
        assert answers == [422] * 20 + [429]
        answer = ida.post(link, {"password": "tern"})
        assert answer.status_code == 429
        assert int(answer["Retry-After"]) > 0
        assert "Too many attempts. Wait" in words(answer, "[role=alert]")
        assert page(answer).select_one("input[type=password]")
        assert not page(answer).select("a[href='/']")

    def test_the_right_password_does_not_count_as_a_guess(self, bob, shelf, ida):
        link = make_link(bob, shelf["shared"], password="tern")
        for _visit in range(3):
            assert ida.post(link, {"password": "tern"}).status_code == 302
        assert not Throttle.objects.exists()

    def test_only_opening_a_link_counts_as_a_use(self, bob, shelf):
        link = make_link(bob, shelf["shared"], most_uses="2")
        for _preview in range(5):
            assert "2 more times" in words(stranger().get(link), "main")
        first, second, third = (stranger() for _person in range(3))
        assert words(first.post(link, follow=True), "h1") == "Shared"
        assert second.post(link).status_code == 302
        assert third.post(link).status_code == 404
        assert "reached its limit" in words(third.get(link), "main")
        assert words(first.get(link), "h1") == "Shared"
        assert Share.objects.get().uses == 2

    def test_players_addresses_are_no_way_around_it(self, bob, shelf, ida):
        link = make_link(bob, shelf["shared"], password="tern")
        assert ida.get(f"{link}{shelf['film']}/Film.mp4").status_code == 404
        assert ida.get(f"{link}playlist/x.m3u").status_code == 404

    def test_a_form_from_within_does_not_open_it_again(self, bob, shelf, ida):
        link = make_link(bob, shelf["shared"], most_uses="2")
        path = f"{link}files/{shelf['shared']}/zip/"
        assert ida.post(path, {"all": "1"}).status_code == 200
        assert ida.post(path, {"all": "1"}, headers=HTMX)["HX-Redirect"] == link
        assert Share.objects.get().uses == 0

    def test_passwords_are_hashed_a_few_at_a_time(self, bob, shelf, ida, monkeypatch):
        link = make_link(bob, shelf["shared"], password="tern")

        def busy(*_names, **_facts):
            raise TimeoutError

        # No test makes four others wait.
        monkeypatch.setattr("common.passwords.turn", busy)
        answer = ida.post(link, {"password": "tern"})
        assert answer.status_code == 503
        assert answer["Retry-After"]


class TestTheEnd:
    def test_it_expires(self, link, ida):
        Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        answer = ida.get(link)
        assert answer.status_code == 404
        assert "expired or was revoked" in words(answer, "main")

    def test_without_an_end_it_lasts(self, bob, shelf, ida):
        assert ida.get(make_link(bob, shelf["shared"], lasts="never")).status_code == 200

    def test_it_is_revoked(self, link, bob, ida, shelf):
        revoke = page(bob.client.get("/account/")).select_one("#shares a.btn")
        bob.client.post(revoke["href"])
        for path in ("", f"files/{shelf['shared']}/", "send/"):
            assert ida.get(link + path).status_code in (404, 302)
        assert ida.get(link).status_code == 404
        assert Activity.objects.filter(kind="share_revoked").exists()

    def test_a_deleted_folder_is_not_found(self, link, ida, shelf, storage):
        del storage.fake.items[shelf["shared"]]
        storage.fake.revision += 1
        assert ida.get(link).status_code == 404

    def test_a_folder_removed_by_another_program_is_noticed(self, bob, foreign, ida):
        shared, other = foreign.folder("Shared"), foreign.folder("Other")
        inside = foreign.folder("Inside", shared.id)
        link = make_link(bob, shared.id)
        path = f"{link}files/{inside.id}/"
        assert ida.get(path).status_code == 200
        foreign.fake.items[inside.id].parent = other.id
        foreign.fake.revision += 1
        assert ida.get(f"{path}listing/?seen=x", headers=HTMX).status_code == 404
        assert ida.get(path).status_code == 404

    def test_a_service_that_fails_tells_strangers_nothing(self, bob, foreign, ida):
        link = make_link(bob, foreign.folder("Shared").id)
        foreign.fails("/rest/folder", 500, "database at 10.0.0.8 is down")
        shared = Share.objects.get().folder
        foreign.fails(f"/rest/folder/{shared}", 500, "database at 10.0.0.8 is down")
        answer = ida.get(f"{link}files/{shared}/listing/?seen=x", headers=HTMX)
        assert b"database" not in answer.content
