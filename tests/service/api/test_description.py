import re

import httpx
import pytest
import schemathesis
from bs4 import BeautifulSoup
from django.urls import resolve
from schemathesis.core.failures import Failure

from config import upstream
from service import transfers
from service.api import urls
from service.api.description import document
from service.api.endpoints import Endpoint, Nowhere
from service.api.operations import GROUPS
from service.api.schemas import SCHEMAS
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, magnet

OPERATIONS = [each for operations in GROUPS.values() for each in operations]


@pytest.fixture
def anybody(db):
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL) as client:
        yield client


@each_case("operation", OPERATIONS)
def test_every_operation_is_there(operation):
    match = resolve(re.sub(r"{\w+}", "7", operation.path))
    assert isinstance(match.func, Endpoint)
    assert operation.method in match.func.views
    assert match.func.needs_account is not operation.is_open


def test_every_path_is_described_with_its_methods():
    described = {(re.sub(r"{\w+}", "7", each.path), each.method) for each in OPERATIONS}
    patterns = [each for each in urls.endpoints if not isinstance(each.callback, Nowhere)]
    there = {
        ("/rest/" + re.sub(r"<[^>]+>", "7", str(each.pattern)), method)
        for each in patterns
        for method in each.callback.views
    }
    assert described == there | {("/rest", "GET")}


def test_the_description_needs_no_credentials(anybody):
    description = anybody.get("/rest/openapi.json").json()
    assert description["openapi"].startswith("3.")
    assert len(description["paths"]["/rest/folder/{folder_id}"]) == 2
    assert description["components"]["schemas"].keys() == SCHEMAS.keys()


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
    asked = {
        "/rest/folder": api.get("/rest/folder"),
        "/rest/folder/{folder_id}": api.get(f"/rest/folder/{folder.pk}"),
        "/rest/transfer/{transfer_id}": api.get(f"/rest/transfer/{transfer.pk}"),
        "/rest/torrent": api.get("/rest/torrent"),
        "/rest/user": api.get("/rest/user"),
        "/rest/file/{file_id}": api.get(f"/rest/file/{file.pk}"),
        "/rest/file/{file_id}/hls": api.get(f"/rest/file/{file.pk}/hls"),
        "/rest/zip": api.get("/rest/zip", params={"archive_arr": "[7]"}),
    }
    described = schemathesis.openapi.from_dict(document())
    for path, answer in asked.items():
        described[path]["GET"].validate_response(answer)
    made = api.post("/rest/folder", data={"path": "Music"})
    described["/rest/folder"]["POST"].validate_response(made)
    added = api.post("/rest/torrent/magnet", data={"magnet": magnet("b")})
    described["/rest/torrent/magnet"]["POST"].validate_response(added)
    gone = api.delete(f"/rest/file/{file.pk}")
    described["/rest/file/{file_id}"]["DELETE"].validate_response(gone)


def test_a_wrong_answer_would_be_noticed(api):
    answer = api.get("/rest/user")
    described = schemathesis.openapi.from_dict(document())
    with pytest.raises(Failure):
        described["/rest/folder"]["GET"].validate_response(answer)
