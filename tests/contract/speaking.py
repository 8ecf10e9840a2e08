"""v1 as any client uses it: plain httpx, without code of either half of Ferry."""

import hashlib
from dataclasses import dataclass
from typing import Any

import httpx

EMAIL = "alice@example.org"
PASSWORD = "a quiet: harbour at noon"
CONTENT = b"Ships at a distance have every man's wish on board."


@dataclass
class V1:
    client: httpx.Client  # with Alice's credentials, following no redirects
    stranger: httpx.Client  # without credentials

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.client.post(path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.client.delete(path, **options)

    # Listings

    def listing(self, folder_id: int = 0) -> dict[str, Any]:
        return fine(self.get(f"/rest/folder/{folder_id}"))

    def folder_names(self, folder_id: int = 0) -> list[str]:
        return [each["name"] for each in self.listing(folder_id)["folders"]]

    def file_names(self, folder_id: int = 0) -> list[str]:
        return [each["name"] for each in self.listing(folder_id)["files"]]

    def transfer_ids(self) -> list[int]:
        return [each["id"] for each in self.listing()["torrents"]]

    # What tests begin with

    def folder(self, path: str = "Films") -> int:
        return int(fine(self.post("/rest/folder", data={"path": path}))["id"])

    def file(self, name: str = "a.txt", content: bytes = CONTENT, folder_id: int = 0) -> int:
        answer = self.post(
            "/rest/transfer/file",
            files={"file": (name, content)},
            data={"folder_id": str(folder_id)},
        )
        transfer = fine(self.get(f"/rest/transfer/{fine(answer)['id']}"))
        return transfer["file_created"]

    def transfer(self, name: str = "Sintel") -> int:
        return fine(self.post("/rest/transfer/magnet", data={"magnet": magnet(name)}))["id"]

    def content(self, answer: httpx.Response, **options: Any) -> httpx.Response:
        """Follow the redirect of a content endpoint, without credentials."""
        assert answer.status_code == 302, answer.text
        return self.stranger.get(answer.headers["location"], **options)

    def renew(self) -> None:
        self.clear()

    def clear(self) -> None:
        listing = self.listing()
        for kind in ("folders", "files"):
            for each in listing[kind]:
                fine(self.delete(f"/rest/{kind[:-1]}/{each['id']}"))
        for each in listing["torrents"]:
            fine(self.delete(f"/rest/torrent/{each['id']}"))


def fine(answer: httpx.Response) -> dict[str, Any]:
    """Return the object of a success, which is always 200 with JSON (wire.md section 1)."""
    assert answer.status_code == 200, answer.text
    facts = answer.json()
    assert facts["result"] is True
    return facts


def refused(answer: httpx.Response, status: int, reason: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    facts = answer.json()
    assert facts["result"] is False
    if reason is not None:
        assert facts["reason_phrase"] == reason
    return facts


def hash_of(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


def magnet(name: str = "Sintel") -> str:
    return f"magnet:?xt=urn:btih:{hash_of(name)}&dn={name}"


def torrent(name: str = "Sintel") -> bytes:
    """Return a torrent of one file of 100 bytes."""
    info = b"d6:lengthi100e4:name%d:%s12:piece lengthi16384e6:pieces20:%se" % (
        len(name.encode()),
        name.encode(),
        b"h" * 20,
    )
    return b"d4:info" + info + b"e"
