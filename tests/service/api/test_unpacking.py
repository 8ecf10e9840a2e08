"""/rest/file/{file_id}/unpack, and its undo."""

import pytest
import schemathesis

from service.api.operations import openapi
from service.models import Transfer
from tests.cases import each_case
from tests.service.api.test_deleted_items import names
from tests.service.unpacking.shift import UnpackingShift, a_zip_file
from tests.service.unpacking.zips import a_zip

PATH = "/rest/file/{file_id}/unpack"


@pytest.fixture
def zip_file(library_folder, account):
    return a_zip_file(account, a_zip(("a.txt", b"x")))


def test_it_is_a_transfer_until_the_folder_is_there(api, zip_file):
    answer = api.post(f"/rest/file/{zip_file.pk}/unpack")
    assert answer.json()["name"] == "Photos"
    transfer = Transfer.objects.get(pk=answer.json()["id"])
    assert [each["name"] for each in api.get("/rest/transfer").json()["transfers"]] == ["Photos"]
    assert names(api) == ["Photos.zip"]
    UnpackingShift().until_over(transfer)
    shown = api.get(f"/rest/transfer/{transfer.pk}").json()
    assert (shown["state"], shown["progress"]) == ("done", 101)
    folder = api.get(f"/rest/folder/{shown['folder_created']}").json()
    assert [file["name"] for file in folder["files"]] == ["a.txt"]
    undone = api.post("/rest/unpack/undo", data={"transfer_id": transfer.pk}).json()
    assert (undone["count"], len(undone["folder_ids"])) == (1, 1)
    assert names(api) == ["Photos.zip"]
    deleted = api.get("/rest/deleted").json()["items"]
    assert [each["name"] for each in deleted] == ["Photos"]


def test_answers_are_as_described(api, zip_file):
    described = schemathesis.openapi.from_dict(openapi())
    answer = api.post(f"/rest/file/{zip_file.pk}/unpack")
    described[PATH]["POST"].validate_response(answer)
    undone = api.post("/rest/unpack/undo", data={"transfer_id": answer.json()["id"]})
    described["/rest/unpack/undo"]["POST"].validate_response(undone)
    assert undone.json()["count"] == 1


def test_a_transfer_of_another_kind_is_never_undone(api, account):
    added = api.post("/rest/transfer/url", data={"url": "http://example.org/a"}).json()
    answer = api.post("/rest/unpack/undo", data={"transfer_id": added["id"]})
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert Transfer.objects.filter(pk=added["id"]).exists()


@each_case("path", ["/rest/file/7000/unpack", "/rest/file/0/unpack"])
def test_a_missing_file_is_not_found(path, api):
    assert api.post(path).status_code == 404


def test_others_files_and_unpackings_are_not_found(api, stranger, zip_file):
    assert stranger.post(f"/rest/file/{zip_file.pk}/unpack").status_code == 404
    added = api.post(f"/rest/file/{zip_file.pk}/unpack").json()
    refused = stranger.post("/rest/unpack/undo", data={"transfer_id": added["id"]})
    assert refused.status_code == 404
    assert Transfer.objects.filter(pk=added["id"]).exists()


def test_a_full_queue_refuses_it(api, account, zip_file, settings):
    settings.QUEUE_LIMIT = 0
    answer = api.post(f"/rest/file/{zip_file.pk}/unpack")
    assert answer.status_code == 413
    assert answer.json()["error"].startswith("queue_full")


def test_the_name_is_reserved_until_the_folder_is_there(api, zip_file):
    api.post(f"/rest/file/{zip_file.pk}/unpack")
    answer = api.post("/rest/folder", data={"path": "Photos"})
    assert answer.json()["error"] == "name_taken"
