"""Links, open downloads, and which hosts get the owner's credentials."""

import json

import httpx
import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import PASSWORD, page, refuses, says, service
from webui.v1 import errors
from webui.v1.links import Download, Link

ELSEWHERE = "https://storage.example/a/b.mp4?st=SIGNATURE"


def redirect(location: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"Location": location})


class Bytes(httpx.SyncByteStream):
    def __init__(self, *pieces):
        self.pieces = pieces
        self.is_closed = False

    def __iter__(self):
        yield from self.pieces

    def close(self):
        self.is_closed = True


def streamed(*pieces, status=200, **headers):
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx.Response(status, headers=named, stream=Bytes(*pieces))


@each_case("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_link(status):
    fake = service(redirect(ELSEWHERE, status))
    assert fake.client().file_link("7") == Link(ELSEWHERE, is_ours=False)
    assert fake.calls == ["GET /rest/file/7"]


@each_case("page", ["/login", "/accounts/sign-in/?next=/rest/file/7"])
def test_the_sign_in_page_of_a_service_is_no_link(page):
    """Browsers would show a page that knows nothing of Ferry, or save it as the file."""
    with pytest.raises(errors.Unreadable) as raised:
        service(redirect(page)).client().file_link("7")
    assert raised.value.reason == "redirected"


def test_a_link_of_our_service_is_stored_as_path_and_signature():
    fake = service(redirect("http://phone.lan:8000/content/7?s=SIGNATURE"))
    link = fake.client(is_ours=True, may_follow=lambda url: False).file_link("7")
    assert link.is_ours
    assert link.path_and_query == "/content/7?s=SIGNATURE"


def test_a_relative_link_is_of_the_service():
    link = service(redirect("/content/7?s=1")).client().folder_zip_link("7")
    assert link.url == "https://service.example/content/7?s=1"


@each_case(
    "location",
    ["", "javascript:alert(1)", "file:///etc/passwd", "gopher://a/", "ftp://a/b", "data:,x",
     "https://user:pw@host/", "https://", "https://a\\@b/", "//\\evil", "https://a b/", "mailto:a",
     "https://a/" + "x" * 9_000, "https://[::1", "https://a:99999999/", "http://\u00ad/"],
)  # fmt: skip
@each_case("is_ours", [True, False])
def test_a_link_of_a_bad_shape_is_refused(location, is_ours):
    answer = httpx.Response(302, headers={"Location": location.encode()})
    client = service(answer, connecting).client(is_ours=is_ours)
    with pytest.raises(errors.Unavailable):
        client.open(client.file_link("7"))


def connecting(request):
    raise httpx.ConnectError("no such host", request=request)


def test_the_caller_checks_a_link():
    judged = []

    def may_follow(url):
        judged.append(url)
        return "storage.example" in url

    fake = service(redirect(ELSEWHERE), redirect("http://169.254.169.254/latest"))
    client = fake.client(may_follow=may_follow)
    assert client.file_link("7").url == ELSEWHERE
    with pytest.raises(errors.Unreadable) as raised:
        client.file_link("7")
    assert raised.value.reason == "refused_link"
    assert judged == [ELSEWHERE, "http://169.254.169.254/latest"]


def test_each_redirect_on_the_way_is_checked():
    fake = service(redirect("http://127.0.0.1/admin"))
    client = fake.client(may_follow=lambda url: "storage.example" in url)
    with pytest.raises(errors.Unreadable):
        client.open(ELSEWHERE)
    assert len(fake.seen) == 1


def test_credentials_never_leave_the_service():
    fake = service(
        redirect("/rest/file/8"),
        redirect(ELSEWHERE),
        redirect("https://service.example.evil.example/rest/file/7"),
        redirect("https://service.example:444/rest/file/7"),
        redirect("http://service.example/rest/file/7"),
        says({}),
    )
    client = fake.client()
    link = client.file_link("7", {"Range": "bytes=5-", "Authorization": "x", "Cookie": "a=b"})
    client.open(link, {"Range": "bytes=5-", "Cookie": "a=b"}).close()
    sent = [(request.url.host, "Authorization" in request.headers) for request in fake.seen]
    assert sent == [
        ("service.example", True),
        ("service.example", True),
        ("storage.example", False),
        ("service.example.evil.example", False),
        ("service.example", False),
        ("service.example", False),
    ]
    for request in fake.seen:
        assert "Cookie" not in request.headers
        assert request.headers["Range"] == "bytes=5-"
        assert request.headers["Accept-Encoding"] == "identity"
        if request.url.scheme == "http" or "Authorization" not in request.headers:
            assert PASSWORD not in str(request.headers.raw)


@each_case(
    ("url", "is_told"),
    [
        ("https://service.example/rest/file/7/image", True),
        ("https://SERVICE.example:443/rest/file/7/image", True),
        ("https://service.example/content/7", False),
        ("https://service.example/rest", False),
        ("https://service.example/rest/../admin", False),
        ("https://service.example/rest/%2e%2e/admin", False),
        ("https://service.example.evil/rest/file/7", False),
        ("http://service.example/rest/file/7", False),
    ],
)
def test_credentials_are_sent_to_the_api_only(url, is_told):
    fake = service(says({}))
    fake.client().open(url).close()
    assert ("Authorization" in fake.seen[0].headers) == is_told


def test_redirects_in_a_circle_end():
    fake = service(redirect("/rest/file/7"))
    with pytest.raises(errors.Unreadable) as raised:
        fake.client().file_link("7")
    assert raised.value.reason == "too_many_redirects"
    assert len(fake.seen) == 5


def test_a_service_that_sends_the_bytes_itself_is_an_open_download():
    headers = {
        "Content_Type": "video/mp4",
        "Content_Length": "6",
        "Content_Range": "bytes 0-5/9",
        "Accept_Ranges": "bytes",
        "ETag": '"a"',
        "Set_Cookie": "a=b",
        "X_Secret": "b",
    }
    answer = streamed(b"abc", b"def", status=206, **headers)
    stream, fake = answer.stream, service(answer)
    download = fake.client().file_link("7", {"range": "bytes=0-5", "X-Forwarded-For": "me"})
    assert isinstance(download, Download)
    assert download.status == 206
    assert download.size_bytes == 6
    assert set(download.headers) == {
        "Content-Type", "Content-Length", "Content-Range", "Accept-Ranges", "ETag",
    }  # fmt: skip
    assert list(download) == [b"abc", b"def"]
    download.close()
    assert stream.is_closed
    assert fake.seen[0].headers["Range"] == "bytes=0-5"
    assert "X-Forwarded-For" not in fake.seen[0].headers


def test_closing_a_download_half_way_ends_it_upstream():
    answer = streamed(b"abc", b"def")
    stream = answer.stream
    with service(answer).client().file_link("7") as download:
        assert next(iter(download)) == b"abc"
        assert not stream.is_closed
    assert stream.is_closed


@each_case("value", ["bytes=0-1\r\nX: y", "bytes=" + "0-0," * 1_000, "é", ""])
def test_an_invalid_range_is_not_sent(value):
    fake = service(says({}))
    fake.client().file_link("7", {"Range": value}).close()
    assert "Range" not in fake.seen[0].headers


@each_case("status", [200, 206, 304, 416])
def test_answers_that_a_reader_understands_are_handed_on(status):
    with service(streamed(status=status)).client().open(ELSEWHERE) as download:
        assert download.status == status


@each_case(
    ("answer", "failure"),
    [
        (page(401), errors.Unauthorized),
        (refuses(404, "File not found"), errors.NotFound),
        (page(404), errors.NotFound),
        (page(500), errors.Unavailable),
        (page(429), errors.TooMany),
        (page(204), errors.Unreadable),
        (says({"result": False, "error": "x"}, 400), errors.Rejected),
    ],
)
def test_a_file_that_is_not_given_fails_in_our_words(answer, failure):
    with pytest.raises(failure):
        service(answer).client().file_link("7")


def test_a_storage_host_that_refuses_says_nothing_of_the_credentials():
    client = service(page(401)).client()
    with pytest.raises(errors.Forbidden):
        client.open(ELSEWHERE)
    assert client.health.last_error is None


def test_a_head_stays_a_head_over_redirects():
    fake = service(redirect("https://b.example/"), httpx.Response(200))
    with fake.client().open(ELSEWHERE, method="HEAD") as download:
        assert list(download) == [b""] or list(download) == []
    assert [request.method for request in fake.seen] == ["HEAD", "HEAD"]


def test_a_selection_is_requested_in_the_query():
    fake = service(redirect(ELSEWHERE))
    fake.client().zip_link([("file", "7"), ("file", "5983629956"), ("folder", "9")])
    assert fake.seen[0].method == "GET"
    assert json.loads(fake.seen[0].url.params["archive_arr"]) == [
        {"type": "file", "id": 7},
        {"type": "file", "id": 5983629956},
        {"type": "folder", "id": 9},
    ]


MANY = [("file", str(5983629956 + number)) for number in range(1_000)]


def test_a_long_selection_is_posted_to_a_service_of_ours():
    fake = service(redirect("/content/zip?s=1"))
    assert fake.client(is_ours=True).zip_link(MANY).path_and_query == "/content/zip?s=1"
    assert fake.calls == ["POST /rest/zip"]
    sent = dict(httpx.QueryParams(fake.seen[0].content.decode()))
    assert len(json.loads(sent["archive_arr"])) == 1_000


def test_a_selection_too_long_for_a_foreign_service_is_not_sent():
    fake = service(redirect(ELSEWHERE))
    with pytest.raises(errors.Rejected) as raised:
        fake.client().zip_link(MANY)
    assert raised.value.reason == "selection_too_long"
    assert fake.seen == []


@each_case("count", [1, 50, 120, 140, 160])
def test_no_request_line_is_longer_than_servers_take(count):
    fake = service(redirect(ELSEWHERE))
    try:
        fake.client().zip_link(MANY[:count])
    except errors.Rejected:
        assert count > 120
    else:
        assert len(fake.seen[0].url.raw_path) < 8_150
