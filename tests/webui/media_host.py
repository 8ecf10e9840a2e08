"""A foreign service whose films are on another host, which needs no credentials and records the
headers of every request."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx

from tests.webui.service import EMAIL, IMPATIENT, PASSWORD, URL, Storage
from webui.connection.address_policy import LinkPolicy
from webui.connection.connection import Service
from webui.v1.client import Client
from webui.v1.network.address import Credentials

MEDIA_URL = "https://media.example"

MASTER = """#EXTM3U
#EXT-X-VERSION:6
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch, leise",LANGUAGE="de",URI="audio/de.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="https://media.example/subs/en.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a"
low/index.m3u8?sig=abc
#EXT-X-STREAM-INF:BANDWIDTH=2400000,RESOLUTION=1280x720,AUDIO="a"
https://media.example/film/high.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,URI="frames.m3u8"
"""
VARIANT = """#EXTM3U
#EXT-X-TARGETDURATION:6
#EXT-X-KEY:METHOD=AES-128,URI="key.bin",IV=0x00000000000000000000000000000001
#EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
#EXTINF:6.0,
one.ts
#EXTINF:4.5,
/other/two.ts?sig=x%2Fy
#EXT-X-ENDLIST
"""


@dataclass
class MediaHost(httpx.BaseTransport):
    """A media host in memory. `files` maps paths to text, bytes, or a whole answer."""

    v1: httpx.BaseTransport
    files: dict[str, str | bytes | httpx.Response] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "media.example":
            return self.v1.handle_request(request)
        self.requests.append(request)
        found = self.files.get(request.url.raw_path.decode().partition("?")[0])
        if isinstance(found, httpx.Response):
            return found
        if found is None:
            return httpx.Response(404, text="nothing here")
        return ranged(request, found.encode() if isinstance(found, str) else found)

    @property
    def paths(self) -> list[str]:
        return [request.url.raw_path.decode() for request in self.requests]


def ranged(request: httpx.Request, content: bytes) -> httpx.Response:
    start, dash, stop = request.headers.get("range", "").removeprefix("bytes=").partition("-")
    headers = {"accept-ranges": "bytes", "content-type": "video/mp2t"}
    if not dash:
        return httpx.Response(200, content=content, headers=headers)
    first, last = int(start), int(stop or len(content) - 1)
    headers["content-range"] = f"bytes {first}-{last}/{len(content)}"
    return httpx.Response(206, content=content[first : last + 1], headers=headers)


def behind(storage: Storage) -> tuple[MediaHost, Service]:
    """Return a media host, and the storage's service with a client that reaches both."""
    host = MediaHost(storage.fake)
    client = Client(
        URL,
        Credentials(EMAIL, PASSWORD),
        transport=host,
        may_follow=LinkPolicy(URL, ["media.example"]).may_follow,
        patience=IMPATIENT,
    )
    return host, Service(storage.service.key, client, is_embedded=False)


# Over sockets


@dataclass
class Host:
    """A media host that sends the file at a path, or redirects if the file is a URL."""

    url: str
    files: dict[str, str | bytes] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def answer(self, path: str, headers: dict[str, str]) -> httpx.Response:
        self.requests.append((path, headers))
        found = self.files.get(path, "")
        if isinstance(found, str) and found.startswith("http"):
            return httpx.Response(302, headers={"location": found})
        content = found.encode() if isinstance(found, str) else found
        return ranged(httpx.Request("GET", self.url + path, headers=headers), content)


@contextmanager
def listening(address: str = "127.0.0.1") -> Iterator[Host]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): self.headers[name] for name in self.headers}
            answer = host.answer(self.path, headers)
            self.send_response(answer.status_code)
            for name, value in ({"content-length": "0"} | dict(answer.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer((address, 0), Handler) as server:
        host = Host(f"http://{address}:{server.server_port}")
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()
