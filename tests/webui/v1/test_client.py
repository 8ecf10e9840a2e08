"""What the client sends, how often, and what it returns from the response."""

import io
import json
import logging
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import (
    ALICE,
    BASE_URL,
    NOON,
    PASSWORD,
    Clock,
    form_of,
    page,
    refuses,
    routes,
    sample,
    says,
    service,
)
from webui.v1 import errors
from webui.v1.client import Client
from webui.v1.network.address import Credentials, split_service_url
from webui.v1.own_records import TransferFile
from webui.v1.records import Transfers, Unchanged

LISTING = sample("folder_root.2026.json")
DONE = {"result": True, "success": True}
BAD_IDS = [
    "..",
    "../account",
    "7/..",
    "7?a",
    "7#a",
    "",
    "user",
    "http://evil",
    "7\r\nX: y",
    "７",
    "%37",
]


def test_each_operation_is_one_call_of_the_contract():
    fake = service(says({**LISTING, **DONE, "username": "a", "progress": 1, "user_torrent_id": 5}))
    client = fake.client(naming="transfer")
    client.listing()
    client.listing("0")
    client.listing("7")
    client.create_folder("Films/New")
    client.rename_folder("7", "New")
    client.delete_folder("7")
    client.rename_file("7", "New")
    client.delete_file("7")
    client.account()
    client.transfer("7")
    client.transfers()
    client.add_magnet("magnet:?xt=1")
    client.add_url("https://a/b", "9")
    client.add_file("a.torrent", io.BytesIO(b"de"), 2)
    client.delete_transfer("7")
    assert fake.calls == [
        "GET /rest/folder",
        "GET /rest/folder",
        "GET /rest/folder/7",
        "POST /rest/folder",
        "POST /rest/folder/7/rename",
        "DELETE /rest/folder/7",
        "POST /rest/file/7/rename",
        "DELETE /rest/file/7",
        "GET /rest/user",
        "GET /rest/transfer/7",
        "GET /rest/transfer",
        "POST /rest/transfer/magnet",
        "POST /rest/transfer/url",
        "POST /rest/transfer/file",
        "DELETE /rest/transfer/7",
    ]
    assert form_of(fake.seen[3]) == {"path": "Films/New"}
    assert form_of(fake.seen[4]) == {"rename_to": "New"}
    assert form_of(fake.seen[12]) == {"url": "https://a/b", "folder_id": "9"}


def test_many_transfers_are_changed_by_one_call():
    fake = service(says({"result": True, "changed": [9, 7]}))
    assert fake.client().change_transfers(["7", "8", "9"], "first") == ("9", "7")
    assert fake.calls == ["POST /rest/transfers/change"]
    assert form_of(fake.seen[0]) == {"ids": "7,8,9", "action": "first"}


def test_transfers_are_put_before_another_one():
    fake = service(says({"result": True, "changed": [9]}))
    assert fake.client().change_transfers(["9"], "before", before_id="7") == ("9",)
    assert form_of(fake.seen[0]) == {"ids": "9", "action": "before", "before": "7"}


def test_the_torrent_naming_has_its_own_paths_and_fields():
    fake = service(says({"result": True, "user_torrent_id": 5}))
    client = fake.client(naming="torrent")
    client.add_magnet("magnet:?xt=1")
    client.add_url("https://a/b")
    client.add_file("a.torrent", io.BytesIO(b"de"), 2)
    assert fake.calls == [
        "POST /rest/torrent/magnet",
        "POST /rest/torrent/url",
        "POST /rest/torrent/file",
    ]
    assert form_of(fake.seen[1]) == {"torrent_url": "https://a/b", "url": "https://a/b"}
    assert b'name="torrent_file"; filename="a.torrent"' in fake.seen[2].content


FILES = [{"index": 2, "path": "b/c.srt", "size": 7, "progress": 40, "wanted": True}]


def test_the_files_of_our_own_transfers_are_shown_and_chosen():
    paths = {"GET /rest/transfer/7/files": says({"files": [*FILES, {"index": "x"}]})}
    fake = service(routes(paths | {"POST /rest/transfer/7/files": says({"id": 8, "title": "x"})}))
    client = fake.client(is_ours=True)
    assert client.transfer_files("7") == (TransferFile(2, "b/c.srt", 7, 40, is_wanted=True),)
    assert client.choose_files("7", (2, 0)).id == "8"
    assert form_of(fake.seen[1]) == {"wanted": "2,0"}


@each_case("is_ours", [True, False])
def test_only_our_own_service_is_told_to_wait_for_a_choice(is_ours):
    fake = service(says({"result": True, "user_torrent_id": 5}))
    client = fake.client(naming="transfer", is_ours=is_ours)
    client.add_magnet("magnet:?xt=1", chooses=True)
    client.add_url("https://a/b", "9", chooses=True)
    client.add_file("a.torrent", io.BytesIO(b"de"), 2, chooses=True)
    client.add_magnet("magnet:?xt=1")
    has_choice = [b"choose" in each.content for each in fake.seen]
    assert has_choice == [is_ours, is_ours, is_ours, False]


def test_credentials_and_accepted_types_are_sent():
    fake = service(says(LISTING))
    fake.client().listing()
    assert fake.seen[0].headers["Authorization"] == f"Basic {ALICE.token}"
    assert fake.seen[0].headers["Accept"] == "application/json"
    assert fake.seen[0].headers["Accept-Encoding"] == "gzip"


def test_every_path_starts_with_the_prefix():
    fake = service(says(LISTING))
    client = Client(f"{BASE_URL}/a/b/", ALICE, transport=httpx.MockTransport(fake))
    client.listing("7")
    assert fake.calls == ["GET /a/b/rest/folder/7"]


@each_case("bad_id", BAD_IDS)
def test_invalid_ids_are_never_sent(bad_id):
    fake = service(says(LISTING))
    client = fake.client()
    asks = [
        client.rename_folder, client.rename_file,
        lambda one, _name: client.delete_folder(one), lambda one, _name: client.delete_file(one),
        lambda one, _name: client.file_link(one), lambda one, _name: client.folder_zip_link(one),
        lambda one, _name: client.zip_link([("file", one)]),
        lambda one, _name: client.thumbnail(one),
        lambda one, _name: client.transfer(one), lambda one, _name: client.delete_transfer(one),
        lambda one, _name: client.add_magnet("magnet:?", one),
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(errors.NotFound):
            ask(bad_id, "name")
    assert fake.seen == []


@each_case(
    "bad_url",
    ["", "host", "ftp://host", "https://", "https://a:b@host", "https://host/?a", "https://host/#a",
     "https://host/a/../b", "https://host/%2e%2e/b", "https://ho st", "javascript:alert(1)"],
)  # fmt: skip
def test_malformed_service_addresses_are_refused(bad_url):
    with pytest.raises(ValueError, match="address") as raised:
        Client(bad_url, None)
    assert "a:b" not in str(raised.value)


def test_a_service_url_carries_name_and_password():
    assert split_service_url("https://me%40example.org:p%3Aw@host:8/prefix/") == (
        "https://host:8/prefix",
        Credentials("me@example.org", "p:w"),
    )
    assert split_service_url("http://host") == ("http://host", None)
    with pytest.raises(ValueError, match="address") as raised:
        split_service_url("ftp://me:secret@host")
    assert "secret" not in str(raised.value)


def test_requests_send_the_etag_and_accept_unchanged():
    fake = service(says(LISTING, ETag='"v1"'), httpx.Response(304))
    client = fake.client()
    assert client.listing().etag == '"v1"'
    assert client.listing("7", '"v1"') == Unchanged('"v1"')
    assert fake.seen[1].headers["If-None-Match"] == '"v1"'


def test_requests_for_transfers_send_the_etag_too():
    row = {"id": 5, "name": "Sintel", "progress": 3}
    fake = service(
        says({"result": True, "transfers": [row], "space_max": 9}, ETag='"t1"'),
        httpx.Response(304),
        says({"result": True}),
    )
    client = fake.client()
    found = client.transfers()
    assert isinstance(found, Transfers)
    assert ([each.id for each in found.transfers], found.space_max_bytes) == (["5"], 9)
    assert client.transfers(found.etag) == Unchanged('"t1"')
    with pytest.raises(errors.Unreadable):
        client.transfers()


@each_case("etag", ["plain", '"a\r\nX: y"', '"' + "x" * 300 + '"', '"é"'])
def test_an_invalid_etag_is_not_sent(etag):
    fake = service(says(LISTING))
    fake.client().listing("7", etag)
    assert "If-None-Match" not in fake.seen[0].headers


def test_an_unrequested_304_is_unreadable():
    with pytest.raises(errors.Unreadable):
        service(httpx.Response(304)).client().listing()


@each_case(
    ("answer", "failure", "reason"),
    [
        (page(401), errors.Unauthorized, "unauthorized"),
        (refuses(403, "premium_required"), errors.Forbidden, "premium_required"),
        (says({"error": "Rate limit exceeded"}, 403), errors.TooMany, "rate_limit_exceeded"),
        (page(403, Retry_After="5"), errors.TooMany, "forbidden"),
        (page(404), errors.NotFound, "not_found"),
        (page(405), errors.Rejected, "method_not_allowed"),
        (page(410), errors.NotFound, "gone"),
        (refuses(409, "Name already taken"), errors.Conflict, "name_already_taken"),
        (page(413), errors.Rejected, "too_large"),
        (page(429), errors.TooMany, "too_many_requests"),
        (page(500), errors.Unavailable, "internal_server_error"),
        (page(507), errors.NoRoom, "insufficient_storage"),
        (page(520), errors.Unavailable, "unknown"),
        (says({"result": False, "error": "access_denied"}), errors.Unauthorized, "access_denied"),
        (says({"result": False, "code": 404}), errors.NotFound, "not_found"),
        (says({"result": False}), errors.Unreadable, "refused"),
        (says({"result": "some_word"}), errors.Unreadable, "some_word"),
        (says({"result": True, "wt": {"id": 1}}), errors.Unreadable, "refused"),
        (says({"result": "some_word"}, 422), errors.Rejected, "some_word"),
        (says({**LISTING, "files": None}), errors.Unreadable, "not_v1"),
        (says({**LISTING, "folders": {"0": {"id": 7}}}), errors.Unreadable, "not_v1"),
        (page(200), errors.Unreadable, "not_json"),
        (httpx.Response(200, content=b'{"result": tr'), errors.Unreadable, "not_json"),
        (says([LISTING]), errors.Unreadable, "not_json"),
        (says({}), errors.Unreadable, "not_v1"),
        (httpx.Response(200), errors.Unreadable, "not_v1"),
        (httpx.Response(302, headers={"Location": "/x"}), errors.Unreadable, "redirected"),
    ],
)
def test_a_failure_is_reported_by_kind_and_reason(answer, failure, reason):
    with pytest.raises(errors.Failure) as raised:
        service(answer).client().listing()
    assert type(raised.value) is failure
    assert raised.value.reason == reason


def test_json_under_any_content_type_is_read():
    raw = json.dumps(LISTING).encode()
    fake = httpx.Response(200, content=raw, headers={"Content-Type": "text/html"})
    assert service(fake).client().listing().folder_id == "12847330"


@each_case("status", [200, 204])
def test_an_empty_response_to_a_change_means_success(status):
    service(httpx.Response(status)).client().rename_folder("7", "New")


@each_case(
    "reason",
    [
        {"reason_phrase": "Too many torrents"},
        {"error": "Too many torrents"},
        {"error": {"code": 7, "message": "Too many torrents"}},
        {"errors": ["Too many torrents", "and more"]},
        {"errors": [{"message": "Too many torrents"}]},
        {"message": "Too many torrents"},
    ],
)
def test_the_reason_for_a_refused_add_is_found_anywhere_in_the_response(reason):
    with pytest.raises(errors.Rejected) as raised:
        service(says({"result": False} | reason)).client().add_magnet("magnet:?xt=a")
    assert raised.value.said == "Too many torrents"


@each_case("answer", [says({"result": False}), page(422), page(404)])
def test_error_messages_quote_only_the_service(answer):
    with pytest.raises(errors.Failure) as raised:
        service(answer).client(naming="transfer").add_magnet("magnet:?xt=a")
    assert raised.value.said == ""


def test_messages_of_a_service_are_short_plain_text():
    said = "Sorry\x00\u202e<b>" + "x" * 10_000
    with pytest.raises(errors.Unreadable) as raised:
        service(says({"result": False, "error": said})).client().listing()
    assert len(raised.value.reason) <= 64
    assert len(raised.value.said) <= 200
    assert raised.value.said.startswith("Sorry <b>x")


# Retries


@each_case("status", [429, 502, 503, 504])
def test_reading_is_tried_three_times(status):
    fake = service(page(status), page(status), says(LISTING))
    assert fake.client().listing().folder_id == "12847330"
    assert fake.clock.pauses == [0.2, 0.8]


def test_reading_is_not_tried_a_fourth_time():
    fake = service(page(503))
    with pytest.raises(errors.Unavailable):
        fake.client().listing()
    assert len(fake.seen) == 3


PICTURE_FORMS = [
    lambda client: client.picture("7", 220),
    lambda client: client.open("https://service.example/thumbs/7", insists=False),
]


@each_case("asked", PICTURE_FORMS)
def test_pictures_are_not_retried(asked):
    fake = service(page(503, Retry_After="5"))
    with pytest.raises(errors.Unavailable):
        asked(fake.client())
    assert len(fake.seen) == 1
    assert fake.clock.pauses == []


@each_case("status", [400, 401, 403, 404, 409, 500])
def test_calls_that_would_fail_again_are_not_retried(status):
    fake = service(page(status))
    with pytest.raises(errors.Failure):
        fake.client().listing()
    assert len(fake.seen) == 1


@each_case("status", [429, 503])
def test_the_service_says_when_to_come_back(status):
    fake = service(page(status, Retry_After="7"), says(LISTING))
    fake.client().listing()
    assert fake.clock.pauses == [7.0]


def test_a_date_says_it_as_well():
    fake = service(page(503, Retry_After="Mon, 31 Aug 2026 12:00:09 GMT"), says(LISTING))
    fake.client().listing()
    assert fake.clock.pauses == [9.0]


@each_case("wrong", ["soon", "-5", "", "١"])
def test_a_wrong_retry_after_breaks_nothing(wrong):
    headers = {"Retry-After": wrong.encode()}
    fake = service(httpx.Response(503, headers=headers), says(LISTING))
    fake.client().listing()
    assert fake.clock.pauses == [0.2]


def test_an_endless_wait_is_a_day():
    fake = service(page(503, Retry_After="9" * 400))
    with pytest.raises(errors.Unavailable) as raised:
        fake.client().listing()
    assert raised.value.retry_after_seconds == 86_400


def test_calls_end_at_the_deadline():
    fake = service(page(429, Retry_After="600"))
    with pytest.raises(errors.TooMany) as raised:
        fake.client().listing()
    assert raised.value.retry_after_seconds == 600
    assert fake.clock.pauses == []


def connecting(request):
    raise httpx.ConnectError("refused", request=request)


def disconnecting(request):
    raise httpx.RemoteProtocolError(
        "Server disconnected without sending a response.", request=request
    )


def timing_out(request):
    raise httpx.ReadTimeout("slow", request=request)


def resetting(request):
    raise httpx.ReadError("reset", request=request)


ADDS = {
    "magnet": lambda client: client.add_magnet("magnet:?xt=1"),
    "url": lambda client: client.add_url("https://a/b"),
    "file": lambda client: client.add_file("a", io.BytesIO(b"12"), 2),
    "folder": lambda client: client.create_folder("a"),
    "rename": lambda client: client.rename_file("7", "a"),
}


@each_case("name", ADDS)
@each_case("trouble", [disconnecting, timing_out, resetting, page(502), page(503), page(429)])
def test_an_add_that_may_have_arrived_is_not_sent_again(name, trouble):
    fake = service(trouble)
    with pytest.raises((errors.Unavailable, errors.TooMany)):
        ADDS[name](fake.client(naming="transfer"))
    assert len(fake.seen) == 1


@each_case("name", ADDS)
def test_an_add_that_was_never_sent_is_sent_again(name):
    fake = service(connecting, says({"result": True, "user_torrent_id": 5, "id": "5"}))
    ADDS[name](fake.client(naming="transfer"))
    assert len(fake.seen) == 2


@each_case("trouble", [connecting, disconnecting, resetting])
def test_reading_survives_a_lost_connection(trouble):
    fake = service(trouble, trouble, says(LISTING))
    assert fake.client().listing().folder_id == "12847330"


@each_case(
    ("trouble", "reason", "times"),
    [
        (connecting, "no_connection", 3),
        (disconnecting, "broken_http", 3),
        (resetting, "cut_off", 3),
        (timing_out, "too_slow", 1),
    ],
)
def test_a_connection_that_stays_lost_has_a_word(trouble, reason, times):
    fake = service(trouble)
    with pytest.raises(errors.Unavailable) as raised:
        fake.client().listing()
    assert raised.value.reason == reason
    assert raised.value.__cause__ is not None
    assert len(fake.seen) == times


def test_a_deletion_that_finds_nothing_the_second_time_was_done():
    fake = service(resetting, refuses(404, "not_found"))
    fake.client().delete_file("7")
    assert len(fake.seen) == 2


def test_a_deletion_that_finds_nothing_the_first_time_was_not():
    with pytest.raises(errors.NotFound):
        service(refuses(404, "not_found")).client().delete_file("7")


def test_a_deletion_that_was_only_put_off_may_find_nothing():
    with pytest.raises(errors.NotFound):
        service(page(429), refuses(404, "not_found")).client().delete_file("7")


def test_a_body_that_trickles_ends_at_the_deadline():
    clock = Clock()

    class Trickle(httpx.SyncByteStream):
        def __iter__(self):
            while True:
                clock.seconds += 1
                yield b" "

    fake = service(lambda request: httpx.Response(200, stream=Trickle()))
    with pytest.raises(errors.Unavailable) as raised:
        replace(fake, clock=clock).client().listing()
    assert raised.value.reason == "too_slow"
    assert clock.seconds == pytest.approx(20)


# Health and secrets


def test_health_is_that_of_the_last_call():
    fake = service(says(LISTING), page(500), refuses(404, "not_found"))
    client = fake.client()
    client.listing()
    assert client.health.last_ok_at == NOON
    fake.clock.seconds = 60
    with pytest.raises(errors.Unavailable):
        client.listing()
    assert client.health.last_error == "internal_server_error"
    assert client.health.last_error_at == NOON + timedelta(seconds=60)
    assert client.health.last_ok_at == NOON


def test_a_service_that_refuses_a_name_is_well_again():
    fake = service(page(500), refuses(409, "Name already taken"))
    client = fake.client()
    with pytest.raises(errors.Unavailable):
        client.listing()
    with pytest.raises(errors.Conflict):
        client.rename_file("7", "a")
    assert client.health.last_error is None
    assert client.health.last_ok_at == NOON


@each_case("secret", [PASSWORD, ALICE.token, ALICE.name])
def test_a_service_that_repeats_the_credentials_is_not_believed(secret):
    with pytest.raises(errors.Rejected) as raised:
        service(refuses(400, f"bad user {secret}")).client().listing()
    failure = raised.value
    assert secret not in f"{failure!r} {failure} {failure.said} {failure.args} {vars(failure)}"
    assert failure.reason == "bad_request"


def test_a_reason_word_is_shown_even_if_it_equals_a_password():
    fake = service(refuses(413, "queue_full_wishlist_full"))
    client = Client(BASE_URL, Credentials("a", "queue"), transport=httpx.MockTransport(fake))
    with pytest.raises(errors.NoRoom) as raised:
        client.add_magnet("magnet:?xt=1")
    assert raised.value.reason == "queue_full_wishlist_full"


def test_nothing_shows_or_logs_the_credentials(caplog):
    caplog.set_level(logging.DEBUG)
    client = service(connecting).client()
    with pytest.raises(errors.Unavailable) as raised:
        client.listing()
    shown = (
        f"{client!r} {ALICE!r} {ALICE} {raised.value!r} {raised.value.__cause__!r} {caplog.text}"
    )
    for secret in (PASSWORD, ALICE.token, ALICE.name):
        assert secret not in shown


def test_cookies_of_the_service_are_not_stored():
    fake = service(says(LISTING, Set_Cookie="a=b"))
    client = fake.client()
    client.listing()
    client.listing()
    assert "Cookie" not in fake.seen[1].headers


def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    # The environment is the subject of this test.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    fake = routes({"GET /rest/folder": says(LISTING)})
    assert fake.client().listing().folder_id == "12847330"


def test_each_call_is_reported_with_its_seconds_and_its_failure():
    reports = []
    fake = service(says(LISTING), refuses(404, "not_found"), httpx.ConnectError("away"))
    client = fake.client(on_call=lambda *report: reports.append(report))
    client.listing()
    for _each in range(2):
        with pytest.raises(errors.Failure):
            client.listing("7")
    seconds, failures = zip(*reports, strict=True)
    assert [type(each) for each in failures] == [type(None), errors.NotFound, errors.Unavailable]
    assert seconds == (0, 0, pytest.approx(sum(fake.clock.pauses)))
    assert fake.clock.pauses
