"""A person who signs in, and does one thing after another in their own folder."""

import io
import random
import re
import zipfile
from collections.abc import Callable
from html import unescape
from urllib.parse import quote

import httpx

MOST_FILES = 12
LARGEST_BYTES = 200_000
ENTRY = re.compile(r'<tr id="file-(\d+)".*?class="entry-name" dir="ltr" title="([^"]*)"', re.DOTALL)
TOKEN = re.compile(r'csrfmiddlewaretoken" value="([^"]+)')
PAGE_TOKEN = re.compile(r'"X-CSRFToken": "([^"]+)"')
REVISION = re.compile(r'id="seen" name="seen" value="([^"]*)"')


class Person:
    """A person who knows their files, and raises AssertionError if Ferry shows something else."""

    def __init__(self, url: str, name: str, password: str, seed: int, addresses: str) -> None:
        self.name = name
        self.browser = httpx.Client(base_url=url, timeout=60, trust_env=False)
        self.acts_done = 0
        self._password = password
        self._chance = random.Random(seed)
        self._addresses = addresses
        self._contents: dict[str, bytes] = {}
        self._folder = ""
        self._token = ""
        self._revision = ""
        # Most people read and browse most of the time.
        self._acts: list[tuple[int, Callable[[], None]]] = [
            (6, self.list),
            (3, self.filter),
            (3, self.preview),
            (4, self.read_a_part),
            (2, self.pack),
            (4, self.upload),
            (2, self.rename),
            (2, self.delete),
            (2, self.fetch),
            (8, self.poll),
            (1, self.leave_and_return),
        ]

    def begin(self) -> None:
        self.sign_in()
        answer = self._post("/files/0/new/", data={"name": self.name}, script=True)
        self._folder = re.findall(r"/files/(\w+)/upload/", answer.json()["upload_url"])[0]

    def act(self) -> None:
        """Do one thing at random; first sign in again if that failed before."""
        if not self._token:
            self.sign_in()
        weights, acts = zip(*self._acts, strict=True)
        self._chance.choices(acts, weights)[0]()
        self.acts_done += 1

    def pause_seconds(self, mean: float) -> float:
        return self._chance.uniform(0.5 * mean, 1.5 * mean)

    # Signing in and out

    def sign_in(self) -> None:
        form = self._get("/signin/").text
        fields = {"username": self.name, "password": self._password}
        fields["csrfmiddlewaretoken"] = TOKEN.findall(form)[0]
        answer = self.browser.post("/signin/", data=fields)
        assert answer.status_code == 302, f"signing in: {answer.status_code}"
        self._token = PAGE_TOKEN.findall(self._get("/account/").text)[0]

    def leave_and_return(self) -> None:
        answer = self._post("/signout/", is_well=(302,))
        self._token = ""
        assert "/signin/" in answer.headers["Location"]
        assert self.browser.get("/account/").status_code == 302, "signed out, and still let in"
        self.sign_in()

    # Reading

    def list(self) -> None:
        """Check that each upload is listed until its owner deletes it."""
        missing = self._contents.keys() - self._listed("").keys()
        assert not missing, f"not listed: {sorted(missing)}"

    def filter(self) -> None:
        if chosen := self._any():
            found = self._listed(f"?q={quote(chosen)}&sort={self._chance.choice(['size', 'name'])}")
            assert chosen in found, f"not found: {chosen}"

    def preview(self) -> None:
        if chosen := self._any():
            number = self._listed("")[chosen]
            page = self._get(f"/files/{self._folder}/file-{number}/view/").text
            assert chosen in unescape(page), f"no preview of {chosen}"

    def read_a_part(self) -> None:
        if chosen := self._any():
            content = self._contents[chosen]
            first = self._chance.randrange(len(content))
            answer = self.browser.get(
                f"/files/file/{self._listed('')[chosen]}/download/",
                headers={"Range": f"bytes={first}-"},
                follow_redirects=True,
            )
            assert answer.status_code == 206, f"a part: {answer.status_code}"
            assert answer.content == content[first:], f"another content of {chosen}"

    def pack(self) -> None:
        answer = self.browser.get(f"/files/folder/{self._folder}/zip/", follow_redirects=True)
        assert answer.status_code == 200, f"a ZIP: {answer.status_code}"
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            packed = {name.rpartition("/")[2]: name for name in archive.namelist()}
            for name, content in self._contents.items():
                assert archive.read(packed[name]) == content, f"another content of {name} in a ZIP"

    def poll(self) -> None:
        """Poll, as a page of transfers does."""
        answer = self._get(f"/transfers/list/?seen={quote(self._revision)}", is_well=(200, 204))
        if answer.status_code == 200:
            self._revision = REVISION.findall(answer.text)[0]

    # Changing

    def upload(self) -> None:
        if len(self._contents) >= MOST_FILES:
            return
        name = f"{self._chance.randrange(10**9):09} notes.txt"
        length = self._chance.randrange(1, LARGEST_BYTES)
        content = self._chance.randbytes(length).hex().encode()
        answer = self._post(
            f"/files/{self._folder}/upload/",
            files={"file": (name, content)},
            headers={"X-File-Size": str(len(content))},
            script=True,
        )
        assert answer.json() == {"ok": True, "name": name}, answer.text
        self._contents[name] = content

    def rename(self) -> None:
        if old := self._any():
            stem = f"{self._chance.randrange(10**9):09} renamed"
            path = f"/files/{self._folder}/file-{self._listed('')[old]}/rename/"
            self._post(path, data={"name": f"{stem}.txt"}, is_well=(302,))
            self._contents[f"{stem}.txt"] = self._contents.pop(old)

    def delete(self) -> None:
        """Delete a file, and all that were fetched, so that the folder doesn't grow without end."""
        listed = self._listed("")
        doomed = [name for name in listed if name not in self._contents]
        doomed += [mine] if (mine := self._any()) else []
        entries = [f"file-{listed[name]}" for name in doomed]
        path = f"/files/{self._folder}/delete/"
        if entries:
            self._post(path, data={"entry": entries}, is_well=(302,))
        for name in doomed:
            self._contents.pop(name, None)

    def fetch(self) -> None:
        address = f"{self._addresses}?{self._chance.randrange(10**9)}"
        sent = {"text": address, "folder": self._folder}
        answer = self._post("/transfers/send/", data=sent, script=True)
        assert answer.json()["ok"], answer.text

    # Helpers

    def _any(self) -> str:
        return self._chance.choice(sorted(self._contents)) if self._contents else ""

    def _listed(self, tail: str) -> dict[str, str]:
        page = self._get(f"/files/{self._folder}/{tail}").text
        return {unescape(name): number for number, name in ENTRY.findall(page)}

    def _get(self, path: str, is_well: tuple[int, ...] = (200,)) -> httpx.Response:
        answer = self.browser.get(path)
        assert answer.status_code in is_well, f"{path} answers {answer.status_code}"
        return answer

    def _post(
        self,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        script: bool = False,
        is_well: tuple[int, ...] = (200,),
        **body: object,
    ) -> httpx.Response:
        sent = {"X-CSRFToken": self._token, "Referer": str(self.browser.base_url)}
        sent |= {"X-Requested-With": "ferry"} if script else {}
        answer = self.browser.post(path, headers=sent | (headers or {}), **body)
        assert answer.status_code in is_well, f"{path} answers {answer.status_code}"
        return answer
