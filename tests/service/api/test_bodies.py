import json
import tracemalloc

import pytest
from django.test import RequestFactory

from service.api.inputs import AddressInput, NewFolder, Target
from service.errors import NotFound
from service.http import bodies
from service.http.refusals import LengthRequired, TooLarge, UnreadableField
from tests.cases import each_case
from tests.service.api.reading import word

FORM = "application/x-www-form-urlencoded"
BOUNDARY = "multipart/form-data; boundary=b"


def read(content: bytes, content_type: str, query: str = "", **meta) -> dict:
    request = RequestFactory().generic("POST", f"/rest?{query}", content, content_type, **meta)
    return dict(bodies.fields_of(request).pairs)


def part(name: str, value: str, more: str = "") -> str:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


@each_case(
    ("content", "content_type"),
    [
        (b"path=Films", FORM),
        (b"path=Films", f"{FORM}; charset=nonsense"),
        (b"path=Films", ""),
        (b"path=Films", "text/plain"),
        (b"path=Other&path=Films&&=&x", FORM),
        (b'{"path": "Films"}', "application/json"),
        (b' \n{"path": "Films"}', FORM),
        (b'\xef\xbb\xbf{"path": "Films"}', "application/json; charset=utf-8"),
        ((part("path", "Films") + "--b--").encode(), BOUNDARY),
        ((part("path", "Films") + part("x", "y") + "--b--\r\n").encode(), BOUNDARY),
        ((part("x", "y", '; filename="f"') + part("path", "Films") + "--b--").encode(), BOUNDARY),
    ],
)
def test_a_field_is_found_in_every_encoding(content, content_type):
    assert read(content, content_type)["path"] == "Films"


@each_case("content_type", [FORM, "application/json", "", "text/html"])
def test_an_empty_body_has_no_fields(content_type):
    assert read(b"", content_type) == {}


@each_case("content", ["schön".encode(), "schön".encode("latin-1"), b"sch%C3%B6n", b"sch%F6n"])
def test_text_is_utf_8_or_latin_1(content):
    assert read(b"path=" + content, FORM) == {"path": "schön"}


def test_the_body_counts_before_the_query():
    assert read(b"a=1", FORM, "a=2&b=3") == {"a": "1", "b": "3"}


@each_case(
    ("content", "content_type"),
    [
        (b"[1]", "application/json"),
        (b'"text"', "application/json"),
        (b"{", "application/json"),
        (b"{'a': 1}", FORM),
        (b'{"a": ' + b"[" * 100_000, "application/json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "application/json"),
        (b"--b\r\n", "multipart/form-data"),
        (b"--b\r\n" + b"x" * 5000, BOUNDARY),
    ],
)
def test_an_unreadable_body_is_refused(content, content_type):
    with pytest.raises(UnreadableField) as refused:
        read(content, content_type)
    assert refused.value.reason == "body_unreadable"


def test_a_multipart_body_without_parts_has_no_fields():
    assert read(b"no parts", BOUNDARY) == {}


def test_too_large_a_body_is_refused():
    for content_type in (FORM, "application/json", BOUNDARY):
        with pytest.raises(TooLarge):
            read(b"x" * (bodies.MOST_BYTES + 1), content_type)


def test_too_many_fields_are_refused():
    with pytest.raises(TooLarge):
        read(b"a=1&" * (bodies.MOST_FIELDS + 1), FORM)


def test_a_false_length_does_not_cause_more_reading(api):
    headers = {"content-length": str(10**15), "content-type": FORM}
    answer = api.post("/rest/folder", content=b"path=a", headers=headers)
    assert word(answer) == (413, "too_large")


def test_a_body_that_ends_early_is_refused(api):
    headers = {"content-length": "100", "content-type": FORM}
    answer = api.post("/rest/folder", content=b"path=Films", headers=headers)
    assert word(answer) == (400, "body_cut_off")
    assert api.get("/rest/folder").json()["folders"] == []


def test_a_body_in_chunks_is_read(api):
    def chunks():
        yield b"path="
        yield b"Films"

    answer = api.post("/rest/folder", content=chunks(), headers={"content-type": FORM})
    assert answer.json()["path"] == "Films"


def test_endless_chunks_are_refused(api):
    def endless():
        while True:
            yield b"x" * 65536

    tracemalloc.start()
    answer = api.post("/rest/folder", content=endless(), headers={"content-type": FORM})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert word(answer) == (413, "too_large")
    assert peak < 8 * 2**20


def test_chunks_need_a_server_that_knows_their_end():
    request = RequestFactory().generic("POST", "/rest", b"", FORM, HTTP_TRANSFER_ENCODING="chunked")
    request.META["CONTENT_LENGTH"] = ""
    with pytest.raises(LengthRequired):
        bodies.fields_of(request)


# Values


@each_case("value", [5, True, ["x"], {"x": 1}, 1.5, "\ud800"])
def test_text_is_text(value):
    with pytest.raises(UnreadableField) as refused:
        bodies.Fields([("path", value)]).read(NewFolder)
    assert refused.value.reason == "path_unreadable"


def test_null_is_nothing():
    assert bodies.Fields([("url", None), ("torrent_url", "x")]).read(AddressInput).url == "x"


@each_case(("value", "number"), [(None, 0), ("", 0), (7, 7), ("7", 7), ("007", 7)])
def test_a_folder_id_is_a_number_or_digits(value, number):
    assert bodies.Fields([("folder_id", value)]).read(Target).folder_id == number


@each_case("value", ["x", "-1", -1, 1.0, True, [], "٣", "1e3", "9" * 5000])
def test_any_other_folder_id_is_unreadable(value):
    with pytest.raises(UnreadableField):
        bodies.Fields([("folder_id", value)]).read(Target)


@each_case("value", [10**25, str(10**25)])
def test_an_id_too_large_for_any_is_not_found(value):
    with pytest.raises(NotFound):
        bodies.Fields([("folder_id", value)]).read(Target)


def test_lone_surrogates_in_json_are_refused(api):
    for path, field in (("folder", "path"), ("transfer/magnet", "magnet"), ("torrent/url", "url")):
        content = json.dumps({field: "magnet:?xt=urn:btih:\ud800"})
        answer = api.post(
            f"/rest/{path}", content=content, headers={"content-type": "application/json"}
        )
        assert word(answer) == (422, f"{field}_unreadable")
