"""Uploads through the whole program whose connections break."""

import socket
from base64 import b64encode

import httpx
import pytest
from bs4 import BeautifulSoup

from tests.running import PASSWORD

# It writes 4 GiB, for which others would wait.
pytestmark = [pytest.mark.slow, pytest.mark.alone]

SIZE = 2 * 2**30
INTERRUPTIONS = 20
PIECE = bytes(2**20)
NAME = "电影 ü 🎬.mkv"


@pytest.fixture
def browser(ferry):
    with httpx.Client(base_url=ferry.url, timeout=120, trust_env=False) as client:
        page = BeautifulSoup(client.get("/signin/").text, "html.parser")
        token = page.select_one("[name=csrfmiddlewaretoken]")["value"]
        fields = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
        assert client.post("/signin/", data=fields).status_code == 302
        token = next(value for name, value in client.cookies.items() if "csrf" in name)
        client.headers.update({"Tus-Resumable": "1.0.0", "X-CSRFToken": token})
        yield client


def begin(browser, size: int) -> str:
    metadata = f"filename {b64encode(NAME.encode()).decode()}"
    headers = {"Upload-Length": str(size), "Upload-Metadata": metadata}
    answer = browser.post("/files/0/uploads/", headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.headers["Location"]


def offset_of(browser, url: str) -> int:
    return int(browser.head(url).headers["Upload-Offset"])


def send_until_cut(browser, url: str, offset: int, count: int) -> int:
    """Start to send the rest, hang up after this many bytes, and return how many were sent."""
    port = browser.base_url.port
    head = browser.build_request(
        "PATCH",
        url,
        headers={
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
            "Content-Length": str(SIZE - offset),
        },
    )
    lines = [f"PATCH {url} HTTP/1.1", *(f"{name}: {value}" for name, value in head.headers.items())]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        sent = 0
        while sent < count:
            connection.sendall(PIECE)
            sent += len(PIECE)
    return sent


def test_2_gib_interrupted_20_times_send_at_most_one_percent_twice(browser):
    url, sent = begin(browser, SIZE), 0
    for _interruption in range(INTERRUPTIONS):
        sent += send_until_cut(browser, url, offset_of(browser, url), SIZE // (INTERRUPTIONS + 2))
    offset = offset_of(browser, url)
    rest = (PIECE for _ in range((SIZE - offset) // len(PIECE)))
    headers = {
        "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(SIZE - offset),
    }
    answer = browser.patch(url, content=rest, headers=headers)
    assert answer.status_code == 204, answer.text
    sent += SIZE - offset
    assert sent <= 1.01 * SIZE
    page = browser.get("/").text
    assert NAME in page
