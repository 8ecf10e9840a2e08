"""A program that opens the drive with a token."""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from io import RawIOBase
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from webui.library.bounds import Bounds
from webui.models import User
from webui.tokens import tokens
from webui.tokens.tokens import Purpose

D = "{DAV:}"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def rows(self) -> dict[str, dict[str, str]]:
        """Return the found properties of each path in a multistatus."""
        rows = {}
        for each in ET.fromstring(self.content).iter(f"{D}response"):
            found = each.find(f"{D}propstat[{D}status='HTTP/1.1 200 OK']/{D}prop")
            href = unquote(each.findtext(f"{D}href"))
            rows[href] = {
                prop.tag: prop.text or "" for prop in (found if found is not None else [])
            }
        return rows

    @property
    def paths(self) -> list[str]:
        return [path.removeprefix("/dav/") for path in self.rows]


class Arriving(RawIOBase):
    """A body whose pieces arrive one by one."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _size: int = -1) -> bytes:
        return next(self._pieces, b"")


class Program:
    def __init__(self, token: str, *, name: str = "any name") -> None:
        pair = b64encode(f"{name}:{token}".encode()).decode()
        self.headers = {"host": "localhost", "authorization": f"Basic {pair}"}

    def __call__(self, method: str, path: str, body: bytes | str = b"", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = body.encode() if isinstance(body, str) else body
        site = Client(enforce_csrf_checks=True)
        response = site.generic(method, f"/dav/{path}", body, headers=self.headers | named)
        return Answer(response.status_code, dict(response.items()), content_of(response))

    def sends(
        self, path: str, pieces: Iterator[bytes], length: int | None = None, **headers: str
    ) -> Answer:
        """Send a file piece by piece, in chunks unless its length is known."""
        body = {"wsgi.input": Arriving(pieces), "wsgi.input_terminated": True}
        chunked = {"HTTP_TRANSFER_ENCODING": "chunked"}
        framing = chunked if length is None else {"CONTENT_LENGTH": str(length)}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = Client().generic(
            "PUT", f"/dav/{path}", headers=self.headers | named, **body, **framing
        )
        return Answer(response.status_code, dict(response.items()), content_of(response))

    def lists(self, path: str = "", **headers: str) -> list[str]:
        """Return the paths of a folder's entries."""
        return self("PROPFIND", path, depth="1", **headers).paths[1:]

    def reads(self, path: str) -> bytes:
        answer = self("GET", path)
        assert answer.status == 200
        return answer.content

    def moves(self, method: str, path: str, target: str, **headers: str) -> int:
        url = f"http://localhost/dav/{target}"
        return self(method, path, destination=url, **headers).status


def content_of(response: HttpResponse) -> bytes:
    if response.streaming:
        return b"".join(response.streaming_content)
    return response.content


def program_of(user: User, folder: Bounds | None = None, service: str = "", **options) -> Program:
    now = timezone.now()
    name = f"token {now.timestamp()}"
    return Program(
        tokens.create(user, name, now, Purpose.DRIVE, bounds=folder, service=service, **options)
    )


def lock_token(answer: Answer) -> str:
    return re.search(r"<(opaquelocktoken:[\w-]+)>", answer.headers["Lock-Token"])[1]


def lock_body(scope: str = "exclusive") -> str:
    return (
        '<?xml version="1.0"?><lockinfo xmlns="DAV:">'
        f"<lockscope><{scope}/></lockscope><locktype><write/></locktype>"
        "<owner><href>me</href></owner></lockinfo>"
    )
