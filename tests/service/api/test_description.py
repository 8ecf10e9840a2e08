import json
import re

import httpx
import pytest
import schemathesis
from bs4 import BeautifulSoup
from django.urls import resolve
from openapi_spec_validator import validate
from schemathesis.core.failures import Failure

from config.embedded import upstream
from service.api.endpoints import Endpoint
from service.api.operations import GROUPS, openapi
from service.transfers import transfers
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, a_torrent, magnet

RECORDS = {
    *("Account", "Added", "Changed", "ChangedTransfers", "Created", "File", "Folder"),
    *("Chapter", "FileOfTransfer", "FilesOfTransfer", "Filmstrip", "ScenesResult"),
    *(
        "CameraResult",
        "Largest",
        "ListedTransfer",
        "Listing",
        "LocatedFile",
        "MoveResult",
        "Playable",
        "Presentations",
        "Refusal",
        "Settings",
        "SubtitlesNotShown",
        "Transfer",
        "Transfers",
        "UndoResult",
    ),
    *("DeletedEntries", "DeletedEntry", "Deletion", "Details", "RestoredEntries", "RestoredEntry"),
    *("Limits", "OwnLimits", "Reachability"),
    *("DetailsOfTransfer", "LogEntry", "SwarmOfTransfer"),
    *("TrafficOfAccount", "TrafficPart", "TransferTraffic"),
    *("SwarmPeer", "SwarmPieces", "SwarmTracker"),
    *("LocatedFolder", "SearchResults", "User", "Wish"),
}
JSON = {"content-type": "application/json"}
OPERATIONS = [each for operations in GROUPS.values() for each in operations]


@pytest.fixture
def anybody(db):
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL) as client:
        yield client


@each_case("operation", OPERATIONS)
def test_every_operation_is_there(operation):
    match = resolve(re.sub(r"{\w+}", "7", operation.path))
    assert isinstance(match.func, Endpoint)
    assert match.func.operations[operation.method] is operation
    assert match.func.needs_account is not operation.is_open


def test_the_description_is_valid_openapi():
    validate(openapi())


def bodies_described():
    """Yield the method, path, name, and schema of each field in a JSON body."""
    for path, methods in openapi()["paths"].items():
        for method, operation in methods.items():
            for content_type, body in operation.get("requestBody", {}).get("content", {}).items():
                for name, schema in body["schema"]["properties"].items():
                    if content_type == "application/json":
                        yield method.upper(), path, name, schema


def wrong_values(schema):
    if "minLength" in schema:
        yield "x" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "pattern" in schema:
        yield "nonsense"
    if "minimum" in schema:
        yield schema["minimum"] - 1
    if schema["type"] == "integer":
        yield "nonsense"


WRONG = [
    (method, path, name, value)
    for method, path, name, schema in bodies_described()
    for value in wrong_values(schema)
]


@pytest.mark.slow
@each_case("wrong", WRONG)
def test_bodies_that_break_the_description_are_refused(api, account, wrong):
    assert len(WRONG) > 25
    method, path, name, value = wrong
    transfer = transfers.add_magnet(account, magnet("b"), 0, NOW)
    ids = {"folder_id": a_folder(account).pk, "file_id": a_file(account).pk}
    ids |= {"transfer_id": transfer.pk, "torrent_id": transfer.pk}
    right = {"magnet": magnet(), "url": "http://example.org/a", "torrent_url": "http://a.example/"}
    others = right if name == "folder_id" else {}
    body = json.dumps(others | {name: value})
    answer = api.request(method, path.format(**ids), content=body, headers=JSON)
    assert answer.status_code in (400, 422), answer.text


def test_every_text_has_a_least_length():
    assert [
        (path, name)
        for _method, path, name, schema in bodies_described()
        if schema["type"] == "string" and "format" not in schema and not schema.get("minLength")
    ] == []


def test_a_redirect_is_described_with_what_it_leads_to():
    paths = openapi()["paths"]
    types = {
        path: set(methods["get"]["responses"]["200"]["content"])
        for path, methods in paths.items()
        if "302" in methods.get("get", {}).get("responses", {})
    }
    assert types == {
        "/rest/file/{file_id}": {"*/*"},
        "/rest/folder/{folder_id}/download": {"application/zip"},
        "/rest/zip": {"application/zip"},
    }


def test_the_description_needs_no_credentials(anybody):
    description = anybody.get("/rest/openapi.json").json()
    assert description["openapi"].startswith("3.")
    assert len(description["paths"]["/rest/folder/{folder_id}"]) == 2
    assert description["components"]["schemas"].keys() == RECORDS


def test_it_names_the_prefix_that_ferry_is_mounted_under(anybody, settings):
    settings.URL_PREFIX = "/ferry"
    assert anybody.get("/rest/openapi.json").json()["servers"] == [{"url": "/ferry"}]


@each_case("path", ["/rest", "/rest/", "/rest//"])
def test_the_page_lists_every_operation(path, anybody):
    answer = anybody.get(path)
    page = BeautifulSoup(answer.content, "html.parser")
    listed = {" ".join(each.text.split()) for each in page.select("dt")}
    assert listed == {f"{each.method} {each.path}" for each in OPERATIONS}


def test_the_page_runs_and_loads_nothing(anybody):
    answer = anybody.get("/rest/")
    page = BeautifulSoup(answer.content, "html.parser")
    assert not page.select("script, style, img, link, [style], form")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.select_one("a")["href"] == "/rest/openapi.json"


def test_answers_are_as_described(api, account):
    folder, file = a_folder(account), a_file(account, "a.mkv")
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    answers = {
        "/rest/folder": api.get("/rest/folder"),
        "/rest/folder/{folder_id}": api.get(f"/rest/folder/{folder.pk}"),
        "/rest/transfer/{transfer_id}": api.get(f"/rest/transfer/{transfer.pk}"),
        "/rest/torrent": api.get("/rest/torrent"),
        "/rest/user": api.get("/rest/user"),
        "/rest/files/largest": api.get("/rest/files/largest"),
        "/rest/file/{file_id}": api.get(f"/rest/file/{file.pk}"),
        "/rest/file/{file_id}/hls": api.get(f"/rest/file/{file.pk}/hls"),
        "/rest/zip": api.get("/rest/zip", params={"archive_arr": "[7]"}),
    }
    described = schemathesis.openapi.from_dict(openapi())
    for path, answer in answers.items():
        described[path]["GET"].validate_response(answer)
    made = api.post("/rest/folder", data={"path": "Music"})
    described["/rest/folder"]["POST"].validate_response(made)
    added = api.post("/rest/torrent/magnet", data={"magnet": magnet("b")})
    described["/rest/torrent/magnet"]["POST"].validate_response(added)
    gone = api.delete(f"/rest/file/{file.pk}")
    described["/rest/file/{file_id}"]["DELETE"].validate_response(gone)


def test_no_answer_says_more_than_is_described(api, account):
    torrents = [("torrent_file", (name, a_torrent(name))) for name in ("a", "b")]
    added = api.post("/rest/torrent/file", files=torrents)
    answers = {
        "Added": added,
        "Listing": api.get("/rest/folder"),
        "Transfer": api.get(f"/rest/transfer/{added.json()['id']}"),
        "Transfers": api.get("/rest/torrent"),
        "User": api.get("/rest/user"),
        "Created": api.post("/rest/folder/0/rename", data={"name": "Films"}),
        "Refusal": api.post("/rest/zip", data={"archive_arr": "[7]"}),
    }
    schemas = openapi()["components"]["schemas"]
    for name, answer in answers.items():
        assert answer.json().keys() - schemas[name]["properties"] == set(), name


def test_a_rename_that_may_create_a_folder_says_so():
    answered = openapi()["paths"]["/rest/folder/{folder_id}/rename"]["post"]["responses"]["200"]
    assert answered["content"]["application/json"]["schema"] == {
        "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Created", "Changed")]
    }


def test_a_wrong_answer_would_be_noticed(api):
    answer = api.get("/rest/user")
    described = schemathesis.openapi.from_dict(openapi())
    with pytest.raises(Failure):
        described["/rest/folder"]["GET"].validate_response(answer)
