"""Alice's account in a library for one test, the clients that act for her, and the promises."""

from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import httpx

from service.models import Account
from service.store.disk_store import DiskStore
from tests.faults.reckoning import GONE, Promises, reckoned, sum_of
from tests.faults.tally import Reckoning, Tally
from tests.running import PASSWORD


@dataclass
class Scene:
    account: Account
    store: DiskStore
    tally: Tally
    stack: ExitStack
    promises: Promises = field(default_factory=Promises)

    def asking(self, url: str) -> "Asking":
        api = httpx.Client(
            base_url=url, auth=(self.account.email, PASSWORD), timeout=60, trust_env=False
        )
        return Asking(self.stack.enter_context(closing(api)), self.promises)

    def happened(self, fault: str) -> None:
        self.tally.faults[fault] += 1

    def all_even(self) -> None:
        """Check that everything that exists was promised, and that nothing promised is missing."""
        self.even(reckoned(self.account, self.store, self.promises))

    def even(self, found: Reckoning) -> None:
        self.tally.add(found)
        assert found.is_even, found


@dataclass
class Asking:
    """A client that uses v1 over a socket, and records what Ferry promises.

    A request without an answer raises httpx.TransportError, and decides nothing.
    """

    api: httpx.Client
    promises: Promises

    def put(self, name: str, content: bytes) -> int:
        """Upload a file, and return its id."""
        self.promises.ask(sum_of(content), name)
        answer = self.api.post("/rest/transfer/file", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text
        self.promises.hear(sum_of(content), name)
        return self.api.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]

    def rename(self, file_id: int, content: bytes, name: str) -> None:
        self.promises.ask(sum_of(content), name)
        answer = self.api.post(f"/rest/file/{file_id}/rename", data={"rename_to": name})
        assert answer.status_code == 200, answer.text
        self.promises.hear(sum_of(content), name)

    def delete(self, file_id: int, content: bytes) -> None:
        self.promises.ask(sum_of(content), GONE)
        answer = self.api.delete(f"/rest/file/{file_id}")
        assert answer.status_code == 200, answer.text
        self.promises.hear(sum_of(content), GONE)

    def add(self, made, seeds) -> int:
        """Add a magnet, count its files as promised, and return the id of the transfer."""
        magnet = {"magnet": made.magnet(peer=seeds.address)}
        answer = self.api.post("/rest/transfer/magnet", data=magnet)
        assert answer.status_code == 200, answer.text
        for path, content in made.files.items():
            self.promises.hear(sum_of(content), path[-1])
        return answer.json()["id"]
