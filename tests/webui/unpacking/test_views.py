"""Unpack ZIP files, in Files and in their previews."""

import pytest

from service.errors import Busy
from service.models import Account, Folder, Transfer
from service.transfers import transfers
from tests.cases import each_case
from tests.people import page, words
from tests.service.builders import a_file, a_folder
from tests.service.unpacking.shift import UnpackingShift, a_zip_file
from tests.service.unpacking.zips import a_zip, encrypted
from webui.connection.connection import service as connected
from webui.models import Activity, Sent
from webui.transfers import poll

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
CONTENT = a_zip(("a.txt", b"one"), ("b.txt", b"two"))


@pytest.fixture(autouse=True)
def account(own_service, library_folder) -> Account:
    return own_service


@pytest.fixture
def library_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def zip_file(account):
    return a_zip_file(account, CONTENT)


def unpack(person, file, headers=None, place=0, **options):
    path = f"/files/{place}/file-{file.pk}/unpack/"
    return person.client.post(path, headers=headers, **options)


def progress(person, seen, place=0):
    return person.client.get(f"/files/{place}/unpacking/?seen={seen}", headers=HTMX)


def run() -> Transfer:
    return UnpackingShift().until_over(Transfer.objects.get())


def undo_of(answer, selector=".toast form"):
    (form,) = page(answer).select(selector)
    return form["action"], {each["name"]: each["value"] for each in form.select("input")}


def names(person, path="/") -> list[str]:
    rows = page(person.client.get(path)).select("#listing .entry-name")
    return [row["title"] for row in rows]


def test_people_unpack_and_undo_without_scripts(bob, zip_file):
    begun = unpack(bob, zip_file, follow=True)
    assert begun.redirect_chain[-1][0] == "/"
    assert "Unpacking Photos.zip" in words(begun, "#toasts")
    assert words(begun, "#unpacking li") == "Photos Waiting for a free slot Cancel"
    run()
    assert names(bob) == ["Photos", "Photos.zip"]
    assert page(bob.client.get("/")).select_one("#unpacking").has_attr("hidden")
    action, fields = undo_of(begun)
    undone = bob.client.post(action, fields, follow=True)
    assert "Folder deleted" in words(undone, "#toasts")
    assert names(bob) == ["Photos.zip"]
    assert "Photos" in words(bob.client.get("/files/deleted/"), "main")
    again = bob.client.post(action, fields, follow=True)
    assert "There is nothing left to undo." in words(again, "#toasts")
    kinds = Activity.objects.values_list("kind", "subject")
    assert {("unpacked", "Photos.zip"), ("unpacking_undone", "")} <= {*kinds}


def test_it_is_canceled_before_it_ends(bob, zip_file):
    action, fields = undo_of(unpack(bob, zip_file, follow=True), "#unpacking form")
    undone = bob.client.post(action, fields, follow=True)
    assert "Unpacking canceled" in words(undone, "#toasts")
    assert page(undone).select_one("#unpacking").has_attr("hidden")
    assert not Transfer.objects.exists()
    assert Sent.objects.get().cleared_at


def test_the_page_follows_it_and_shows_the_folder(bob, zip_file):
    begun = unpack(bob, zip_file, HTMX)
    assert begun["HX-Retarget"] == "#listing"
    assert "Undo" in words(begun, ".toast")
    (transfer,) = Transfer.objects.all()
    section = page(begun).select_one("#unpacking")
    assert section["hx-get"] == f"/files/0/unpacking/?seen={transfer.pk}"
    same = progress(bob, transfer.pk)
    assert same["HX-Reswap"] == "none"
    assert not page(same).select("button, h2")
    shift = UnpackingShift()
    shift.round()
    assert words(progress(bob, transfer.pk), "small") != "Waiting for a free slot"
    shift.until_over(transfer)
    arrived = progress(bob, transfer.pk)
    assert arrived["HX-Retarget"] == "#listing"
    assert "Unpacked into Photos" in words(arrived, ".toast")
    assert [row["title"] for row in page(arrived).select(".entry-name")] == ["Photos", "Photos.zip"]
    assert undo_of(arrived)[1]["undo"] == f"unpacked:{transfer.pk}"
    assert page(arrived).select_one("#unpacking").has_attr("hidden")


def test_the_listing_keeps_its_order_when_the_folder_arrives(bob, account, zip_file):
    a_file(account, "b.txt")
    headers = HTMX | {"HX-Current-URL": "http://localhost/?sort=-name"}
    answer = unpack(bob, zip_file, headers)
    titles = [row["title"] for row in page(answer).select("#listing .entry-name")]
    assert titles == ["Photos.zip", "b.txt"]


def test_a_new_transfer_joins_those_that_a_page_follows(bob, account, zip_file):
    other = a_zip_file(account, CONTENT, "Films.zip")
    unpack(bob, zip_file)
    first = Transfer.objects.get().pk
    unpack(bob, other)
    answer = progress(bob, first)
    assert "HX-Reswap" not in answer
    assert [each.get_text() for each in page(answer).select("bdi")] == ["Films", "Photos"]


def test_a_failure_stays_until_someone_removes_it(bob, account):
    zip_file = a_zip_file(account, encrypted(CONTENT))
    unpack(bob, zip_file)
    transfer = run()
    text = "This ZIP file needs a password, so Ferry can't unpack it."
    assert text in words(progress(bob, transfer.pk), "small")
    shown = bob.client.get("/")
    assert text in words(shown, "#unpacking")
    assert not page(shown).select_one("#unpacking").has_attr("hx-get")
    action, fields = undo_of(shown, "#unpacking form")
    removed = bob.client.post(action, fields, follow=True)
    assert "Removed" in words(removed, "#toasts")
    assert page(removed).select_one("#unpacking").has_attr("hidden")
    assert not Transfer.objects.exists()


def test_an_unpacking_that_waits_for_space_says_how_it_continues(bob, account, zip_file):
    Account.objects.update(space_max_bytes=Account.objects.get().space_used_bytes + 1)
    unpack(bob, zip_file)
    UnpackingShift().until_state(Transfer.objects.get(), "no_room")
    assert "There isn't enough space." in words(bob.client.get("/"), "#unpacking small")


@pytest.mark.slow
def test_files_open_while_transfers_cannot_be_read(bob, zip_file, monkeypatch):
    unpack(bob, zip_file)

    def fail(_account, _transfer_id):
        raise Busy

    # Nothing else of the service is busy at that moment.
    monkeypatch.setattr(transfers, "get", fail)
    shown = bob.client.get("/")
    assert shown.status_code == 200
    assert page(shown).select_one("#unpacking").has_attr("hidden")
    assert progress(bob, Transfer.objects.get().pk).status_code == 503


def test_it_is_listed_under_transfers_and_tried_again_there(bob, account):
    zip_file = a_zip_file(account, encrypted(CONTENT))
    unpack(bob, zip_file)
    first = run()
    shown = bob.client.get("/transfers/")
    assert "the ZIP file needs a password" in words(shown, f"#t{first.pk}")
    bob.client.post(f"/transfers/t{first.pk}/retry/")
    (second,) = Transfer.objects.all()
    assert (second.pk != first.pk, second.source) == (True, str(zip_file.pk))


def test_the_row_under_transfers_leads_to_the_folder(bob, account, zip_file):
    place = a_folder(account, "Films")
    zip_file = a_zip_file(account, CONTENT, "Season.zip", folder=place)
    unpack(bob, zip_file, place=place.pk)
    transfer = run()
    poll.refresh(connected(), at_once=True)
    answer = bob.client.get(f"/transfers/t{transfer.pk}/open/")
    assert answer["Location"] == f"/files/{transfer.folder_created_id}/"


def test_a_preview_unpacks_by_a_form(bob, zip_file):
    shown = bob.client.get(f"/files/0/file-{zip_file.pk}/view/")
    form = page(shown).select_one("form#unpack[method=post]")
    assert form.select_one("[type=submit]").get_text(strip=True) == "Unpack"
    assert bob.client.post(form["action"]).status_code == 302
    assert Transfer.objects.get().title == "Photos"


def test_guests_cannot_unpack(gwen, bob, zip_file):
    unpack(bob, zip_file)
    shown = gwen.client.get("/")
    assert not page(shown).select("#unpacking, [data-do=unpack]")
    assert not page(gwen.client.get(f"/files/0/file-{zip_file.pk}/view/")).select("#unpack")
    assert unpack(gwen, zip_file).status_code == 403


@each_case("name", ["a.rar", "a.txt", "a.jar", "zip"])
def test_only_zip_files_are_unpacked(name, bob, account):
    file = a_file(account, name)
    assert unpack(bob, file).status_code == 404
    assert not Transfer.objects.exists()


def test_names_of_foreign_transfers_reveal_nothing(bob, account):
    assert bob.client.get("/files/0/unpacking/?seen=999,x,,-1", headers=HTMX).status_code == 200
    assert bob.client.get("/files/0/unpacking/").status_code == 302
    fields = {"undo": "unpacked:999"}
    answer = bob.client.post("/files/undo/", fields, follow=True)
    assert "There is nothing left to undo." in words(answer, "#toasts")


def test_a_full_queue_says_so(bob, zip_file, settings):
    settings.QUEUE_LIMIT = 0
    answer = unpack(bob, zip_file, HTMX)
    assert answer.status_code == 413
    assert "queue is full" in answer.content.decode()
    assert not Folder.objects.exclude(parent=None).exists()


def test_the_folder_stays_in_the_order_in_which_the_person_sorted_it(bob, account, zip_file):
    a_file(account, "b.txt")
    bob.client.get("/?sort=-size")
    shown = page(unpack(bob, zip_file, {**HTMX, "HX-Current-URL": "http://localhost/"}))
    assert shown.select_one("th.c-size")["aria-sort"] == "descending"
