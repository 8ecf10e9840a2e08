"""Fill Ferry before a journey begins, through the site as a person would, but faster."""

import re
import secrets
from dataclasses import dataclass

import httpx

from tests.running import PASSWORD, Ferry

CROWD = """
import secrets
from django.utils import timezone
from config.embedded import upstream
from service.accounts import accounts
from service.library import library
from service.library.bulk_insert import NewFile, insert_tree
from service.store.sums import Stored
account = accounts.find(upstream.EMBEDDED_ACCOUNT)
names = [f"IMG_{{number}}.jpg" for number in range({count} - 26)]
names += [f"{{letter}} first.jpg" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
stored = lambda: Stored(secrets.token_hex(16), 1000, secrets.token_hex(20), 1)
root = library.root_of(account).pk
grown = insert_tree(
    account, root, {name!r}, [NewFile((name,), stored()) for name in names], timezone.now()
)
print("planted", grown.folder.pk)
"""


@dataclass(frozen=True)
class Folder:
    name: str
    path: str
    upload_path: str
    new_path: str

    @property
    def key(self) -> str:
        """Return the folder's key in URLs: `folder-7`."""
        return f"folder-{self.path.split('/')[2]}"


class Shelf:
    """A client of the site that is signed in as Alice and needs no browser."""

    def __init__(self, ferry: Ferry) -> None:
        self._ferry = ferry
        self._http = httpx.Client(
            base_url=ferry.url, follow_redirects=True, trust_env=False, timeout=60
        )
        form = {"username": "alice", "password": PASSWORD}
        self.post("/signin/", form)

    def close(self) -> None:
        self._http.close()

    def folder(self, name: str = "", inside: Folder | None = None) -> Folder:
        name = name or f"Journey {secrets.token_hex(4)}"
        path = inside.new_path if inside else "/files/0/new/"
        made = self.post(path, {"name": name}).json()
        assert made["ok"], made
        found = re.fullmatch(r"(/files/\w+/)upload/", made["upload_url"])
        assert found, made
        return Folder(name, found[1], made["upload_url"], made["new_url"])

    def file(self, folder: Folder, name: str, content: bytes = b"content") -> None:
        answer = self.post(folder.upload_path, files={"file": (name, content)}).json()
        assert answer["ok"], answer

    def films(self) -> Folder:
        """Make a folder of two folders and three files."""
        folder = self.folder()
        self.folder("Alps", inside=folder)
        self.folder("Bays", inside=folder)
        for name in ["Clouds.mkv", "Dunes.2.mkv", "Elms.txt"]:
            self.file(folder, name, b"x" * 5000)
        return folder

    def names(self, folder: Folder) -> list[str]:
        page = self._http.get(folder.path, params={"all": "1"}).text
        return re.findall(r'class="entry-name"[^>]* title="([^"]*)"', page)

    def file_named(self, folder: Folder, name: str) -> str:
        """Return the file's key in URLs: `file-7`."""
        page = self._http.get(folder.path, params={"all": "1"}).text
        found = re.search(
            rf'id="(file-\w+)"(?:(?!id="file-).)*title="{re.escape(name)}"', page, re.DOTALL
        )
        assert found, page
        return found[1]

    def content(self, folder: Folder, name: str) -> bytes:
        number = self.file_named(folder, name).removeprefix("file-")
        return self._http.get(f"/files/file/{number}/download/").content

    def watch(self, folder: Folder, name: str) -> None:
        """Watch the first minutes of a film."""
        key = self.file_named(folder, name).removeprefix("file-")
        facts = {"at": "600", "of": "3600", "folder": folder.path.split("/")[2]}
        self.post(f"/watch/{key}/", facts)

    def delete(self, folder: Folder, key: str) -> None:
        self.post(f"{folder.path}delete/", {"entry": key})

    def crowd(self, count: int) -> str:
        name = f"Crowd {secrets.token_hex(4)}"
        said = self._ferry.manage("shell", "-c", CROWD.format(count=count, name=name))
        return f"/files/{said.split('planted ')[1].split()[0]}/"

    def get(self, path: str) -> str:
        return self._http.get(path).text

    def post(
        self, path: str, data: dict[str, str] | None = None, files: dict | None = None
    ) -> httpx.Response:
        if "csrf" not in " ".join(self._http.cookies):
            self._http.get("/signin/")
        token = next(value for name, value in self._http.cookies.items() if "csrf" in name)
        headers = {"X-CSRFToken": token, "X-Requested-With": "ferry", "Referer": self._ferry.url}
        answer = self._http.post(path, data=data, files=files, headers=headers)
        assert answer.status_code < 400, answer.text
        return answer
