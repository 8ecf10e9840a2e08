"""What programs change on the drive, and what they can't."""

import hashlib
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from service.models import DeletedItem, File, Folder
from service.store.blobs import library_store
from tests.cases import each_case
from tests.people import make_person
from tests.service.builders import a_file, put
from tests.webui.drive.programs import Program, lock_body, lock_token, program_of
from webui.connection import connection
from webui.drive.views import DriveCall
from webui.library.bounds import Bounds
from webui.models import (
    Activity,
    DriveLock,
    DriveProperties,
    ResumableUpload,
    Role,
    Token,
    User,
    Watched,
)
from webui.tokens import tokens
from webui.uploads import new_files
from webui.v1.errors import NoRoom

pytestmark = pytest.mark.django_db
ETAG = f'"{hashlib.sha1(b"one").hexdigest()}-3"'
SET = '<propertyupdate xmlns="DAV:"><set><prop>{}</prop></set></propertyupdate>'


@pytest.fixture
def bobs(bob, own_service) -> Program:
    return program_of(bob.user)


def test_a_file_is_saved_read_and_replaced(bobs, own_service):
    assert bobs("PUT", "a.txt", b"one").status == 201
    assert bobs("PUT", "a.txt", b"another").status == 204
    assert (bobs.lists(), bobs.reads("a.txt")) == (["a.txt"], b"another")
    # What was replaced can be restored.
    assert DeletedItem.objects.get().name == "a.txt"


@each_case(
    ("path", "headers"), [("new.txt", {"if_none_match": "*"}), ("one.txt", {"if_match": ETAG})]
)
def test_of_two_files_under_one_condition_one_is_saved(path, headers, bobs, monkeypatch):
    bobs("PUT", "one.txt", b"one")
    add, statuses = new_files.add, []

    def add_second(*facts, **options):
        # The first upload is saved in the midst of the second, which no timing could ensure.
        monkeypatch.setattr("webui.drive.changes.new_files.add", add)
        statuses.append(bobs("PUT", path, b"first", **headers).status)
        return add(*facts, **options)

    # As above.
    monkeypatch.setattr("webui.drive.changes.new_files.add", add_second)
    statuses.append(bobs("PUT", path, b"late", **headers).status)
    assert statuses == [201 if path == "new.txt" else 204, 412]
    assert bobs.reads(path) == b"first"


def test_a_torrent_is_saved_like_any_other_file(bobs):
    content = b"d4:infod6:lengthi1e4:name1:a12:piece lengthi16384e6:pieces20:" + b"x" * 20 + b"ee"
    assert bobs("PUT", "a.torrent", content).status == 201
    assert bobs.reads("a.torrent") == content


@pytest.mark.slow
@each_case(
    ("method", "path", "headers", "status"),
    [
        ("PUT", "Gone/a.txt", {}, 409),
        ("PUT", "Films", {}, 405),
        ("PUT", "", {}, 405),
        ("PUT", "a.txt", {"content_range": "bytes 0-1/2"}, 400),
        ("PUT", "Film.mkv", {"if_none_match": "*"}, 412),
        ("PUT", "Film.mkv", {"if_match": '"other"'}, 412),
        ("PUT", "n" * 256, {}, 422),
        ("MKCOL", "Films", {}, 405),
        ("MKCOL", "Film.mkv", {}, 405),
        ("MKCOL", "Gone/New", {}, 409),
        ("DELETE", "Gone", {}, 404),
        ("DELETE", "", {}, 403),
        ("MOVE", "Films", {"destination": "http://localhost/dav/Films"}, 403),
        ("MOVE", "Films", {"destination": "http://localhost/dav/Films/In"}, 403),
        ("MOVE", "Films", {"destination": "http://elsewhere/dav/X"}, 502),
        ("MOVE", "Films", {"destination": "http://localhost/files/7"}, 502),
        ("MOVE", "Films", {"destination": "http://["}, 502),
        ("MOVE", "Films", {"destination": "/dav/Film.mkv#1"}, 502),
        ("COPY", "Films", {"destination": "/dav/Film.mkv?"}, 502),
        ("DELETE", "Film.mkv?1", {}, 400),
        ("PUT", "Film.mkv?1", {}, 400),
        ("MOVE", "Films", {}, 400),
        ("MOVE", "Film.mkv", {"destination": "http://localhost:8000/dav/x"}, 502),
        ("MOVE", "Film.mkv", {"destination": "http://localhost:x/dav/x"}, 502),
        ("MOVE", "Films", {"destination": "/dav/x", "depth": "0"}, 400),
        ("MOVE", "Films", {"destination": "/dav/x", "depth": "1"}, 400),
        ("COPY", "Films", {"destination": "/dav/x", "depth": "1"}, 400),
        ("DELETE", "Films", {"depth": "0"}, 400),
        ("LOCK", "Films", {"depth": "1"}, 400),
        ("MOVE", "Film.mkv", {"destination": "/dav/Gone/x"}, 409),
        ("COPY", "Film.mkv", {"destination": "/dav/Films", "overwrite": "F"}, 412),
        ("COPY", "Films/In.txt", {"destination": "/dav/Films"}, 403),
        ("PROPPATCH", "Gone", {}, 404),
        ("PROPPATCH", ".metadata_never_index", {}, 404),
        ("COPY", ".metadata_never_index", {"destination": "/dav/x"}, 404),
        ("DELETE", ".metadata_never_index", {}, 404),
        ("LOCK", "Gone/a.txt", {}, 409),
        ("POST", "", {}, 405),
    ],
)
def test_what_cannot_be_done_has_the_right_status(method, path, headers, status, bobs):
    bobs("MKCOL", "Films")
    bobs("PUT", "Films/In.txt", b"x")
    bobs("PUT", "Film.mkv", b"x")
    body = {"PROPPATCH": SET.format("<x/>"), "LOCK": lock_body()}.get(method, "")
    assert bobs(method, path, body, **headers).status == status
    assert sorted(bobs.lists()) == ["Film.mkv", "Films/"]


def test_folders_are_created_and_deleted(bobs):
    assert bobs("MKCOL", "Films/").status == 201
    assert bobs("MKCOL", "Films/New").status == 201
    assert bobs("MKCOL", "Other", "<x/>").status == 415
    assert bobs.lists("Films") == ["Films/New/"]
    assert bobs("DELETE", "Films/").status == 204
    assert bobs.lists() == []


def test_entries_move_and_get_other_names_in_one_step(bobs):
    bobs("MKCOL", "Films")
    bobs("PUT", "a.txt", b"a")
    ids = set(File.objects.values_list("pk", flat=True))
    assert bobs.moves("MOVE", "a.txt", "b.txt") == 201
    assert bobs.moves("MOVE", "b.txt", "Films/c.txt") == 201
    assert bobs.moves("MOVE", "Films", "Shelf") == 201
    assert bobs.lists("Shelf") == ["Shelf/c.txt"]
    assert set(File.objects.values_list("pk", flat=True)) == ids


@each_case(
    ("host", "destination"),
    [
        ("localhost", "http://localhost:80/dav/b.txt"),
        ("localhost:80", "http://localhost/dav/b.txt"),
        ("localhost", "https://localhost/dav/b.txt"),  # A proxy decrypted the connection.
        ("localhost", "https://localhost:443/dav/b.txt"),
        ("localhost:8000", "http://localhost:8000/dav/b.txt"),
        ("localhost", "http://LOCALHOST/dav/b.txt"),
        ("localhost", "http://any:secret@localhost/dav/b.txt"),
        ("localhost", "/dav/b.txt"),
    ],
)
def test_a_destination_is_here_however_its_host_is_written(host, destination, bobs):
    bobs("PUT", "a.txt", b"a")
    assert bobs("MOVE", "a.txt", host=host, destination=destination).status == 201
    assert bobs("DELETE", "b.txt").status == 204


@each_case("overwrite", ["T", "F"])
def test_a_file_that_is_in_the_way_is_replaced_if_the_program_says_so(overwrite, bobs):
    bobs("MKCOL", "Films")
    bobs("PUT", "a.txt", b"new")
    bobs("PUT", "Films/b.txt", b"old")
    status = bobs.moves("MOVE", "a.txt", "Films/b.txt", overwrite=overwrite)
    assert status == (204 if overwrite == "T" else 412)
    assert bobs.reads("Films/b.txt") == (b"new" if overwrite == "T" else b"old")


def test_folders_are_copied_with_and_without_what_is_in_them(bobs):
    bobs("MKCOL", "Films")
    bobs("PUT", "Films/a.txt", b"a")
    assert bobs.moves("COPY", "Films", "All") == 201
    assert bobs.moves("COPY", "Films", "Empty", depth="0") == 201
    assert bobs.moves("COPY", "Films/a.txt", "Films/b.txt") == 201
    assert (bobs.lists("All"), bobs.lists("Empty")) == (["All/a.txt"], [])
    assert bobs.lists("Films") == ["Films/a.txt", "Films/b.txt"]


def test_what_programs_do_is_counted_together_in_the_activity(bobs, bob):
    for number in range(5):
        bobs("PUT", f"{number}.txt", b"x")
        bobs("DELETE", f"{number}.txt")
    event = Activity.objects.get()
    assert (event.kind, event.person, event.count) == ("deleted", "bob", 5)


def test_what_is_replaced_is_recorded_as_deleted(bobs):
    for name in ("a.txt", "b.txt", "c.txt"):
        bobs("PUT", name, name)
    bobs("PUT", "a.txt", b"replaced")
    bobs.moves("COPY", "b.txt", "a.txt")
    bobs.moves("MOVE", "b.txt", "c.txt")
    assert Activity.objects.get(kind="deleted").count == 3


@each_case("method", ["MOVE", "COPY"])
def test_what_is_in_the_way_stays_if_it_could_not_be_restored(method, bobs, settings):
    settings.DELETED_DAYS = 0
    bobs("MKCOL", "Films")
    bobs("PUT", "Films/a.txt", b"kept")
    bobs("PUT", "b.txt", b"x")
    bobs("MKCOL", "Other")
    assert bobs.moves(method, "b.txt", "Films") == 412
    assert bobs.moves(method, "Other", "Films") == 412
    assert bobs.reads("Films/a.txt") == b"kept"


@each_case("method", ["MOVE", "COPY"])
def test_what_vanished_meanwhile_is_404(method, bobs, monkeypatch):
    bobs("PUT", "a.txt", b"x")
    refuse_locked = DriveCall.refuse_locked

    def delete_first(call, *places, is_deep=False):
        refuse_locked(call, *places, is_deep=is_deep)
        File.objects.all().delete()

    # Someone else deletes the file at just this moment.
    monkeypatch.setattr(DriveCall, "refuse_locked", delete_first)
    assert bobs.moves(method, "a.txt", "b.txt") == 404


def test_without_enough_space_a_file_is_refused_with_507(bobs, own_service):
    own_service.space_max_bytes = 1
    own_service.save()
    assert bobs("PUT", "a.txt", b"too much").status == 507
    assert bobs.lists() == []


# While a file arrives


def drafts() -> list[Path]:
    return list((settings.DATA_DIR / "library" / "incoming").glob("*"))


def revoke(bob) -> None:
    Token.objects.all().delete()


def make_guest(bob) -> None:
    User.objects.filter(pk=bob.user.pk).update(role=Role.GUEST)


def deactivate(bob) -> None:
    User.objects.filter(pk=bob.user.pk).update(is_active=False)


@each_case("length", [6, None])
@each_case(("event", "status"), [(revoke, 401), (make_guest, 403), (deactivate, 401)])
def test_what_arrives_until_its_token_is_revoked_is_not_saved(event, status, length, bob, bobs):
    def pieces():
        yield b"one"
        event(bob)
        yield b"two"

    bobs("PUT", "a.txt", b"kept")
    assert bobs.sends("a.txt", pieces(), length).status == status
    assert [each.size_bytes for each in File.objects.all()] == [4]
    assert not DeletedItem.objects.exists()
    assert not drafts()


@each_case("length", [10_000, None])
def test_a_file_stops_while_it_arrives_once_its_token_is_revoked(length, bobs, monkeypatch):
    # No setting shortens this, and the test would take a second.
    monkeypatch.setattr("webui.drive.changes.CHECK_SECONDS", 0)
    arrived = []

    def pieces():
        for number in range(10):
            if number == 3:
                Token.objects.all().delete()
            arrived.append(number)
            yield b"x" * 1_000

    assert bobs.sends("a.txt", pieces(), length).status == 401
    assert arrived == [0, 1, 2, 3]


@each_case(("failures", "status"), [(2, 201), (3, 503)])
def test_a_file_arrives_while_the_database_is_away(failures, status, bobs, monkeypatch):
    """Its token is looked up three times here: twice while it arrives, and at the end."""
    real, left = tokens.find_by_digest, [failures]

    def find(digest):
        if left[0]:
            left[0] -= 1
            raise OperationalError
        return real(digest)

    def pieces():
        # A test's own connection can't be cut.
        monkeypatch.setattr(tokens, "find_by_digest", find)
        yield b"one"
        yield b"two"

    # No setting shortens this, and the test would take a second.
    monkeypatch.setattr("webui.drive.changes.CHECK_SECONDS", 0)
    assert bobs.sends(f"{failures}.txt", pieces(), 6).status == status


def test_a_file_without_a_length_stops_where_the_space_ends(bobs, own_service):
    own_service.space_max_bytes = 3 * 2**20
    own_service.save()
    arrived = []

    def pieces():
        for number in range(100):
            arrived.append(number)
            yield b"x" * 2**18

    assert bobs.sends("a.bin", pieces()).status == 507
    assert 12 <= len(arrived) <= 16
    assert not File.objects.exists()
    assert not drafts()


def test_a_file_without_a_length_takes_no_space_of_unfinished_uploads(bob, bobs, own_service):
    own_service.space_max_bytes = 3 * 2**20
    own_service.save()
    ResumableUpload.objects.create(
        key="0" * 32,
        user=bob.user,
        service=connection.service().key,
        folder="0",
        name="a",
        size_bytes=2**21,
        expires_at=timezone.now() + timedelta(days=1),
    )
    assert bobs.sends("a.bin", iter([b"x" * 2**18] * 4)).status == 201
    assert bobs.sends("b.bin", iter([b"x" * 2**18])).status == 507
    assert bobs.lists() == ["a.bin"]


def test_a_file_without_a_length_that_breaks_off_is_not_saved(bobs):
    def pieces():
        yield b"one"
        raise ConnectionResetError

    assert bobs.sends("a.txt", pieces()).status in (400, 422)
    assert bobs.lists() == []


# Properties


def test_properties_that_programs_store_are_returned_and_stay_with_the_file(bobs):
    bobs("PUT", "a.txt", b"x")
    value = '<n:x xmlns:n="urn:n"><n:in a="1">é</n:in></n:x>'
    assert bobs("PROPPATCH", "a.txt", SET.format(value)).status == 207
    bobs.moves("MOVE", "a.txt", "b.txt")
    bobs("PUT", "b.txt", b"replaced")
    bobs.moves("COPY", "b.txt", "c.txt")
    for path in ("b.txt", "c.txt"):
        assert "é</".encode() in bobs("PROPFIND", path, depth="0").content
    assert (
        len([row for row in bobs("PROPFIND", "", depth="1").rows.values() if "{urn:n}x" in row])
        == 2
    )


def test_windows_may_set_its_times(bobs):
    bobs("PUT", "a.txt", b"x")
    value = (
        '<Z:Win32LastModifiedTime xmlns:Z="urn:schemas-microsoft-com:">'
        "Tue, 01 Dec 2026 00:00:00 GMT</Z:Win32LastModifiedTime>"
    )
    answer = bobs("PROPPATCH", "a.txt", SET.format(value))
    assert b"HTTP/1.1 200 OK" in answer.content
    assert not DriveProperties.objects.exists()


def test_what_ferry_knows_better_cannot_be_set_and_then_nothing_is(bobs):
    bobs("PUT", "a.txt", b"x")
    answer = bobs("PROPPATCH", "a.txt", SET.format('<getetag>"x"</getetag><x xmlns="urn:n"/>'))
    assert b"403 Forbidden" in answer.content
    assert b"424 Failed Dependency" in answer.content
    assert not DriveProperties.objects.exists()


def test_properties_are_limited_in_bytes(bobs):
    bobs("PUT", "a.txt", b"x")
    answer = bobs("PROPPATCH", "a.txt", SET.format(f'<x xmlns="urn:n">{"é" * 10_000}</x>'))
    assert b"403 Forbidden" in answer.content


# Locks


def test_a_lock_keeps_other_programs_out_until_it_ends(bobs, alice, clock):
    others = program_of(alice.user)
    bobs("PUT", "a.txt", b"x")
    token = lock_token(bobs("LOCK", "a.txt", lock_body(), timeout="Second-60"))
    assert others("PUT", "a.txt", b"y").status == 423
    assert others("DELETE", "a.txt").status == 423
    assert others("LOCK", "a.txt", lock_body()).status == 423
    # Someone else's token is of no use.
    assert others("PUT", "a.txt", b"y", **{"if": f"(<{token}>)"}).status == 423
    assert bobs("PUT", "a.txt", b"z", **{"if": f"(<{token}>)"}).status == 204
    clock.advance(DriveLock.objects.get().expires_at - clock.now)
    assert others("PUT", "a.txt", b"y").status == 204


def test_a_member_ends_no_lock_of_others_but_an_owner_does(bobs, alice):
    member, owner = program_of(make_person("mara", Role.MEMBER).user), program_of(alice.user)
    token = lock_token(bobs("LOCK", "a.txt", lock_body()))
    assert member("UNLOCK", "a.txt", lock_token=f"<{token}>").status == 403
    assert owner("UNLOCK", "a.txt", lock_token=f"<{token}>").status == 204
    assert not DriveLock.objects.exists()


def test_of_a_lock_above_its_folder_a_token_learns_no_owner(bob, own_service):
    top = program_of(bob.user)
    top("MKCOL", "Films")
    top("MKCOL", "Films/New")
    top("LOCK", "Films", lock_body("shared"))
    new = Folder.objects.get(name="New")
    below = program_of(bob.user, Bounds(str(new.pk), "New"), connection.service().key)
    assert b"shared/></D:lockscope><D:depth>" in below("PROPFIND", "", depth="0").content
    assert b"locktoken" not in below("PROPFIND", "", depth="0").content
    below("LOCK", "", lock_body("shared"))
    assert below("PROPFIND", "", depth="0").content.count(b"me</") == 1


def test_few_of_many_locks_on_a_path_are_shown(bobs):
    statuses = {bobs("LOCK", "a.txt", lock_body("shared")).status for _number in range(11)}
    assert statuses == {200, 201}
    assert bobs("PROPFIND", "a.txt", depth="0").content.count(b"<D:activelock>") == 10
    long_owner = lock_body("shared").replace(">me<", f">{'m' * 300}<")
    assert bobs("LOCK", "a.txt", long_owner).status == 400


def test_a_lock_on_a_folder_covers_what_is_in_it(bobs, alice):
    others = program_of(alice.user)
    bobs("MKCOL", "Films")
    token = lock_token(bobs("LOCK", "Films", lock_body()))
    assert others("PUT", "Films/a.txt", b"x").status == 423
    assert others.moves("MOVE", "Films", "Shelf") == 423
    assert bobs("PUT", "Films/a.txt", b"x", **{"if": f"</dav/Films/> (<{token}>)"}).status == 201
    assert bobs("UNLOCK", "Films", lock_token=f"<{token}>").status == 204
    assert others("PUT", "Films/a.txt", b"y").status == 204


def test_a_lock_of_a_file_for_which_there_is_no_space_is_none(bobs, monkeypatch):
    def fail(*_file, **_options):
        raise NoRoom("not_enough_space")

    # Empty files need no space.
    monkeypatch.setattr("webui.drive.changes.new_files.add", fail)
    assert bobs("LOCK", "a.txt", lock_body()).status == 507
    assert not DriveLock.objects.exists()


def test_a_lock_says_where_it_is_and_how_long_it_lasts(bobs, clock):
    bobs("MKCOL", "Films")
    bobs("PUT", "Films/a b.txt", b"x")
    answers = [bobs("LOCK", "Films", lock_body(), timeout="Second-600")]
    assert b"<D:timeout>Second-600</D:timeout>" in answers[0].content
    clock.advance(timedelta(seconds=200))
    answers += [bobs("PROPFIND", path, depth="0") for path in ("Films", "Films/a%20b.txt")]
    for answer in answers:
        assert b"<D:lockroot><D:href>/dav/Films</D:href></D:lockroot>" in answer.content
    for answer in answers[1:]:
        assert b"<D:timeout>Second-400</D:timeout>" in answer.content


def test_a_lock_above_its_folder_seems_to_a_token_to_be_on_that_folder(bob, own_service):
    top = program_of(bob.user)
    top("MKCOL", "Films")
    top("MKCOL", "Films/New")
    top("PUT", "Films/New/a.txt", b"x")
    new = Folder.objects.get(name="New")
    below = program_of(bob.user, Bounds(str(new.pk), "New"), connection.service().key)
    below("LOCK", "a.txt", lock_body("shared"))
    top("LOCK", "Films", lock_body("shared"))
    content = below("PROPFIND", "a.txt", depth="0").content
    roots = re.findall(rb"<D:lockroot><D:href>(.*?)</D:href>", content)
    assert sorted(roots) == [b"/dav/", b"/dav/a.txt"]
    assert b"Films" not in content


def test_a_lock_without_a_body_is_refreshed(bobs, alice, clock):
    bobs("PUT", "a.txt", b"x")
    token = lock_token(bobs("LOCK", "a.txt", lock_body(), timeout="Second-60"))
    answer = bobs("LOCK", "a.txt", timeout="Infinite", **{"if": f"(<{token}>)"})
    assert (answer.status, b"Second-3600" in answer.content) == (200, True)
    assert bobs("LOCK", "a.txt").status == 412
    others = program_of(alice.user)
    assert others("LOCK", "a.txt", **{"if": f"(<{token}>)"}).status == 412


@each_case(
    "header",
    [
        "(",
        "(<a>",
        "x",
        "<a>",
        "([x])",
        "(Not)",
        "()" * 3 + "x",
        "(<a>)" * 51,
        "(" + "<a>" * 51 + ")",
    ],
)
def test_a_malformed_condition_is_400(header, bobs):
    assert bobs("PUT", "a.txt", b"x", **{"if": header}).status == 400


def test_the_number_of_locks_is_limited(bobs, bob, monkeypatch):
    # A thousand locks would take a minute.
    monkeypatch.setattr("webui.drive.locks.MOST_LOCKS", 2)
    statuses = [bobs("LOCK", f"{number}.txt", lock_body()).status for number in range(3)]
    assert statuses == [201, 201, 507]


# Rights


WRITES = ["PUT", "MKCOL", "DELETE", "MOVE", "COPY", "PROPPATCH", "LOCK", "UNLOCK"]


@each_case("method", WRITES)
def test_a_token_to_read_changes_nothing(method, bob, own_service):
    a_file(own_service, "a.txt", blob=put(library_store()))
    program = program_of(bob.user, may_write=False)
    assert program(method, "a.txt", destination="/dav/b.txt").status == 403
    assert program.lists() == ["a.txt"]


@each_case("method", WRITES)
def test_a_guest_changes_nothing_whatever_the_token_says(method, gwen, own_service):
    program = program_of(gwen.user)
    assert program(method, "a.txt", destination="/dav/b.txt").status == 403
    assert program.lists() == []


# Foreign services, of both generations


def older(foreign, *ids: int) -> None:
    """Let a service know only the older forms of v1."""

    def gone() -> httpx.Response:
        return httpx.Response(404, html="<h1>Not found</h1>")

    foreign.fake.unknown["POST", "/rest/folder"] = gone
    for number in ids:
        for kind in ("file", "folder"):
            foreign.fake.unknown["DELETE", f"/rest/{kind}/{number}"] = gone
        foreign.fake.unknown["POST", f"/rest/file/{number}/rename"] = gone


@each_case("is_older", [False, True])
def test_a_foreign_service_renames_deletes_and_creates_folders(is_older, bob, foreign):
    foreign.renew()
    program = program_of(bob.user)
    films = foreign.folder("Films")
    film = foreign.file("Film.mkv", b"a film", films.id)
    if is_older:
        older(foreign, films.id, film.id)
    assert program.moves("MOVE", "Films/Film.mkv", "Films/Best.mkv") == 201
    assert program("MKCOL", "Films/New").status == 201
    assert program.moves("MOVE", "Films", "Shelf") == 201
    assert sorted(program.lists("Shelf")) == ["Shelf/Best.mkv", "Shelf/New/"]
    assert program("DELETE", "Shelf/Best.mkv").status == 204
    assert program.lists("Shelf") == ["Shelf/New/"]


def test_the_position_in_a_foreign_film_is_deleted_with_it(bob, foreign):
    film = foreign.file("a.mkv")
    bob.client.get("/")
    bob.client.post(f"/watch/{film.id}/", {"at": "600", "of": "3600", "folder": "0"})
    assert Watched.objects.exists()
    assert program_of(bob.user)("DELETE", "a.mkv").status == 204
    assert not Watched.objects.exists()


def test_a_foreign_entry_never_makes_way(bob, foreign):
    foreign.file("a.txt", b"new")
    foreign.file("b.txt", b"kept")
    program = program_of(bob.user)
    assert program.moves("MOVE", "a.txt", "b.txt") == 412
    assert sorted(program.lists()) == ["a.txt", "b.txt"]


@each_case(
    ("method", "path", "headers"),
    [
        ("PUT", "a.txt", {}),
        ("MOVE", "Film.mkv", {"destination": "/dav/Films/Film.mkv"}),
        ("COPY", "Film.mkv", {"destination": "/dav/b.mkv"}),
        ("LOCK", "a.txt", {}),
    ],
)
def test_what_a_foreign_service_cannot_do_is_refused(method, path, headers, bob, foreign):
    foreign.folder("Films")
    foreign.file("Film.mkv")
    body = lock_body() if method == "LOCK" else b""
    program = program_of(bob.user)
    assert program(method, path, body, **headers).status == 403
    assert sorted(program.lists()) == ["Film.mkv", "Films/"]


NFC, NFD = "caf\u00e9", "cafe\u0301"


@pytest.mark.slow
@each_case(
    ("method", "source", "target"),
    [
        ("MOVE", "x/{}/f.txt", "x/{}"),
        ("COPY", "x/{}/f.txt", "x/{}"),
        ("MOVE", "x/{}", "x/{}/f"),
        ("COPY", "x/{}", "x/{}/f.txt"),
        ("COPY", "x/{}/f.txt", "x/{}/f.txt"),
        ("MOVE", "x/{}/f.txt", "x/{}/f.txt"),
        ("MOVE", "x/{}", "x/{}"),
    ],
)
def test_a_folder_is_itself_however_its_accents_are_typed(method, source, target, bobs):
    bobs("MKCOL", "x")
    bobs("MKCOL", f"x/{NFC}")
    bobs("PUT", f"x/{NFC}/f.txt", b"kept")
    assert bobs.moves(method, quote(source.format(NFC)), quote(target.format(NFD))) == 403
    assert bobs.reads(f"x/{NFD}/f.txt") == b"kept"
    assert not DeletedItem.objects.exists()


def test_a_lock_holds_however_accents_are_typed(bobs, alice):
    others = program_of(alice.user)
    bobs("MKCOL", NFC)
    assert bobs("LOCK", f"{NFC}/f.txt", lock_body()).status == 201
    assert others("PUT", f"{NFD}/f.txt", b"y").status == 423
    assert others("LOCK", f"{NFD}/f.txt", lock_body()).status == 423
    assert b"opaquelocktoken" in others("PROPFIND", NFD, depth="1").content


def test_a_foreign_file_gets_another_name_however_accents_are_typed(bob, foreign):
    folder = foreign.folder(NFC)
    foreign.file("a.txt", b"a", folder.id)
    program = program_of(bob.user)
    assert program.moves("MOVE", quote(f"{NFC}/a.txt"), quote(f"{NFD}/c.txt")) == 201
    assert program.lists(NFC) == [f"{NFC}/c.txt"]
