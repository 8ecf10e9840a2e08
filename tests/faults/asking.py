"""Somebody who uses v1 over a socket, and notes what was promised."""

import httpx

from tests.faults.reckoning import GONE, Promises, sum_of

BUSY = (503,)


class Asking:
    """A request whose answer never comes raises httpx.TransportError, and decides nothing."""

    def __init__(self, url: str, email: str, password: str, promises: Promises) -> None:
        self.api = httpx.Client(base_url=url, auth=(email, password), timeout=30, trust_env=False)
        self._promises = promises

    def close(self) -> None:
        self.api.close()

    def put(self, name: str, content: bytes) -> int:
        """The new file's id."""
        self._promises.ask(sum_of(content), name)
        answer = self.api.post("/rest/transfer/file", files={"file": (name, content)})
        assert answer.status_code == 200, answer.text
        self._promises.hear(sum_of(content), name)
        return self.api.get(f"/rest/transfer/{answer.json()['id']}").json()["file_created"]

    def rename(self, file_id: int, content: bytes, name: str) -> None:
        self._promises.ask(sum_of(content), name)
        answer = self.api.post(f"/rest/file/{file_id}/rename", data={"rename_to": name})
        assert answer.status_code == 200, answer.text
        self._promises.hear(sum_of(content), name)

    def delete(self, file_id: int, content: bytes) -> None:
        self._promises.ask(sum_of(content), GONE)
        answer = self.api.delete(f"/rest/file/{file_id}")
        assert answer.status_code == 200, answer.text
        self._promises.hear(sum_of(content), GONE)
