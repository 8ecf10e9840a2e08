"""Uploads: checked by their headers, then streamed to the service."""

import io
import json
import os

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client

from common.http import multipart
from common.http.multipart import Part
from tests.cases import each_case
from tests.contract.fake import SPACE
from tests.people import page, words
from webui.connection import connection
from webui.http.bodies import CutOff, Exactly, parts_of
from webui.v1.dialect import Dialect

pytestmark = pytest.mark.django_db
SCRIPT = {"x-requested-with": "ferry"}
BOUNDARY = "harbour"
KIND = f"multipart/form-data; boundary={BOUNDARY}"


class Untouchable(io.RawIOBase):
    """A body that must not be read."""

    def read(self, *_size):
        raise AssertionError("the body was read")

    readinto = readline = read


class Full:
    free = 0


class Filling(io.BytesIO):
    """A body that arrives while other programs fill the disk."""

    def __init__(self, content, monkeypatch):
        super().__init__(content)
        self._monkeypatch = monkeypatch

    def read(self, size=-1):
        if self.tell():
            # No test can fill the disk.
            self._monkeypatch.setattr(
                "webui.uploads.receiving.shutil.disk_usage", lambda _path: Full
            )
        return super().read(min(size, 1000))


def body_of(*files, fields=(), end=True):
    lines = []
    for name, value in fields:
        lines.append(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        )
    for name, content in files:
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        lines.append(f"--{BOUNDARY}\r\n{head}\r\nContent-Type: text/plain\r\n\r\n{content}\r\n")
    return ("".join(lines) + (f"--{BOUNDARY}--\r\n" if end else "")).encode()


def send(client, body, path="/files/0/upload/", length=None, **headers):
    """Post `body`, which may be shorter than `length`, as when a phone goes to sleep."""
    payload = io.BytesIO(body) if isinstance(body, bytes) else body
    extra = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    return client.generic(
        "POST",
        path,
        b"",
        **{
            "CONTENT_TYPE": KIND,
            "wsgi.input": payload,
            "CONTENT_LENGTH": str(len(body) if length is None else length),
            **extra,
        },
    )


def content_of(storage, name):
    return next(item.content for item in storage.fake.items.values() if item.name == name)


def upload(person, name, content, **headers):
    headers = {"x_requested_with": "ferry", **headers}
    return send(person.client, body_of((name, content)), **headers)


def test_a_script_sends_one_file(bob, storage):
    answer = upload(bob, "a.txt", "hello", x_file_size="5")
    assert json.loads(answer.content) == {"ok": True, "name": "a.txt"}
    assert content_of(storage, "a.txt") == b"hello"
    assert page(bob.client.get("/")).select_one(".entry-name[title='a.txt']")


def test_a_file_lands_in_the_folder_that_is_open(bob, storage):
    films = storage.folder("Films")
    send(bob.client, body_of(("a.txt", "x")), path=f"/files/{films.id}/upload/")
    assert next(i.parent for i in storage.fake.items.values() if i.name == "a.txt") == films.id


def test_a_foreign_service_takes_no_folder_and_the_page_says_so_before(bob, foreign):
    films = foreign.folder("Films")
    shown = bob.client.get(f"/files/{films.id}/upload/")
    assert "this service doesn't accept a folder" in words(shown, "main")
    assert page(bob.client.get(f"/files/{films.id}/")).select_one("dialog#upload-note")
    send(bob.client, body_of(("a.txt", "x")), path=f"/files/{films.id}/upload/")
    assert next(i.parent for i in foreign.fake.items.values() if i.name == "a.txt") != films.id


def test_at_another_ferry_a_file_lands_where_it_was_dropped(bob, foreign):
    foreign.fake.keeps_folder_id = True
    films = foreign.folder("Films")
    shown = bob.client.get(f"/files/{films.id}/upload/")
    assert "this service doesn't accept a folder" not in words(shown, "main")
    assert not page(bob.client.get(f"/files/{films.id}/")).select_one("dialog#upload-note")
    send(bob.client, body_of(("a.txt", "x")), path=f"/files/{films.id}/upload/")
    assert next(i.parent for i in foreign.fake.items.values() if i.name == "a.txt") == films.id


def ways_to_upload_a_folder(person, path):
    shown = page(person.client.get(path))
    assert shown.select_one("#uploads").has_attr("data-here") == bool(
        shown.select("[data-upload=folder]")
    )
    return [
        each
        for each in shown.select("[data-upload=folder]")
        if each.find_parent(class_="menu") is None
    ]


def test_a_folder_is_uploaded_beside_files_by_scripts_alone(bob, gwen, storage):
    films = storage.folder("Films")
    for path in ("/", f"/files/{films.id}/"):
        (button,) = ways_to_upload_a_folder(bob, path)
        assert button.find_parent(id="acts" if path == "/" else "listing")
        assert "scripted" in button["class"]
        shown = page(bob.client.get(path))
        assert (
            "scripted"
            in shown.select_one("#folder-menu [data-upload=folder]").find_parent("li")["class"]
        )
    assert not page(gwen.client.get("/")).select("[data-upload]")


def test_the_first_screen_offers_to_choose_a_folder(bob, storage):
    (link,) = ways_to_upload_a_folder(bob, "/")
    assert link.find_parent(class_="first")
    assert "scripted" in link.parent["class"]


def test_a_service_that_takes_no_folder_is_offered_none(bob, foreign):
    films = foreign.folder("Films")
    for path in ("/", f"/files/{films.id}/"):
        assert ways_to_upload_a_folder(bob, path) == []


def test_all_processes_share_what_one_learned_about_a_service(bob, foreign):
    """The process that receives an upload may not be the one that read the listing."""
    films = foreign.folder("Films")
    bob.client.get(f"/files/{films.id}/")
    foreign.fake.keeps_folder_id = True
    connection.save_dialect(foreign.service.key, Dialect(folder_id="kept"))
    send(bob.client, body_of(("a.txt", "x")), path=f"/files/{films.id}/upload/")
    assert next(i.parent for i in foreign.fake.items.values() if i.name == "a.txt") == films.id


def test_a_plain_form_sends_several(bob, storage):
    body = body_of(("a.txt", "1"), ("b.txt", "22"), ("", ""))
    answer = send(bob.client, body)
    assert answer.status_code == 302
    assert content_of(storage, "b.txt") == b"22"
    assert "2 files uploaded" in words(bob.client.get("/"), "#toasts")


def test_a_form_without_a_file_says_what_to_do(bob, storage):
    answer = send(bob.client, body_of(("", "")))
    assert answer["Location"] == "/files/0/upload/"
    answer = send(bob.client, body_of(("", "")), x_requested_with="ferry")
    assert answer.status_code == 422


@each_case("size", ["4", "6", "0", "99999999999"])
def test_a_size_that_is_not_true_keeps_nothing(bob, storage, size):
    answer = upload(bob, "a.txt", "hello", x_file_size=size)
    assert answer.status_code >= 400
    assert json.loads(answer.content)["ok"] is False
    assert len(storage.fake.items) == 1


@each_case("headers", [{}, {"x_file_size": "100000"}])
def test_an_upload_that_breaks_off_keeps_nothing(bob, storage, headers):
    body = body_of(("a.txt", "x" * 100_000), end=False)[:60_000]
    answer = send(bob.client, body, length=200_000, x_requested_with="ferry", **headers)
    assert answer.status_code >= 400
    assert len(storage.fake.items) == 1
    assert list((settings.DATA_DIR / "uploads").glob("*")) == []


def test_an_upload_that_breaks_off_says_which_files_had_arrived(bob, storage):
    body = body_of(("a.txt", "x"), ("b.txt", "x" * 100_000), end=False)[:60_000]
    answer = send(bob.client, body, length=200_000, x_requested_with="ferry")
    assert content_of(storage, "a.txt") == b"x"
    assert "Ferry saved 1 file that had already arrived." in json.loads(answer.content)["reason"]


@each_case("name", ["..", "a\\nb", "x" * 300])
def test_a_bad_name_is_refused_with_an_explanation(bob, storage, name):
    answer = upload(bob, name.replace("\\n", "\x01"), "x")
    assert answer.status_code == 422
    assert json.loads(answer.content)["reason"]
    assert len(storage.fake.items) == 1


def test_a_path_becomes_a_name(bob, storage):
    upload(bob, "C:\\fakepath\\..\\a.txt", "x")
    assert content_of(storage, "a.txt") == b"x"


def test_the_service_reports_a_lack_of_space_too(bob, storage):
    storage.fails("/rest/transfer/file", 413, "not_enough_space")
    answer = upload(bob, "a.txt", "x")
    assert answer.status_code == 413
    assert "enough space" in json.loads(answer.content)["reason"]


# Checks before the body is read


def test_a_stranger_and_a_guest_are_refused_unread(gwen, mallory, storage):
    assert send(mallory, Untouchable(), length=10**9).status_code == 302
    assert send(gwen.client, Untouchable(), length=10**9).status_code == 403


def test_a_forged_upload_is_refused_unread(bob, storage):
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(bob.user)
    answer = send(
        browser, Untouchable(), length=10**6, x_csrftoken="guess", x_requested_with="ferry"
    )
    assert answer.status_code == 403
    assert json.loads(answer.content)["ok"] is False


def test_a_token_in_the_header_is_accepted(bob, storage):
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(bob.user)
    browser.get("/account/")
    token = browser.cookies["ferry_csrf_8000"].value
    body = body_of(("a.txt", "x"))
    assert send(browser, body, x_csrftoken=token, x_requested_with="ferry").status_code == 200
    evil = {"origin": "https://evil.example", "x_csrftoken": token}
    assert send(browser, Untouchable(), length=10**6, **evil).status_code == 403


def test_a_token_of_a_plain_form_is_read_before_its_files(bob, storage):
    browser = Client(headers={"host": "localhost:8000"}, enforce_csrf_checks=True)
    browser.force_login(bob.user)
    form = page(browser.get("/files/0/upload/"))
    token = form.select_one("main [name=csrfmiddlewaretoken]")["value"]
    ours = [("csrfmiddlewaretoken", token)]
    assert send(browser, body_of(("a.txt", "x"), fields=ours)).status_code == 302
    assert content_of(storage, "a.txt") == b"x"
    for fields in ([], [("csrfmiddlewaretoken", "guess")]):
        assert send(browser, body_of(("b.txt", "x"), fields=fields)).status_code == 403
    assert len(storage.fake.items) == 2


def test_an_upload_that_does_not_fit_is_refused_unread(bob, storage):
    bob.client.get("/")
    answer = send(bob.client, Untouchable(), length=2 * SPACE, x_requested_with="ferry")
    assert answer.status_code == 413
    assert "1 GB" in json.loads(answer.content)["reason"]


@each_case("path", ["/files/0/upload/", "/transfers/send/"])
def test_a_size_check_without_the_file_says_whether_it_fits(bob, storage, path):
    bob.client.get("/")
    headers = {"x_requested_with": "ferry", "path": path}
    answer = send(bob.client, body_of(), x_file_size=str(2 * SPACE), **headers)
    assert answer.status_code == 413
    assert "1 GB" in json.loads(answer.content)["reason"]
    answer = send(bob.client, body_of(), x_file_size="9", **headers)
    assert json.loads(answer.content)["ok"] is False
    assert len(storage.fake.items) == 1


@each_case("length", ["", "-1", "1e9", "many"])
def test_without_a_length_it_is_refused_unread(bob, storage, length):
    answer = send(bob.client, Untouchable(), length=length, x_requested_with="ferry")
    assert answer.status_code == 411


def test_malformed_multipart_bodies_are_refused(bob, storage):
    answer = bob.client.generic("POST", "/files/0/upload/", b"x=1", content_type="text/plain")
    assert answer.status_code == 302
    assert len(storage.fake.items) == 1


# Parts


class Endless:
    """A large multipart body, made while it is read; `left` says how much remains."""

    def __init__(self, size):
        head, tail = body_of(("a", "")).split(b"\r\n\r\n\r\n")
        self.head, self.left, self.tail = head + b"\r\n\r\n", size, b"\r\n" + tail
        self.length = len(self.head) + size + len(self.tail)

    def read(self, size=-1):
        if self.head:
            piece, self.head = self.head, b""
        elif self.left:
            piece = b"x" * min(size, self.left)
            self.left -= len(piece)
        else:
            piece, self.tail = self.tail, b""
        return piece

    readline = read


def request_of(stream, length):
    return WSGIRequest(
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": KIND,
            "CONTENT_LENGTH": str(length),
            "wsgi.input": stream,
        }
    )


def test_a_part_is_read_as_it_comes():
    body = Endless(10 * 2**30)
    part = next(parts_of(request_of(body, body.length), body.length))
    assert part.file_name == "a"
    assert len(part.read(65536)) <= 65536
    assert body.left > 10 * 2**30 - 8 * multipart.PIECE_BYTES


@each_case("size", [0, 1, 65535, 65536, 300_000, 1_000_000])
def test_every_byte_arrives(size):
    content = os.urandom(size).hex()[:size]
    body = body_of(("a", content), ("b", "two"), fields=[("one", "1")])
    found = []
    for part in parts_of(request_of(io.BytesIO(body), len(body)), len(body)):
        value = b""
        while piece := part.read(10_000):
            value += piece
        found.append((part.name, part.file_name, value.decode()))
    assert found == [("one", "", "1"), ("file", "a", content), ("file", "b", "two")]


@each_case("size", [3, 5])
def test_a_part_of_an_unexpected_size_is_cut_off_before_its_end(size):
    part = Exactly(Part("file", True, "a", iter([b"ab", b"cd"])), size)
    with pytest.raises(CutOff):
        list(iter(lambda: part.read(2), b""))


def test_a_plain_form_stops_when_the_disk_is_nearly_full(bob, storage, monkeypatch):
    body = body_of(("a.txt", "x" * 5000))
    answer = send(
        bob.client, Filling(body, monkeypatch), length=len(body), x_requested_with="ferry"
    )
    assert answer.status_code == 507
    assert "disk doesn't have enough space" in answer.json()["reason"]
    assert "a.txt" not in [item.name for item in storage.fake.items.values()]
