"""Sending file bytes to the browser: redirects to links, and relayed streams."""

import socket
from queue import SimpleQueue

import httpx
import pytest
from django.http import StreamingHttpResponse
from hypothesis import given
from hypothesis import strategies as some

from common.http.content_disposition import disposition
from tests.cases import each_case
from tests.webui.service import PASSWORD
from webui.contents import relayed_files
from webui.contents.relayed_files import RelayedStream, passed_on
from webui.limiter import Limiter
from webui.v1.errors import Unavailable
from webui.v1.links import Download


class Reader(httpx.SyncByteStream):
    """A body that counts the pieces read from it, and knows whether it was closed."""

    def __init__(self, *pieces, breaks=False):
        self.pieces, self.breaks = pieces, breaks
        self.given, self.is_closed = 0, False

    def __iter__(self):
        for piece in self.pieces:
            self.given += 1
            yield piece
        if self.breaks:
            raise httpx.ReadError("gone")

    def close(self):
        self.is_closed = True


def leave(answer):
    """Release a response as a server does when the client disconnects, but keep the database."""
    for close in answer._resource_closers:  # noqa: SLF001  close() would close the database.
        close()


def streams(foreign, body, status=200, **headers):
    """Make the service send a file itself; return the list that its requests go to."""
    requests = []

    def answer(request, path):
        requests.append(request)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.Response(status, stream=body, headers=named)

    foreign.fake.answer = answer
    return requests


@pytest.mark.django_db
class TestLinks:
    def test_our_services_link_is_handed_over_as_a_path(self, gwen, storage):
        file = storage.file("a.txt")
        answer = gwen.client.get(f"/files/file/{file.id}/download/")
        assert answer.status_code == 302
        assert answer["Location"] == f"/content/file/{file.id}"
        assert "no-store" in answer["Cache-Control"]

    def test_a_foreign_link_is_handed_over_whole(self, gwen, foreign):
        file = foreign.file("a.txt")
        answer = gwen.client.get(f"/files/file/{file.id}/download/")
        assert answer["Location"] == f"https://v1.example/content/file/{file.id}"

    @each_case(
        "location",
        [
            "http://127.0.0.1/x",
            "http://10.0.0.8/x",
            "http://[::1]/x",
            "http://169.254.169.254/latest",
            "http://router/",
            "http://0x7f000001/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "//user:word@public.example/",
        ],
    )
    def test_a_link_to_another_host_is_checked(self, gwen, foreign, location):
        file = foreign.file("a.txt")
        foreign.says(f"/rest/file/{file.id}", httpx.Response(302, headers={"location": location}))
        answer = gwen.client.get(f"/files/file/{file.id}/download/")
        assert answer.status_code == 502
        assert "Location" not in answer

    def test_a_deleted_file_is_not_found(self, gwen, storage):
        assert gwen.client.get("/files/file/7/download/").status_code == 404


@pytest.mark.django_db
class TestStreams:
    def test_a_stream_is_passed_on_with_its_range(self, gwen, foreign):
        body = Reader(b"bcd")
        requests = streams(
            foreign,
            body,
            206,
            content_length="3",
            content_range="bytes 1-3/9",
            etag='"x"',
            content_disposition='attachment; filename="evil\\".html"',
            content_type="text/html",
            set_cookie="a=b",
            x_secret="yes",
        )
        headers = {"range": "bytes=1-3", "if-range": '"x"', "cookie-x": "no"}
        answer = gwen.client.get("/files/file/7/download/", headers=headers)
        assert answer.status_code == 206
        assert answer["Content-Range"] == "bytes 1-3/9"
        assert answer["Content-Length"] == "3"
        assert answer["ETag"] == '"x"'
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment;")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "X-Secret" not in answer
        assert "a" not in answer.cookies
        assert b"".join(answer.streaming_content) == b"bcd"
        leave(answer)
        assert requests[0].headers["range"] == "bytes=1-3"
        assert requests[0].headers["if-range"] == '"x"'
        assert requests[0].headers["accept-encoding"] == "identity"
        assert body.is_closed

    def test_a_client_that_disconnects_ends_the_stream_at_the_service(self, gwen, foreign):
        body = Reader(*[b"x" * 1000] * 1000)
        streams(foreign, body)
        answer = gwen.client.get("/files/file/7/download/")
        next(iter(answer.streaming_content))
        leave(answer)
        assert body.is_closed
        assert body.given < 5

    def test_no_more_streams_than_slots_and_each_is_given_back(self, gwen, foreign, monkeypatch):
        # STREAMS_PER_PROCESS is read once, when the process starts.
        monkeypatch.setattr(relayed_files, "slots", Limiter(1, wait_seconds=0))
        streams(foreign, Reader(b"x"))
        first = gwen.client.get("/files/file/7/download/")
        calls = len(foreign.calls)
        refused = gwen.client.get("/files/file/7/download/")
        assert refused.status_code == 503
        assert refused["Retry-After"]
        assert len(foreign.calls) == calls
        leave(first)
        leave(first)
        assert gwen.client.get("/files/file/7/download/").status_code == 200

    def test_a_slot_is_free_before_the_service_learns_that_a_reader_left(
        self, gwen, foreign, monkeypatch
    ):
        # STREAMS_PER_PROCESS is read once, when the process starts.
        monkeypatch.setattr(relayed_files, "slots", Limiter(1, wait_seconds=0))
        free_at_abort: SimpleQueue[bool] = SimpleQueue()

        def abort(_download):
            free_at_abort.put(relayed_files.slots.take() is not None)

        # What aborting means to the service is a matter of timing.
        monkeypatch.setattr(Download, "abort", abort)
        streams(foreign, Reader(b"x"))
        ours, theirs = socket.socketpair()
        with ours:
            answer = gwen.client.get("/files/file/7/download/", **{"gunicorn.socket": ours})
            theirs.close()
            assert free_at_abort.get(timeout=60)
            leave(answer)
            # The one that the abort took is still taken, and no slot was given back twice.
            assert relayed_files.slots.take() is None

    @each_case("status", [302, 404, 503])
    def test_a_response_that_is_not_a_stream_releases_its_slot(
        self, gwen, foreign, monkeypatch, status
    ):
        # STREAMS_PER_PROCESS is read once, when the process starts.
        monkeypatch.setattr(relayed_files, "slots", Limiter(1, wait_seconds=0))
        headers = {"location": "https://public.example/x"}
        foreign.says(
            "/rest/file/7", *[httpx.Response(status, headers=headers) for _time in range(5)]
        )
        for _time in range(3):
            gwen.client.get("/files/file/7/download/")
        assert relayed_files.slots.take()

    def test_head_asks_with_head(self, gwen, foreign):
        requests = streams(foreign, Reader(), content_length="9")
        answer = gwen.client.head("/files/file/7/download/")
        assert answer["Content-Length"] == "9"
        assert requests[0].method == "HEAD"
        leave(answer)


def download(pieces):
    request = httpx.Request("GET", "https://service.example/rest/file/7")
    return Download(httpx.Response(200, content=pieces, request=request))


def test_a_stream_that_breaks_is_an_aborted_connection():
    def broken():
        yield b"half"
        raise Unavailable("cut_off")

    stream = RelayedStream(download(broken()), lambda: None)
    assert next(stream) == b"half"
    with pytest.raises(ConnectionResetError):
        next(stream)


def test_memory_stays_the_same_for_any_size():
    pieces = (b"x" * 65536 for _piece in range(2**20))
    response = passed_on(download(pieces), "a", lambda: None)
    assert isinstance(response, StreamingHttpResponse)
    assert len(next(iter(response.streaming_content))) == 65536
    leave(response)


@given(some.text(max_size=400))
def test_any_name_makes_a_safe_disposition(name):
    value = disposition("attachment", name)
    assert value.isascii()
    assert value.isprintable()
    head, _, rest = value.removeprefix('attachment; filename="').partition('"')
    assert not set(head) & set('\\/:*?"<>|%')
    assert rest == "" or rest.startswith("; filename*=UTF-8''")


@each_case(
    ("name", "value"),
    [
        ("a b.txt", 'attachment; filename="a b.txt"'),
        ("ä.txt", "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%A4.txt"),
        ('x"\r\nSet-Cookie: a=b', 'attachment; filename="x___Set-Cookie_ a=b"'),
        ("../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'),
        ("", 'attachment; filename="_"'),
        ("exe\u202egnp.jpg", 'attachment; filename="exe_gnp.jpg"'),
    ],
)
def test_dispositions(name, value):
    assert disposition("attachment", name) == value


def test_the_secret_of_the_service_is_in_no_answer(gwen, foreign):
    file = foreign.file("a.txt")
    pages = ("/", "/account/", "/account/server/")
    for path in (*pages, f"/files/file/{file.id}/download/", "/files/file/9/download/"):
        answer = gwen.client.get(path)
        assert PASSWORD.encode() not in answer.content
        assert PASSWORD not in str(answer.headers)
