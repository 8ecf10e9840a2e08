"""Programs that call Ferry as if it were qBittorrent, each as its own code does it."""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.test import Client
from django.utils import timezone

from tests.conftest import FORM
from webui.library.bounds import Bounds
from webui.models import User
from webui.tokens import tokens
from webui.tokens.tokens import Purpose


@dataclass
class Heard:
    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class QBClient:
    """A client of the Web API. It keeps the cookie by hand, as small programs do."""

    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **query: str) -> Heard:
        tail = f"?{urlencode(query)}" if query else ""
        return self.send("GET", f"{path}{tail}", b"", FORM)

    def post(self, path: str, **form: str) -> Heard:
        return self.send("POST", path, urlencode(form).encode(), FORM)

    def post_file(self, path: str, content: bytes, part: str = "torrents", **form: str) -> Heard:
        pieces = [
            f'--X\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in form.items()
        ]
        head = f'--X\r\nContent-Disposition: form-data; name="{part}"; filename="a.torrent"\r\n'
        pieces.insert(0, head.encode() + b"\r\n" + content + b"\r\n")
        body = b"".join(pieces) + b"--X--\r\n"
        return self.send("POST", path, body, "multipart/form-data; boundary=X")

    def send(self, method: str, path: str, body: bytes, kind: str) -> Heard:
        response = Client(enforce_csrf_checks=True).generic(
            method, f"/api/v2/{path}", body, kind, headers={"host": "localhost", **self.headers}
        )
        assert not response.cookies  # Django's would get another name over https.
        return Heard(response.status_code, response.content.decode(), dict(response.items()))

    def sign_in(self, token: str) -> Heard:
        heard = self.post("auth/login", username="any", password=token)
        if "Set-Cookie" in heard.headers:
            self.headers["cookie"] = heard.headers["Set-Cookie"].partition(";")[0]
        return heard

    def rows(self, **query: str) -> list[dict[str, Any]]:
        return self.get("torrents/info", **query).json

    def row(self, torrent: str) -> dict[str, Any]:
        return next(each for each in self.rows() if each["hash"] == torrent)


def make_token(user: User, **limits: Any) -> str:
    purpose = limits.pop("purpose", Purpose.PROGRAMS)
    return tokens.create(user, "Sonarr", timezone.now(), purpose, **limits)


def bounded(service: str, folder: int) -> dict[str, Any]:
    return {"service": service, "bounds": Bounds(str(folder), "TV")}


def by_bearer(token: str) -> QBClient:
    return QBClient({"authorization": f"Bearer {token}"})


def by_basic(token: str) -> QBClient:
    return QBClient({"authorization": f"Basic {b64encode(f'x:{token}'.encode()).decode()}"})
