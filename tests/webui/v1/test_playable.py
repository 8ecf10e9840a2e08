"""How a service says where a film plays: in JSON, by a redirect, or with the playlist itself."""

import httpx
import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import service
from webui.v1 import errors
from webui.v1.records import Playable

URL = "https://media.example/7/master.m3u8?s=SIGNATURE"
PLAYLIST = b"#EXTM3U\n#EXT-X-VERSION:3\n"


def json(facts, status=200):
    return httpx.Response(status, json=facts)


@each_case(
    "facts",
    [
        {"url": URL},
        {"result": True, "code": 200, "url": URL},
        {"video": {"hls": {"url": URL}}},
        {"presentations": {"url": "not a link"}, "hls": {"url": URL}},
    ],
)
def test_a_url_in_json_is_found_anywhere(facts):
    fake = service(json(facts))
    assert fake.client().hls("7").url == URL
    assert fake.calls == ["GET /rest/file/7/hls"]


def test_a_redirect_is_an_address():
    answer = httpx.Response(302, headers={"Location": URL})
    assert service(answer).client().mp4("7").url == URL


@each_case("mark", [b"", b"\xef\xbb\xbf"])
def test_a_playlist_sent_without_a_redirect_plays_at_the_requested_address(mark):
    found = service(httpx.Response(200, content=mark + PLAYLIST)).client().hls("7")
    assert found == Playable()


@each_case(
    "facts",
    [{"converting": True, "progress": 40}, {"url": None, "progress": "40"}],
)
def test_a_conversion_reports_its_progress(facts):
    found = service(json(facts)).client().mp4("7")
    assert found.is_converting
    assert found.progress_percent == 40


def test_accepted_is_an_answer_as_well():
    found = service(json({"converting": True, "progress": 3}, status=202)).client().mp4("7")
    assert found.is_converting


@each_case("url", ["javascript:alert(1)", "file:///etc/passwd", "", 7, "x" * 9000])
def test_invalid_urls_yield_none(url):
    with pytest.raises(errors.Unreadable):
        service(json({"url": url})).client().hls("7")


def test_a_refusal_carries_the_services_sentence():
    facts = {"reason_phrase": "cannot_convert", "message": "The sound\nis of a kind\u202e."}
    with pytest.raises(errors.Rejected) as refused:
        service(json(facts, status=422)).client().hls("7")
    assert refused.value.message == "The sound is of a kind ."


def test_a_refusal_inside_a_success_is_a_refusal():
    with pytest.raises(errors.Failure):
        service(json({"result": False, "url": URL})).client().hls("7")


@each_case("content", [b"<html>", b"\x00" * 100, b"#EXTM3U" + b"\n" * 5_000_000, b"[" * 100_000])
def test_unreadable_input_is_refused(content):
    with pytest.raises(errors.Unreadable):
        service(httpx.Response(200, content=content)).client().hls("7")


def test_endless_levels_are_not_followed():
    facts: dict[str, object] = {"url": URL}
    for _ in range(60):
        facts = {"deeper": facts}
    with pytest.raises(errors.Unreadable):
        service(json(facts)).client().hls("7")
