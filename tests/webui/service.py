"""A storage service for tests of the site: the fake of tests.contract behind the real client."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from tests.contract.fake import ROOT, FakeV1, Item, Transfer
from webui.connection.address_policy import LinkPolicy
from webui.connection.connection import Service
from webui.v1.client import Client
from webui.v1.connection import Patience
from webui.v1.network.address import Credentials

EMAIL, PASSWORD = "owner@example.org", "herring in oil"
URL = "https://v1.example"
IMPATIENT = Patience(pauses_seconds=())

__all__ = ["EMAIL", "PASSWORD", "ROOT", "Storage", "storage_of"]


@dataclass
class Storage:
    """A storage service that a test controls: its contents, its failures, and the calls it got."""

    fake: FakeV1
    service: Service

    def renew(self) -> None:
        """Become another service, so that nothing cached from this one counts."""
        other = storage_of(secrets.token_hex(8), is_embedded=self.service.is_embedded)
        self.fake, self.service = other.fake, other.service

    def folder(self, name: str, parent: int = ROOT) -> Item:
        self.fake.revision += 1
        return self.fake.add(name, parent)

    def file(self, name: str, content: bytes = b"content", parent: int = ROOT) -> Item:
        self.fake.revision += 1
        return self.fake.add(name, parent, content)

    def move(self, item: Item, folder: Item) -> None:
        self.fake.revision += 1
        item.parent = folder.id

    def many(self, count: int, parent: int = ROOT) -> None:
        """Add files without the fake's check of each name against all others."""
        for number in range(count):
            item = Item(self.fake.new_id(), parent, f"IMG_{number}.jpg", b"x")
            self.fake.items[item.id] = item
        self.fake.revision += 1

    def transfer(self, title: str, **facts: Any) -> Transfer:
        """Add a transfer. A foreign service reports no state; the site derives it from the rest."""
        if not self.service.is_embedded:
            facts |= {"state": None, "reason": None}
        one = Transfer(self.fake.new_id(), title, facts.pop("hash", ""), ROOT, facts=facts)
        self.fake.transfers[one.id] = one
        self.fake.revision += 1
        return one

    def tells(self, one: Transfer, **facts: Any) -> None:
        one.facts |= facts
        self.fake.revision += 1

    def forgets(self, one: Transfer) -> None:
        del self.fake.transfers[one.id]
        self.fake.revision += 1

    @property
    def calls(self) -> list[tuple[str, str]]:
        return self.fake.calls

    def says(self, path: str, *answers: httpx.Response) -> None:
        self.fake.answers[path] = list(answers)

    def fails(self, path: str, status: int, reason: str = "", **headers: str) -> None:
        body = {"status_code": status, "reason_phrase": reason} if reason else {}
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.says(path, *[httpx.Response(status, json=body, headers=headers) for _ in range(9)])

    def is_back(self) -> None:
        self.fake.answers.clear()


def storage_of(key: str, *, is_embedded: bool, now=lambda: datetime.now(UTC)) -> Storage:
    fake = FakeV1(EMAIL, PASSWORD)
    fake.keeps_folder_id = is_embedded
    client = Client(
        URL,
        Credentials(EMAIL, PASSWORD),
        transport=fake,
        is_ours=is_embedded,
        may_follow=LinkPolicy(URL, ["media.example"]).may_follow,
        patience=IMPATIENT,
        now=now,
    )
    return Storage(fake, Service(key, client, is_embedded))
