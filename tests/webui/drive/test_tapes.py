"""What Finder, Windows, Infuse, and Kodi send, and what they need in the response.

The requests are as these programs are known to send them; none of the four runs here.
"""

import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from service.store.blobs import library_store
from tests.service.builders import a_file, a_folder, put
from tests.webui.drive.programs import D, lock_body, lock_token, program_of

pytestmark = pytest.mark.django_db

FINDER = (
    '<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/>'
    "<D:getcontentlength/><D:creationdate/><D:resourcetype/></D:prop></D:propfind>"
)
FINDERS_QUOTA = (
    '<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop>'
    "<D:quota-available-bytes/><D:quota-used-bytes/></D:prop></D:propfind>"
)
KODI = (
    '<?xml version="1.0" encoding="utf-8" ?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/>'
    "<D:getcontentlength/><D:getlastmodified/><D:creationdate/><D:displayname/></D:prop></D:propfind>"
)
INFUSE = (
    '<?xml version="1.0" encoding="UTF-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:displayname/>'
    "<D:getcontentlength/><D:getlastmodified/><D:resourcetype/></D:prop></D:propfind>"
)
WINDOWS_TIMES = (
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" '
    'xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>'
    "<Z:Win32CreationTime>Tue, 01 Dec 2026 08:00:00 GMT</Z:Win32CreationTime>"
    "<Z:Win32LastAccessTime>Tue, 01 Dec 2026 08:00:00 GMT</Z:Win32LastAccessTime>"
    "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"
)


@pytest.fixture
def library(own_service):
    folder = a_folder(own_service, "Films")
    a_file(own_service, "Film.mkv", folder=folder, blob=put(library_store(), b"a film"))
    return own_service


def test_finder_mounts_the_drive_looks_around_and_saves_a_file(library, bob):
    finder = program_of(bob.user)
    before = Client().options("/dav/", headers={"host": "localhost", "user-agent": "WebDAVFS/3.0"})
    assert (before.status_code, before["DAV"]) == (200, "1, 2")
    top = finder("PROPFIND", "", FINDER, depth="0")
    assert (top.status, "Set-Cookie" in top.headers) == (207, False)
    assert finder("PROPFIND", "", FINDERS_QUOTA, depth="0").rows["/dav/"]
    for probe in ("._.", ".DS_Store", ".Spotlight-V100", "._Films", "Films/._Film.mkv"):
        assert finder("PROPFIND", probe, FINDER, depth="0").status == 404
    for claimed in (".metadata_never_index", ".ql_disablethumbnails"):
        assert finder("PROPFIND", claimed, FINDER, depth="0").status == 207
        assert finder("GET", claimed).content == b""
    rows = finder("PROPFIND", "Films", FINDER, depth="1").rows
    assert list(rows) == ["/dav/Films/", "/dav/Films/Film.mkv"]
    # Finder first makes an empty file, then locks and fills it.
    assert finder("PUT", "Films/new.txt").status == 201
    token = lock_token(
        finder("LOCK", "Films/new.txt", lock_body(), depth="0", timeout="Second-600")
    )
    ours = {"if": f"(<{token}>)"}
    ours |= {"x_expected_entity_length": "5", "user_agent": "WebDAVFS/3.0.0 Darwin/24.0.0"}
    assert finder.sends("Films/new.txt", iter([b"wo", b"rds"]), **ours).status == 204
    assert finder.reads("Films/new.txt") == b"words"
    assert finder("UNLOCK", "Films/new.txt", lock_token=f"<{token}>").status == 204
    assert finder("PUT", "Films/._new.txt", b"fork").status == 201
    assert finder.moves("MOVE", "Films/new.txt", "Films/old.txt") == 201
    assert finder("DELETE", "Films/old.txt").status == 204


def test_windows_maps_the_drive_and_copies_a_file(library, bob):
    windows = program_of(bob.user)
    assert windows("PROPFIND", "", depth="0").rows["/dav/"][f"{D}iscollection"] == "1"
    assert Client().options("/dav", headers={"host": "localhost"})["MS-Author-Via"] == "DAV"
    assert windows("PROPFIND", "Films", depth="1", translate="f").status == 207
    assert windows("PROPFIND", "Films/copy.txt", depth="0").status == 404
    assert windows("PUT", "Films/copy.txt").status == 201
    token = lock_token(windows("LOCK", "Films/copy.txt", lock_body(), timeout="Second-3600"))
    ours = {"if": f"(<{token}>)"}
    answer = windows("PROPPATCH", "Films/copy.txt", WINDOWS_TIMES, **ours)
    assert (answer.status, answer.content.count(b"HTTP/1.1 200 OK")) == (207, 3)
    assert windows("PUT", "Films/copy.txt", b"words", **ours).status == 204
    assert windows("HEAD", "Films/copy.txt").headers["Content-Length"] == "5"
    assert windows("UNLOCK", "Films/copy.txt", lock_token=f"<{token}>").status == 204


def test_infuse_sees_folders_and_files(library, bob):
    infuse = program_of(bob.user, may_write=False)
    top = infuse("PROPFIND", "", INFUSE, depth="1").rows["/dav/Films/"]
    assert (top[f"{D}getcontentlength"], top[f"{D}iscollection"]) == ("0", "1")
    film = infuse("PROPFIND", "Films/", INFUSE, depth="1").rows["/dav/Films/Film.mkv"]
    assert (film[f"{D}getcontentlength"], film[f"{D}iscollection"]) == ("6", "0")
    assert infuse("GET", "Films/Film.mkv", range="bytes=0-1").content == b"a "


def test_kodi_lists_folders_and_plays_a_film(library, bob):
    kodi = program_of(bob.user, may_write=False)
    answer = kodi("PROPFIND", "Films/", KODI, depth="1")
    # Kodi compares the status line letter by letter, and shows the displayname.
    assert set(re.findall(r"<D:status>(.*?)</D:status>", answer.content.decode())) <= {
        "HTTP/1.1 200 OK",
        "HTTP/1.1 404 Not Found",
    }
    folder, film = ET.fromstring(answer.content).findall(f"{D}response")
    prop = f"{D}propstat/{D}prop"
    assert folder.find(f"{prop}/{D}resourcetype/{D}collection") is not None
    assert len(film.find(f"{prop}/{D}resourcetype")) == 0
    assert film.findtext(f"{prop}/{D}displayname") == "Film.mkv"
    head = kodi("HEAD", "Films/Film.mkv")
    assert head.headers["Accept-Ranges"] == "bytes"
    part = kodi("GET", "Films/Film.mkv", range="bytes=2-")
    assert (part.status, part.content) == (206, b"film")
