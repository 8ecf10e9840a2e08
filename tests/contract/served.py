"""The fake v1 behind a socket, for a Ferry that runs as a program."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import httpx

from tests.contract.fake import FakeV1

NOT_SENT_ON = frozenset({"content-length", "content-encoding", "transfer-encoding", "connection"})


@contextmanager
def served(fake: FakeV1, email: str, password: str) -> Iterator[str]:
    """Serve the fake, and yield the SERVICE_URL that leads to it."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request = httpx.Request(
                self.command,
                f"http://{self.headers['Host']}{self.path}",
                headers=list(self.headers.items()),
                content=self.rfile.read(length),
            )
            with turn:
                response = fake.handle_request(request)
            body = response.read()
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                if name not in NOT_SENT_ON:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815  `http.server` sets the names.

        def log_message(self, *_words: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{quote(email, safe='')}:{quote(password)}@127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
