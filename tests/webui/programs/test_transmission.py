"""Transmission's RPC, as Sonarr and others call it."""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from tests.cases import each_case
from tests.webui.add.test_views import TORRENT, magnet
from tests.webui.programs.clients import bounded, make_token
from webui.models import Sent
from webui.programs.views.transmission import METHODS
from webui.transfers import poll

pytestmark = pytest.mark.django_db
HASH = f"{1:040x}"
FIELDS = [
    *("id", "hashString", "name", "downloadDir", "totalSize", "leftUntilDone", "isFinished"),
    *("eta", "status", "secondsDownloading", "secondsSeeding", "errorString", "uploadedEver"),
    *("downloadedEver", "seedRatioLimit", "seedRatioMode", "seedIdleLimit", "seedIdleMode"),
    *("fileCount", "file-count", "labels"),
]


@dataclass
class TransmissionClient:
    token: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str = "GET", body: bytes = b""):
        pair = b64encode(f"any:{self.token}".encode()).decode()
        headers = {"host": "localhost", "authorization": f"Basic {pair}", **self.headers}
        site = Client(enforce_csrf_checks=True)
        return site.generic(method, "/transmission/rpc", body, "application/json", headers=headers)

    def __call__(self, method: str, **arguments: Any) -> Any:
        """Call a method as Sonarr does: a bare GET tells which header to repeat."""
        if not self.headers:
            first = self.send()
            assert first.status_code == 409
            name = "X-Transmission-Session-Id"
            self.headers[name.lower()] = first[name]
        named = {name.replace("_", "-"): value for name, value in arguments.items()}
        heard = self.send("POST", json.dumps({"method": method, "arguments": named}).encode())
        assert heard.status_code == 200, heard.content
        return json.loads(heard.content)

    def rows(self, **arguments: Any) -> list[dict[str, Any]]:
        return self("torrent-get", fields=FIELDS, **arguments)["arguments"]["torrents"]


@pytest.fixture
def sonarr(token) -> TransmissionClient:
    return TransmissionClient(token)


def test_sonarr_tests_its_settings(service, sonarr):
    session = sonarr("session-get")["arguments"]
    assert session["version"].startswith("4.0.6")
    assert session["rpc-version"] == 17
    assert session["download-dir"].startswith("/")
    assert session["seedRatioLimited"] is False
    assert sonarr("session-stats")["arguments"]["torrentCount"] == 0


def test_sonarr_adds_and_sees_its_own_by_labels(service, sonarr):
    added = sonarr("torrent-add", filename=magnet(1), labels=["tv"], paused=False)
    assert added["result"] == "success"
    assert added["arguments"]["torrent-added"]["hashString"] == HASH
    again = sonarr("torrent-add", filename=magnet(1), labels=["tv"])
    assert again["arguments"]["torrent-duplicate"]["hashString"] == HASH
    (row,) = sonarr.rows()
    assert row.keys() == set(FIELDS)
    assert (row["labels"], row["isFinished"], row["leftUntilDone"] > 0) == (["tv"], False, True)
    assert sonarr.rows(ids=[row["id"]]) == sonarr.rows(ids=[HASH]) == [row]
    assert sonarr.rows(ids=["f" * 40]) == []


def test_a_torrent_file_comes_as_text(service, sonarr, handover):
    sonarr("torrent-add", metainfo=b64encode(TORRENT).decode(), download_dir=f"{handover}/tv/hd")
    assert sonarr.rows()[0]["labels"] == ["tv/hd"]


def test_it_is_finished_once_it_is_handed_over(service, sonarr, handover):
    sonarr("torrent-add", filename=magnet(1), labels=["tv"])
    (one,) = service.fake.transfers.values()
    folder = service.folder("Sintel")
    state = "done" if service.service.is_embedded else None
    service.tells(one, progress=101, folder_created=folder.id, size=6, state=state)
    poll.store().change(service.service.key)
    (row,) = sonarr.rows()
    assert (row["isFinished"], row["status"], row["leftUntilDone"] > 0) == (False, 4, True)
    Sent.objects.update(handed_path="tv/Sintel (2)", handed_at="2026-09-01T00:00Z")
    (row,) = sonarr.rows()
    assert (row["isFinished"], row["status"], row["leftUntilDone"]) == (True, 0, 0)
    assert f"{row['downloadDir']}/{row['name']}" == f"{handover}/tv/Sintel (2)"
    sonarr("torrent-remove", ids=[HASH], delete_local_data=True)
    assert sonarr.rows() == []


def test_without_a_handover_folder_nothing_ordered_is_finished(service, sonarr):
    sonarr("torrent-add", filename=magnet(1), labels=["tv"])
    (one,) = service.fake.transfers.values()
    state = "done" if service.service.is_embedded else None
    service.tells(one, progress=101, size=6, state=state)
    poll.store().change(service.service.key)
    (row,) = sonarr.rows()
    assert (row["isFinished"], row["leftUntilDone"] > 0) == (False, True)
    assert row["errorString"] == "no_handover_folder"
    sonarr("torrent-set", ids=[HASH], labels=[])
    (row,) = sonarr.rows()
    assert (row["isFinished"], row["downloadDir"], row["name"]) == (True, "", "Sintel")


@each_case("deletes", [False, True])
def test_files_stay_unless_a_program_deletes_them(storage, sonarr, handover, deletes):
    storage.renew()
    sonarr("torrent-add", filename=magnet(1), labels=["tv"])
    (one,) = storage.fake.transfers.values()
    folder = storage.folder("Sintel", one.folder)
    storage.tells(one, progress=101, folder_created=folder.id, state="done")
    poll.store().change(storage.service.key)
    (handover / "tv").mkdir(exist_ok=True)
    copy = handover / "tv" / f"Sintel {deletes}"
    copy.write_bytes(b"a film")
    path = f"tv/{copy.name}"
    Sent.objects.filter(connection=storage.service.key).update(
        handed_path=path, handed_at="2026-09-01T00:00Z"
    )
    sonarr("torrent-remove", ids=[HASH], delete_local_data=deletes)
    assert sonarr.rows() == []
    assert copy.exists() != deletes
    assert (folder.id in storage.fake.items) != deletes


@each_case("ids", [None, "recently-active", []])
def test_an_empty_choice_removes_nothing(storage, sonarr, ids):
    sonarr("torrent-add", filename=magnet(1))
    sonarr("torrent-remove", ids=ids, delete_local_data=True)
    assert [row["name"] for row in sonarr.rows()] == ["Sintel"]


def test_a_failure_is_said(storage, sonarr):
    storage.transfer("Sintel", hash=HASH, state="failed", reason="no_peers")
    (row,) = sonarr.rows()
    assert row["errorString"] == "no_peers"


def test_labels_and_files_change(storage, sonarr):
    storage.transfer("Sintel", hash=HASH)
    sonarr("torrent-set", ids=[HASH], labels=["imported", "hd"])
    assert sonarr.rows()[0]["labels"] == ["imported", "hd"]


@each_case("method", ["torrent-stop", "torrent-start", "queue-move-top"])
def test_our_own_service_does_it(storage, sonarr, method):
    storage.transfer("Sintel", hash=HASH, state="downloading")
    assert sonarr(method, ids=[HASH])["result"] == "success"
    assert ("POST", "/rest/transfers/change") in storage.calls


def test_what_a_foreign_service_cannot_do_is_said(foreign, sonarr):
    foreign.transfer("Sintel", hash=HASH)
    assert sonarr("torrent-stop", ids=[HASH])["result"] == "The storage service can't do this."


@each_case("method", ["torrent-add", "torrent-remove", "no-such", "torrent-rename-path"])
def test_calls_that_make_no_sense_are_refused_in_words(storage, sonarr, method):
    assert sonarr(method)["result"] != "success"


@each_case("body", [b"", b"{", b"[]", b'{"method": 1}', b"\xff", b'{"method":"x","tag":"y"}'])
def test_bodies_that_make_no_sense_are_refused(storage, sonarr, body):
    sonarr("session-get")
    assert sonarr.send("POST", body).status_code == 400


@each_case("arguments", [{"ids": {}}, {"ids": [[]]}, {"ids": [None, -1]}, {"fields": 7}])
def test_arguments_that_make_no_sense_choose_nothing(storage, sonarr, arguments):
    assert sonarr("torrent-get", **arguments)["arguments"]["torrents"] in ([], [{}])


def test_strangers_are_asked_for_a_token(storage):
    heard = TransmissionClient("ferry_guess").send()
    assert heard.status_code == 401
    assert heard["WWW-Authenticate"].startswith("Basic")


def test_the_header_of_another_token_does_not_count(storage, sonarr, bob):
    sonarr("session-get")
    other = TransmissionClient(make_token(bob.user), headers=dict(sonarr.headers))
    assert other.send("POST", b'{"method":"session-get"}').status_code == 409


def test_a_token_that_only_reads_changes_nothing(storage, bob):
    reader = TransmissionClient(make_token(bob.user, may_write=False))
    assert reader("torrent-get", fields=["id"])["result"] == "success"
    body = json.dumps({"method": "torrent-add", "arguments": {"filename": magnet(1)}}).encode()
    assert reader.send("POST", body).status_code == 403
    assert storage.fake.transfers == {}


def test_a_token_of_a_folder_sees_nothing_else(storage, sonarr, bob):
    tv = storage.folder("TV")
    sonarr("torrent-add", filename=magnet(1))
    limited = TransmissionClient(make_token(bob.user, **bounded(storage.service.key, tv.id)))
    assert limited.rows() == []
    for method in METHODS:
        if method == "torrent-add":
            continue
        heard = limited(method, ids=[HASH], labels=["x"], delete_local_data=True, path="/")
        assert not [word for word in (HASH, "Sintel") if word in json.dumps(heard)], method
    assert limited("session-stats")["arguments"]["torrentCount"] == 0
    assert limited("free-space", path="/")["arguments"]["size-bytes"] == 0
    assert limited("torrent-add", filename=magnet(1))["result"] != "success"
    assert [row["labels"] for row in sonarr.rows()] == [[]]
    assert limited("torrent-add", filename=magnet(2), labels=["new"])["result"] == "success"
    assert [row["labels"] for row in limited.rows()] == [["new"]]
    (one,) = [each for each in storage.fake.transfers.values() if each.hash == f"{2:040x}"]
    assert storage.fake.items[one.folder].parent == tv.id
