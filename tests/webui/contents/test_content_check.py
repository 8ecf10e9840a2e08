"""A service that sends something else than the file: explained, and never saved as the file."""

import io
import time
import zipfile

import httpx
import pytest

from tests.cases import each_case
from tests.people import page, words
from tests.webui.contents.test_relayed_files import Reader, leave
from webui.contents.content_check import what_came

pytestmark = pytest.mark.django_db
HTML = b"<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>"
JSON = b'{"status": "maintenance"}'


def instead(content, kind="application/octet-stream", *, tells_length=True, status=200):
    """Return a function that makes the answer which the fake sends instead of any file."""

    def answer():
        headers = {"content-type": kind}
        if tells_length:
            headers["content-length"] = str(len(content))
        pieces = [content[at : at + 65_536] for at in range(0, len(content), 65_536)]
        return httpx.Response(status, headers=headers, stream=Reader(*pieces))

    return answer


WRONG = {
    "a page": (HTML, "text/html"),
    "a page that calls itself the file": (HTML, "application/octet-stream"),
    "a page behind a comment": (b"\n<!-- cached -->\n" + HTML, "text/html; charset=utf-8"),
    "JSON": (JSON, "application/json"),
    "a list in JSON": (b'[{"id": 7}]', "application/json"),
    "nothing": (b"", "application/octet-stream"),
    "half of it": (b"\x1a\x45\xdf", "application/octet-stream"),
}


@pytest.fixture(params=["by itself", "by a link"])
def silent(request, foreign):
    """A service that sends content itself or by a link, and never signals an error."""
    foreign.fake.sends_content = request.param == "by itself"
    return foreign


def download(person, file, folder="0"):
    return person.client.get(f"/files/file/{file.id}/download/?in={folder}")


def assert_explained(answer):
    assert answer.status_code == 502
    assert "Content-Disposition" not in answer
    assert "didn't send this file" in words(answer, "h1")
    assert "Ferry saved nothing" in page(answer).get_text()


@pytest.mark.slow
@each_case("wrong", WRONG)
@each_case("tells_length", [True, False])
@each_case("name", ["film.mkv", "notes.txt", "page.html", "data.json", "README"])
def test_a_download_that_is_not_the_listed_file_is_explained(
    gwen, foreign, wrong, tells_length, name
):
    foreign.renew()
    foreign.fake.sends_content = True
    file = foreign.file(name, b"x" * 500)
    gwen.client.get("/")
    foreign.fake.instead = instead(*WRONG[wrong], tells_length=tells_length)
    assert_explained(download(gwen, file))


@each_case("wrong", [wrong for wrong in WRONG if wrong != "half of it"])
def test_a_film_of_unknown_size_is_checked_by_its_first_bytes(gwen, foreign, wrong):
    foreign.renew()
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv")
    file.facts["size"] = None
    foreign.fake.instead = instead(*WRONG[wrong], tells_length=False)
    assert_explained(download(gwen, file))


@each_case(
    ("name", "content", "kind"),
    [
        ("page.html", HTML, "text/html"),
        ("notes.txt", HTML, "text/plain"),
        ("notes.md", HTML, "text/html"),
        ("data.json", JSON, "application/json"),
        ("notes.txt", JSON, "application/octet-stream"),
        ("empty.txt", b"", "text/plain"),
        ("drawing.svg", b"<?xml version='1.0'?><svg/>", "image/svg+xml"),
    ],
)
@each_case("is_told", [True, False])
def test_a_file_that_is_what_it_should_be_is_sent(gwen, foreign, name, content, *, kind, is_told):
    foreign.renew()
    foreign.fake.sends_content = True
    file = foreign.file(name, content)
    if not is_told:
        file.facts["size"] = None
    foreign.fake.instead = instead(content, kind, tells_length=is_told)
    answer = download(gwen, file)
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == content
    leave(answer)


def test_a_listed_picture_that_is_really_a_page_can_still_be_downloaded(gwen, foreign):
    foreign.fake.sends_content = True
    file = foreign.file("photo.jpg", HTML)
    answer = download(gwen, file)
    assert b"".join(answer.streaming_content) == HTML
    leave(answer)


def test_a_range_is_compared_with_the_size_of_the_whole(gwen, foreign):
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv", b"0123456789")

    def request_part(of):
        headers = {"content-range": f"bytes 5-9/{of}"}
        foreign.fake.instead = lambda: httpx.Response(206, headers=headers, content=b"56789")
        address = f"/files/file/{file.id}/download/?in=0"
        return gwen.client.get(address, headers={"range": "bytes=5-"})

    answer = request_part(of=10)
    assert b"".join(answer.streaming_content) == b"56789"
    leave(answer)
    assert_explained(request_part(of=57))


def test_a_head_is_compared_with_the_listed_size(gwen, foreign):
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv", b"0123456789")
    address = f"/files/file/{file.id}/download/?in=0"
    foreign.fake.instead = lambda: httpx.Response(200, headers={"content-length": "10"})
    assert gwen.client.head(address).status_code == 200
    foreign.fake.instead = lambda: httpx.Response(200, headers={"content-length": "57"})
    assert gwen.client.head(address).status_code == 502


@each_case(("sent", "is_whole"), [(100_000, True), (99_999, False), (100_001, False)])
def test_a_stream_without_a_length_is_held_to_the_listed_one(gwen, foreign, sent, is_whole):
    foreign.renew()
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv", b"\x1a" * 100_000)
    foreign.fake.instead = instead(b"\x1a" * sent, tells_length=False)
    answer = download(gwen, file)
    if is_whole:
        assert len(b"".join(answer.streaming_content)) == sent
    else:
        with pytest.raises(ConnectionResetError):
            b"".join(answer.streaming_content)
    leave(answer)


def test_trying_again_reads_a_listing_that_may_be_older_than_the_file(gwen, foreign):
    foreign.fake.sends_content = True
    file = foreign.file("notes.bin", b"old")
    gwen.client.get("/")
    file.content = b"newer"
    foreign.fake.revision += 1
    assert_explained(download(gwen, file))
    answer = download(gwen, file)
    assert b"".join(answer.streaming_content) == b"newer"
    leave(answer)


@each_case(
    ("body", "status", "said"),
    [
        ('{"result": "out_of_bandwidth_memory"}', 413, "used up its traffic"),
        ('{"result": false, "code": 404, "error": "not_found"}', 404, "can't find this"),
        ('{"result": false, "error": "Moving your files"}', 502, "“Moving your files”"),
        ('{"result": false}', 502, "a message for programs"),
    ],
)
def test_a_refusal_in_place_of_a_file_is_shown_as_a_refusal(gwen, foreign, body, status, said):
    foreign.renew()
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv", b"x" * 500)
    foreign.fake.instead = lambda: httpx.Response(200, text=body)
    answer = download(gwen, file)
    assert answer.status_code == status
    assert said in page(answer).get_text()


@each_case("wrong", WRONG)
def test_a_zip_that_is_not_one_is_explained(bob, foreign, wrong):
    foreign.renew()
    foreign.fake.sends_content = True
    films = foreign.folder("Films")
    notes = foreign.file("notes.txt")
    foreign.file("third.txt")
    chosen = {"entry": [f"folder-{films.id}", f"file-{notes.id}"]}
    packed = bob.client.post("/files/0/zip/", chosen)["Location"]
    foreign.fake.instead = instead(*WRONG[wrong], tells_length=False)
    for address in (f"/files/folder/{films.id}/zip/", "/files/folder/0/zip/", f"{packed}download/"):
        assert_explained(bob.client.get(address))


def test_an_empty_zip_is_valid(gwen, foreign):
    foreign.fake.sends_content = True
    films = foreign.folder("Films")
    answer = gwen.client.get(f"/files/folder/{films.id}/zip/")
    content = b"".join(answer.streaming_content)
    leave(answer)
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == []


# Inside pages


@each_case("status", [404, 410])
def test_a_link_that_leads_nowhere_does_not_say_that_the_file_was_renamed(gwen, foreign, status):
    foreign.renew()
    file = foreign.file("photo.jpg")
    gwen.client.get("/")
    foreign.fake.instead = lambda: httpx.Response(status, html="<h1>Not found</h1>")
    answer = gwen.client.get(f"/files/file/{file.id}/raw/?in=0")
    assert answer.status_code == 502
    assert "doesn't work" in page(answer).get_text()
    assert "renamed" not in page(answer).get_text()


def test_a_file_full_of_comments_is_checked_at_once():
    start = time.process_time()
    assert what_came(b"<!---->" * 146 + b"x") == "sent_other"
    assert what_came(b"<!---->" * 100 + b"<html>") == "sent_page"
    assert time.process_time() - start < 0.5


def test_a_file_that_the_service_does_not_know_may_have_been_renamed(gwen, foreign):
    answer = gwen.client.get("/files/file/7/raw/?in=0")
    assert answer.status_code == 404
    assert "renamed" in page(answer).get_text()


def test_a_text_that_is_a_page_is_not_shown_as_the_file(gwen, silent):
    file = silent.file("notes.txt", b"x" * 500)
    silent.fake.instead = instead(HTML, "text/html")
    answer = gwen.client.get(f"/files/0/file-{file.id}/view/")
    assert "Sign in" not in page(answer).main.get_text()
    assert "didn't send this file" in page(answer).main.get_text()
    (again,) = page(answer).main.find_all("a", string="Try again")
    silent.fake.instead = instead(b"Bring the rope.".ljust(500), "text/plain")
    assert "Bring the rope." in page(gwen.client.get(again["href"])).main.get_text()


@each_case("address", ["raw", "pdf"])
def test_content_shown_in_a_page_is_checked_too(gwen, foreign, address):
    foreign.renew()
    file = foreign.file("book.pdf", b"%PDF" + b"x" * 500)
    gwen.client.get("/")
    foreign.fake.instead = instead(HTML, "text/html")
    assert_explained(gwen.client.get(f"/files/file/{file.id}/{address}/?in=0"))


def test_subtitles_that_are_a_page_are_not_called_a_file_without_subtitles(gwen, silent):
    film = silent.file("film.mkv")
    sub = silent.file("film.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHello\n")
    gwen.client.get("/")
    silent.fake.instead = instead(HTML, "text/html")
    assert_explained(gwen.client.get(f"/files/0/file-{film.id}/subtitles/{sub.id}.vtt"))


# Names


def name_of(answer):
    leave(answer)
    return answer["Content-Disposition"].partition('filename="')[2].partition('"')[0]


def test_content_is_saved_under_the_name_in_the_listing(gwen, foreign):
    foreign.fake.sends_content = True
    file = foreign.file("film.mkv")
    gwen.client.get("/")
    link = page(gwen.client.get(f"/files/0/file-{file.id}/view/")).select_one("[data-get]")
    # With this attribute, browsers would save a page of ours that explains what went wrong.
    assert not link.has_attr("download")
    assert name_of(gwen.client.get(link["href"])) == "film.mkv"


def test_an_unopened_folder_is_requested_for_its_name(gwen, foreign):
    foreign.fake.sends_content = True
    films = foreign.folder("Films")
    file = foreign.file("film.mkv", parent=films.id)
    assert name_of(download(gwen, file, films.id)) == "film.mkv"


def test_zips_are_named_after_their_contents(bob, foreign):
    foreign.fake.sends_content = True
    films = foreign.folder("Films")
    one, two = (foreign.file(f"{name}.mkv", parent=films.id) for name in ("one", "two"))
    foreign.file("third.mkv", parent=films.id)

    def packed(*files):
        chosen = {"entry": [f"file-{file.id}" for file in files]}
        shown = bob.client.post(f"/files/{films.id}/zip/", chosen)["Location"]
        return name_of(bob.client.get(f"{shown}download/"))

    assert name_of(bob.client.get(f"/files/folder/{films.id}/zip/")) == "Films.zip"
    assert name_of(bob.client.get("/files/folder/0/zip/")) == "Files.zip"
    assert packed(one, two) == "Films.zip"
    assert packed(one) == "one.zip"
