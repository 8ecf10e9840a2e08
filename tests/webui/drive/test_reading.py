"""What programs read from the drive, over our own service and over foreign ones."""

import hashlib
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from service.library import library
from service.models import File
from service.store.blobs import library_store
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, put
from tests.webui.drive.programs import D, Program, program_of
from webui.connection import connection
from webui.library.bounds import Bounds

pytestmark = pytest.mark.django_db
NAMES = ["a&b <c>.txt", "Ä + 50%.mkv", "#1; x?.txt", "e\u0301.txt", "日本 語.srt"]


@pytest.fixture
def films(own_service):
    folder = a_folder(own_service, "Films")
    a_file(own_service, "Film.mkv", folder=folder, blob=put(library_store(), b"a film"))
    a_folder(own_service, "Films/New")
    return folder


@pytest.fixture
def bobs(bob) -> Program:
    return program_of(bob.user)


def test_what_the_drive_can_do_is_said_to_everyone(db):
    answer = Client().options("/dav/", headers={"host": "localhost"})
    assert (answer.status_code, answer["DAV"], answer["MS-Author-Via"]) == (200, "1, 2", "DAV")
    assert {"PROPFIND", "LOCK", "PUT"} <= set(answer["Allow"].split(", "))
    assert "Content-Type" not in answer
    assert not answer.cookies


def test_folders_and_files_are_listed_with_their_facts(films, bobs):
    answer = bobs("PROPFIND", "Films", depth="1")
    assert answer.status == 207
    assert answer.headers["Content-Type"].startswith("application/xml")
    assert answer.paths == ["Films/", "Films/New/", "Films/Film.mkv"]
    film = answer.rows["/dav/Films/Film.mkv"]
    sha1 = hashlib.sha1(b"a film").hexdigest()
    assert film[f"{D}getcontentlength"] == "6"
    assert film[f"{D}getlastmodified"] == "Tue, 01 Sep 2026 12:00:00 GMT"
    assert film[f"{D}creationdate"] == "2026-09-01T12:00:00Z"
    assert film[f"{D}getetag"] == f'"{sha1}-6"'
    assert film[f"{D}getcontenttype"] == "video/x-matroska"
    assert film[f"{D}displayname"] == "Film.mkv"


def test_quota_and_checksum_come_if_they_are_asked_for(films, bobs):
    body = (
        '<propfind xmlns="DAV:" xmlns:oc="http://owncloud.org/ns"><prop><quota-used-bytes/>'
        "<quota-available-bytes/><oc:checksums/></prop></propfind>"
    )
    top = bobs("PROPFIND", "", body, depth="0").rows["/dav/"]
    assert top[f"{D}quota-used-bytes"] == "6"
    assert int(top[f"{D}quota-available-bytes"]) > 1000
    film = bobs("PROPFIND", "Films/Film.mkv", body, depth="0")
    assert f"SHA1:{hashlib.sha1(b'a film').hexdigest()}".encode() in film.content
    assert b"quota" not in bobs("PROPFIND", "", depth="0").content


def test_unknown_properties_stand_in_their_own_propstat(films, bobs):
    body = (
        '<propfind xmlns="DAV:"><prop><displayname/><x xmlns="http://a.example"/></prop></propfind>'
    )
    answer = bobs("PROPFIND", "Films/", body, depth="0")
    stats = ET.fromstring(answer.content).findall(f".//{D}propstat")
    assert [each.findtext(f"{D}status") for each in stats] == [
        "HTTP/1.1 200 OK",
        "HTTP/1.1 404 Not Found",
    ]
    assert stats[1].find(f"{D}prop/{{http://a.example}}x") is not None


def test_names_of_properties_come_without_values(films, bobs):
    answer = bobs("PROPFIND", "Films", '<propfind xmlns="DAV:"><propname/></propfind>', depth="0")
    assert not any(answer.rows["/dav/Films/"].values())


@each_case("depth", [{"depth": "0"}, {"depth": "1"}, {}])
def test_depth(depth, films, bobs):
    assert len(bobs("PROPFIND", "Films", **depth).rows) == (1 if depth.get("depth") == "0" else 3)


def test_endless_depth_is_refused_in_words_that_programs_know(films, bobs):
    answer = bobs("PROPFIND", "", depth="infinity")
    assert (answer.status, b"propfind-finite-depth" in answer.content) == (403, True)


def test_every_name_is_listed_and_found(own_service, bobs):
    for name in NAMES:
        a_file(own_service, name, blob=put(library_store(), name.encode()))
    answer = bobs("PROPFIND", "", depth="1")
    hrefs = [each.text[len("/dav/") :] for each in ET.fromstring(answer.content).iter(f"{D}href")]
    assert sorted(answer.paths[1:]) == sorted(NAMES)
    for href in hrefs[1:]:
        assert bobs.reads(href).decode() == unquote(href)


def test_a_name_is_found_however_its_accents_are_typed(own_service, bobs):
    a_file(own_service, "caf\u00e9.txt", blob=put(library_store(), b"x"))
    assert bobs.reads("cafe%CC%81.txt") == b"x"


@each_case(
    ("sent", "status", "content"),
    [("bytes=2-3", 206, b"fi"), ("bytes=-2", 206, b"lm"), ("bytes=9-", 416, b"")],
)
def test_ranges(sent, status, content, films, bobs):
    answer = bobs("GET", "Films/Film.mkv", range=sent)
    assert (answer.status, answer.content if status == 206 else b"") == (status, content)
    assert answer.headers["Content-Range"].endswith("/6")


def test_a_file_has_the_tag_that_its_folder_lists(films, bobs):
    head = bobs("HEAD", "Films/Film.mkv")
    listed = bobs("PROPFIND", "Films/Film.mkv", depth="0").rows["/dav/Films/Film.mkv"]
    assert (head.status, head.headers["Content-Length"], head.content) == (200, "6", b"")
    assert head.headers["ETag"] == listed[f"{D}getetag"]
    assert bobs("GET", "Films/Film.mkv", if_none_match=head.headers["ETag"]).status == 304


def test_no_browser_runs_what_the_drive_sends(own_service, bobs):
    a_file(own_service, "evil.html", blob=put(library_store(), b"<script>"))
    answer = bobs("GET", "evil.html")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_a_folder_sends_the_names_in_it(films, bobs):
    assert bobs.reads("Films/") == b"New/\nFilm.mkv\n"


@each_case("path", ["Films/Gone.mkv", "Gone/a.txt", "Films/Film.mkv/x", "Films/../Gone", "a" * 999])
def test_what_is_not_there_is_404(path, films, bobs):
    assert bobs("GET", path).status == 404
    assert bobs("PROPFIND", path, depth="0").status == 404


def test_a_long_list_streams_and_takes_no_more_queries_than_a_short_one(own_service, bobs):
    folder, stored = a_folder(own_service, "Pictures"), put(library_store(), b"x")
    queries = []
    for first, last in ((0, 10), (10, 1000)):
        rows = [library.file_row(folder, f"{n:05}.jpg", stored, NOW) for n in range(first, last)]
        File.objects.bulk_create(rows)
        library.rename_folder(own_service, folder.pk, f"Pictures {last}", NOW)
        with CaptureQueriesContext(connections["default"]) as captured:
            paths = bobs.lists(f"Pictures%20{last}")
        queries.append(len(captured))
        assert (len(paths), paths[-1]) == (last, f"Pictures {last}/{last - 1:05}.jpg")
    assert queries[1] <= queries[0]


# A token that is limited to a folder


def test_a_limited_token_sees_its_folder_and_nothing_else(films, bob, own_service):
    a_file(own_service, "Secret.txt", blob=put(library_store(), b"secret"))
    service = connection.service().key
    program = program_of(bob.user, Bounds(str(films.pk), "Films"), service)
    assert program.lists() == ["New/", "Film.mkv"]
    for path in (
        "Secret.txt",
        "../Secret.txt",
        "%2e%2e/Secret.txt",
        "Films/Film.mkv",
        "..%2FSecret.txt",
    ):
        assert program("GET", path).status == 404
    body = '<propfind xmlns="DAV:"><prop><quota-used-bytes/></prop></propfind>'
    assert program("PROPFIND", "", body, depth="0").rows["/dav/"] == {}
    assert b"Films" in program("PROPFIND", "", depth="0").content  # its own name


def test_a_limited_token_ends_with_its_folder(films, bob, own_service):
    program = program_of(bob.user, Bounds(str(films.pk), "Films"), connection.service().key)
    library.delete_folder(own_service, films.pk, NOW)
    assert program("PROPFIND", "", depth="1").status == 404


def test_a_limited_token_rests_while_another_service_is_connected(films, bob, foreign):
    program = program_of(bob.user, Bounds(str(films.pk), "Films"), "another")
    assert program("PROPFIND", "", depth="1").status == 403


# Foreign services


@pytest.fixture
def shelf(foreign):
    folder = foreign.folder("Films")
    foreign.file("Film.mkv", b"a film", folder.id)
    return folder


def without(*keys: str):
    """Return a change of the fake after which its listings lack these facts."""

    def change(fake) -> None:
        show = fake.listing
        fake.listing = lambda folder: shorter(show(folder))

    def shorter(facts: dict) -> dict:
        return {
            key: [shorter(row) for row in value] if key in ("folders", "files") else value
            for key, value in facts.items()
            if key not in keys
        }

    return change


def legacy(fake) -> None:
    """It also sends the bytes of files itself."""
    fake.sends_content = True
    without("path", "fullname", "parent", "folder_id", "thumb", "presentation_urls")(fake)


GENERATIONS = [legacy, without("parent_id", "code", "result")]


@each_case("generation", GENERATIONS)
def test_a_foreign_service_of_each_generation_is_read(generation, bob, foreign):
    generation(foreign.fake)
    bobs, folder = program_of(bob.user), foreign.folder("Films & more")
    foreign.file("Ä 1.mkv", b"a film", folder.id)
    foreign.folder("New", folder.id)
    answer = bobs("PROPFIND", "Films%20%26%20more", depth="1")
    assert answer.paths == ["Films & more/", "Films & more/New/", "Films & more/Ä 1.mkv"]
    film = answer.rows["/dav/Films & more/Ä 1.mkv"]
    assert film[f"{D}getcontentlength"] == "6"
    assert film[f"{D}getlastmodified"] == "Tue, 01 Sep 2026 12:00:00 GMT"
    path = "Films%20%26%20more/%C3%84%201.mkv"
    head, part = bobs("HEAD", path), bobs("GET", path, range="bytes=2-3")
    assert (head.status, head.headers["Content-Length"], head.content) == (200, "6", b"")
    assert (part.status, part.content) == (206, b"fi")
    assert bobs.reads(path) == b"a film"
    assert bobs("PROPFIND", "Films%20%26%20more/Gone", depth="0").status == 404
    assert bobs("PROPFIND", "", depth="infinity").status == 403


def test_a_foreign_service_is_read(shelf, foreign, bobs):
    assert bobs.lists() == ["Films/"]
    assert bobs.lists("Films") == ["Films/Film.mkv"]
    assert bobs.reads("Films/Film.mkv") == b"a film"
    part = bobs("GET", "Films/Film.mkv", range="bytes=2-3")
    assert (part.status, part.content) == (206, b"fi")
    # Its tags aren't known before it sends the file.
    assert b"getetag" not in bobs("PROPFIND", "Films", depth="1").content


def test_names_of_a_foreign_service_that_no_path_can_hold_are_replaced(shelf, foreign, bobs):
    foreign.fake.items[shelf.id].name = "a/../b"
    foreign.fake.revision += 1
    (path,) = bobs.lists()
    assert path == "a_.._b/"
    assert bobs.lists(path) == ["a_.._b/Film.mkv"]


def test_names_that_a_foreign_service_has_twice_get_numbers(foreign, bobs):
    contents = [b"one", b"two", b"three"]
    items = [foreign.file(f"{number}.txt", content) for number, content in enumerate(contents)]
    for item in items[:2]:
        item.name = "a.txt"
    items[2].name = "a (2).txt"
    paths = bobs.lists()
    assert sorted(paths) == ["a (2) (2).txt", "a (2).txt", "a.txt"] or len(set(paths)) == 3
    assert sorted(bobs.reads(path.replace(" ", "%20")) for path in paths) == sorted(contents)


def test_names_of_a_foreign_service_that_differ_only_in_how_accents_are_typed(foreign, bobs):
    for name, content in (("one", b"one"), ("two", b"two")):
        foreign.file(name, content).name = {"one": "caf\u00e9", "two": "cafe\u0301"}[name]
    assert sorted(bobs.lists()) == ["cafe\u0301", "caf\u00e9"]
    assert (bobs.reads("caf%C3%A9"), bobs.reads("cafe%CC%81")) == (b"one", b"two")


def test_no_date_is_before_1970(foreign, bobs):
    """Finder fails on them."""
    foreign.file("old.txt").facts["last_update"] = "1903-12-17 10:35:00"
    row = bobs("PROPFIND", "", depth="1").rows["/dav/old.txt"]
    assert row[f"{D}getlastmodified"] == "Thu, 01 Jan 1970 00:00:00 GMT"
    assert row[f"{D}creationdate"] == "1970-01-01T00:00:00Z"


@each_case(("status", "expected"), [(500, 503), (403, 403), (429, 503), (401, 502)])
def test_failures_have_a_status_that_programs_know(status, expected, foreign, bobs):
    foreign.fails("/rest/folder", status, "broken")
    assert bobs("PROPFIND", "", depth="1").status == expected
