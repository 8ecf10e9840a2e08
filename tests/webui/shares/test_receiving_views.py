"""Links by which people without an account send files."""

from io import BytesIO

import pytest
from django.utils import timezone

from common.http.multipart import Part
from tests.cases import each_case
from tests.contract.speaking import torrent
from tests.people import page, words
from tests.webui.shares.linked import make_link, stranger
from webui.models import Activity, HeldBytes, Share
from webui.shares.links import HELD_FOR, hold_bytes
from webui.shares.views.receiving import LEAST_BYTES, ArrivingFile, is_torrent
from webui.uploads.receiving import UploadRefused

pytestmark = pytest.mark.django_db
SCRIPT = {"x-requested-with": "ferry"}


@pytest.fixture
def inbox(storage):
    folder = storage.folder("Inbox")
    storage.file("Secret.txt", b"no", folder.id)
    return folder


@pytest.fixture
def link(bob, inbox):
    return make_link(bob, inbox.id, purpose="send", most_gb="1")


@pytest.fixture
def ida():
    return stranger()


def file(name="a.txt", content=b"hello"):
    content = BytesIO(content)
    content.name = name
    return content


def names_in(storage, folder):
    return {each.name for each in storage.fake.items.values() if each.parent == folder.id}


def send(person, link, *files, **headers):
    return person.post(f"{link}send/", {"file": [*files]}, headers=headers)


def test_the_page_shows_nothing_of_the_folder(link, ida):
    answer = ida.get(link, follow=True)
    assert words(answer, "h1") == "Send files to “Inbox”"
    assert b"Secret" not in answer.content
    assert page(answer).select_one(".drop-area input[type=file]")
    assert page(answer).select_one(".drop")


def test_files_arrive_and_the_activity_names_them(link, ida, storage, inbox):
    answer = send(ida, link, file("a.txt"), file("b.txt"))
    assert words(answer, "main [role=status]") == "2 files sent. Thank you."
    assert words(answer, "#sent") == "a.txt b.txt"
    assert names_in(storage, inbox) == {"Secret.txt", "a.txt", "b.txt"}
    event = Activity.objects.filter(kind="file_received").first()
    assert (event.person, event.subject) == ("bob", "a.txt")


def test_the_form_of_the_page_sends_files_without_scripts(link, storage, inbox):
    ida = stranger()
    ida.handler.enforce_csrf_checks = True
    form = page(ida.get(link, follow=True)).select_one("main form[enctype='multipart/form-data']")
    token = form.select_one("[name=csrfmiddlewaretoken]")["value"]
    field = form.select_one("input[type=file][multiple]")["name"]
    fields = {"csrfmiddlewaretoken": token, field: [file("a.jpg"), file("b.jpg"), file("c.jpg")]}
    answer = ida.post(form["action"], fields)
    assert "3 files sent" in words(answer, "main [role=status]")
    assert names_in(storage, inbox) == {"Secret.txt", "a.jpg", "b.jpg", "c.jpg"}


def test_search_engines_do_not_list_the_link(link, ida):
    answers = [ida.get(link), ida.get(f"{link}send/"), send(ida, link, file("Secret.txt"))]
    answers += [ida.get("/s/guess/"), ida.get("/s/guess/send/"), ida.get("/s/guess/7/x.mkv")]
    assert [each["X-Robots-Tag"] for each in answers] == ["noindex"] * 6


def test_a_script_gets_the_name_it_sent(link, ida, storage, inbox):
    answer = send(ida, link, file("Secret.txt"), **SCRIPT, **{"x-file-size": "5"})
    assert answer.json() == {"ok": True, "name": "Secret.txt"}


@pytest.mark.parametrize("headers", [{}, {"x-file-size": str(len(torrent()))}])
def test_a_torrent_is_kept_as_a_file(link, ida, storage, inbox, headers):
    assert send(ida, link, file("holiday.jpg", torrent()), **SCRIPT, **headers).json()["ok"]
    assert names_in(storage, inbox) == {"Secret.txt", "holiday.jpg"}
    assert [each.hash for each in storage.fake.transfers.values()] == [""]


@pytest.mark.parametrize("headers", [{}, {"x-file-size": str(len(torrent()))}])
def test_a_foreign_service_gets_no_torrents(bob, foreign, headers):
    link = make_link(bob, purpose="send")
    answer = send(stranger(), link, file("holiday.jpg", torrent()), **SCRIPT, **headers)
    assert "can't receive torrent files" in answer.json()["reason"]
    assert not foreign.fake.transfers
    assert Share.objects.get().received_bytes == 0


def test_a_foreign_service_gets_texts_that_begin_like_torrents(bob, foreign):
    link = make_link(bob, purpose="send")
    ida, text = stranger(), b"d10: the rules of a die with ten sides"
    assert send(ida, link, file("dice.txt", text), **SCRIPT).json()["ok"]
    headers = {"x-file-size": str(len(text))}
    assert send(ida, link, file("dice 2.txt", text), **SCRIPT, **headers).json()["ok"]
    assert {each.content for each in foreign.fake.items.values() if each.content} == {text}


@each_case(
    ("name", "head", "is_one"),
    [
        ("a.jpg", b"d8:announce30:http", True),
        ("a.jpg", b"d4:infod6:length", True),
        ("a.jpg", b"d0:0:4:info", True),
        ("a.jpg", b"d008:announce2:ab", True),
        ("a.jpg", b"d13:creation datei17e", True),
        ("a.jpg", b"d9000:" + b"x" * 4000, True),
        ("A.TORRENT", b"hello", True),
        ("a.txt", b"d1: rest", False),
        ("a.txt", b"dear", False),
        ("a.txt", b"", False),
    ],
)
def test_a_torrent_is_known_by_its_name_or_its_beginning(name, head, is_one):
    assert is_torrent(name, head) is is_one


def test_nothing_else_of_the_site_opens(link, ida, inbox):
    for path in (f"files/{inbox.id}/", f"files/folder/{inbox.id}/zip/", "files/0/"):
        answer = ida.get(link + path)
        assert answer.status_code == 302
        assert answer["Location"].endswith("/send/")


def test_the_limit_counts_all_files_and_not_those_that_fail(link, ida, storage, inbox):
    Share.objects.update(most_bytes=LEAST_BYTES)
    assert send(ida, link, file()).status_code == 200
    refused = send(ida, link, file("b.txt"))
    assert refused.status_code == 422
    assert "can't receive that much" in words(refused, "#refusal")
    storage.fails("/rest/file", 500)
    storage.fails("/rest/transfer/file", 500)
    Share.objects.update(received_bytes=0)
    assert send(ida, link, file("c.txt")).status_code == 422
    assert Share.objects.get().received_bytes == 0


def test_too_large_a_file_is_refused_before_it_is_read(link, ida, storage, inbox, monkeypatch):
    # It would have been read, and kept on our disk.
    monkeypatch.setattr("webui.uploads.receiving.files_in", lambda *_: pytest.fail("read"))
    Share.objects.update(most_bytes=10)
    huge = BytesIO(b"x" * 100_000)
    huge.name = "huge.bin"
    assert "can't receive that much" in words(send(ida, link, huge), "#refusal")


def arriving(pieces):
    return ArrivingFile(Share.objects.get(), Part("file", True, "slow.bin", iter(pieces)))


def read(part, size_bytes):
    while size_bytes > 0 and (piece := part.read(size_bytes)):
        size_bytes -= len(piece)


def test_a_sender_who_drips_holds_no_more_than_a_step_ahead(link, ida, storage, inbox):
    Share.objects.update(most_bytes=8 * LEAST_BYTES)
    slow = arriving([b"x", bytes(LEAST_BYTES), bytes(LEAST_BYTES), bytes(LEAST_BYTES)])
    with slow.hold():
        read(slow.part, 1)
        assert send(ida, link, file("b.txt", bytes(5 * LEAST_BYTES))).status_code == 200
        assert send(ida, link, file("c.txt", bytes(2 * LEAST_BYTES))).status_code == 422
        read(slow.part, LEAST_BYTES)
        read(slow.part, LEAST_BYTES)
        with pytest.raises(UploadRefused):
            read(slow.part, LEAST_BYTES)


def test_a_file_that_fails_holds_nothing_afterward(link, inbox):
    broken = arriving([b"x"])
    with pytest.raises(ConnectionResetError), broken.hold():
        raise ConnectionResetError
    assert not HeldBytes.objects.exists()
    assert Share.objects.get().received_bytes == 0


def test_a_slow_sender_keeps_what_it_holds(link, ida, inbox, monkeypatch):
    Share.objects.update(most_bytes=5 * LEAST_BYTES)
    slow, now = arriving([b"x", b"y"]), timezone.now()
    with slow.hold():
        read(slow.part, 1)
        # No sender keeps a test waiting for a minute.
        monkeypatch.setattr(timezone, "now", lambda: now + 0.7 * HELD_FOR)
        read(slow.part, 1)
        monkeypatch.setattr(timezone, "now", lambda: now + 1.4 * HELD_FOR)
        # It holds two as before, and neither more nor less.
        assert send(ida, link, file("b.bin", bytes(3 * LEAST_BYTES - 4096))).status_code == 200
        assert send(ida, link, file("c.txt")).status_code == 422


def test_a_process_that_was_killed_holds_nothing_for_long(link, ida, storage, inbox):
    Share.objects.update(most_bytes=LEAST_BYTES)
    held = HeldBytes(share=Share.objects.get(), size_bytes=LEAST_BYTES)
    assert hold_bytes(held, timezone.now() - 0.9 * HELD_FOR)
    assert send(ida, link, file()).status_code == 422
    assert hold_bytes(held, timezone.now() - 1.1 * HELD_FOR)
    assert send(ida, link, file()).status_code == 200


def test_a_link_that_is_revoked_receives_no_more(link, ida, inbox):
    file = arriving([b"x", bytes(3 * LEAST_BYTES), b"y"])
    with file.hold():
        read(file.part, 1)
        Share.objects.all().delete()
        with pytest.raises(UploadRefused):
            read(file.part, 3 * LEAST_BYTES)


def test_empty_files_count_too(link, ida, storage, inbox):
    Share.objects.update(most_bytes=3 * LEAST_BYTES)
    answers = [send(ida, link, file(f"{number}.txt")).status_code for number in range(4)]
    assert answers == [200, 200, 200, 422]


@pytest.mark.parametrize("failure", [(507, "no_space"), (409, "name_taken"), (401, "")])
def test_strangers_learn_nothing_about_the_service(link, ida, storage, inbox, failure):
    for path in ("/rest/file", "/rest/transfer/file"):
        storage.fails(path, *failure)
    answer = send(ida, link, file())
    assert "Ferry couldn't save this file" in words(answer, "#refusal")
    assert Share.objects.get().received_bytes == 0


@pytest.mark.parametrize("name", ["..", "a\x01b", "x" * 300])
def test_names_that_no_folder_takes_are_refused(link, ida, storage, inbox, name):
    send(ida, link, file(name))
    assert names_in(storage, inbox) == {"Secret.txt"}


def test_a_form_of_another_site_is_refused(link, storage, inbox):
    forger = stranger()
    forger.handler.enforce_csrf_checks = True
    assert send(forger, link, file()).status_code == 422
    assert names_in(storage, inbox) == {"Secret.txt"}


def test_a_link_that_shows_files_accepts_no_uploads(bob, inbox, ida, storage):
    link = make_link(bob, inbox.id)
    assert send(ida, link, file()).status_code == 302
    assert names_in(storage, inbox) == {"Secret.txt"}


def test_a_password_protects_the_page(bob, inbox, ida, storage):
    link = make_link(bob, inbox.id, purpose="send", password="tern")
    assert send(ida, link, file()).status_code == 302
    assert names_in(storage, inbox) == {"Secret.txt"}
    ida.post(link, {"password": "tern"})
    assert send(ida, link, file()).status_code == 200


def test_it_ends_when_its_maker_may_no_longer_add(link, bob, ida, storage, inbox):
    bob.user.role = "guest"
    bob.user.save()
    assert send(ida, link, file()).status_code == 302
    assert ida.get(link).status_code == 404
    assert names_in(storage, inbox) == {"Secret.txt"}
