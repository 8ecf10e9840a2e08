"""Alice's account on a disk of the test's own, those who ask for her, and what they were told."""

from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import httpx

from service.models import Account
from service.store.blobs import Store
from tests.faults.reckoning import GONE, Promises, reckoned, sum_of
from tests.faults.tally import Reckoning, Tally
from tests.running import PASSWORD


@dataclass
class Scene:
    account: Account
    store: Store
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
        """Everything that is there is what was promised."""
        self.even(reckoned(self.account, self.store, self.promises))

    def even(self, found: Reckoning) -> None:
        self.tally.add(found)
        assert found.is_even, found


@dataclass
class Asking:
    """Somebody who uses v1 over a socket, and notes what was promised.

    A request whose answer never comes raises httpx.TransportError, and decides nothing.
    """

    api: httpx.Client
    promises: Promises

    def put(self, name: str, content: bytes) -> int:
        """The new file's id."""
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
        """A magnet, whose files are as good as promised; the transfer's id."""
        magnet = {"magnet": made.magnet(peer=seeds.address)}
        answer = self.api.post("/rest/transfer/magnet", data=magnet)
        assert answer.status_code == 200, answer.text
        for path, content in made.files.items():
            self.promises.hear(sum_of(content), path[-1])
        return answer.json()["id"]
