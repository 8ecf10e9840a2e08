"""Archives, planned and sent, beside copyparty and Python's zipfile."""

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from urllib.request import urlopen

from django.utils import timezone

from lab.bench import library
from lab.bench.harness import (
    ROUNDS,
    Row,
    fetch,
    in_turns,
    peer,
    peer_port,
    running_peer,
    seconds,
)
from service.content import archive_plans
from service.models import Account
from tests.serving import Server, serving

SMALL_COUNT = 10_000
GIB = 2**30


def rows(home: Path) -> Iterator[Row]:
    owner = library.account("archives@example.org")
    twin = home / "twin" / "Photos"
    photos = library.many_files(owner, SMALL_COUNT, 4096, twin)
    films = [library.large_file(owner, f"film {n}.mkv", GIB).pk for n in range(4)]
    library.swept()
    with serving(WEB_PROCESSES="2", WEB_THREADS="128") as server:
        for _ in range(8):
            fetch(server.url + planned(owner, [photos.pk], []))
        memory = server.resident_bytes()
        yield from small(server, owner, photos.pk, twin)
        yield from first_byte(server, owner, photos.pk)
        yield large(server, owner, films)
        grown = (server.resident_bytes() - memory) / 2**20
        yield Row("memory of the server meanwhile, grown by", grown, " MiB", under=32)


def small(server: Server, owner: Account, folder_id: int, twin: Path) -> Iterator[Row]:
    turns = count()  # a new name means a new plan
    contestants = {
        "ferry": lambda: fetch(server.url + planned(owner, [folder_id], [], f"{next(turns)}")),
        "zipfile": lambda: by_zipfile(twin),
    }
    program = peer("copyparty")
    if program is None:
        taken = in_turns(**contestants)
        yield Row("ZIP of 10,000 × 4 KB, of copyparty", None, missing="copyparty")
    else:
        with running_peer(*copyparty(program, twin.parent)) as url:
            contestants["copyparty"] = lambda: fetch(f"{url}/Photos/?zip")
            taken = in_turns(**contestants)
        ratio = median(taken["copyparty"]) / median(taken["ferry"])
        yield Row(
            "ZIP of 10,000 × 4 KB, of copyparty", ratio, at_least=1, relative="speed", raw=taken
        )
    ratio = median(taken["zipfile"]) / median(taken["ferry"])
    yield Row("ZIP of 10,000 × 4 KB, of zipfile", ratio, at_least=1, relative="speed", raw=taken)


def planned(owner: Account, folder_ids: list[int], file_ids: list[int], name: str = "Bench") -> str:
    return archive_plans.create_link(owner, folder_ids, file_ids, name, now=timezone.now())


def by_zipfile(folder: Path) -> None:
    with zipfile.ZipFile(Sink(), "w", zipfile.ZIP_STORED) as archive:
        for place in folder.rglob("*"):
            archive.write(place, place.relative_to(folder.parent))


class Sink(io.RawIOBase):
    """A file that discards everything at no cost; /dev/null wouldn't report its position."""

    def __init__(self) -> None:
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, part: bytes) -> int:
        self._at += len(part)
        return len(part)

    def tell(self) -> int:
        return self._at


def copyparty(program: str, root: Path) -> tuple[list[str], int]:
    port = peer_port()
    options = ["-q", "-i", "127.0.0.1", "-p", str(port), "--no-crt", "--no-thumb", "--no-mtag"]
    return [program, *options, "-v", f"{root}::r"], port


def first_byte(server: Server, owner: Account, folder_id: int) -> Iterator[Row]:
    """Measure from the request for a link to the first byte. A new name means a new plan."""
    names = [f"Bench {n}" for n in range(ROUNDS)]
    for title in ("first", "second"):
        taken = [1000 * seconds(partial(link_to_byte, server, owner, folder_id, n)) for n in names]
        name = f"ZIP of 10,000 entries, link to first byte, {title} time"
        yield Row(name, median(taken), " ms", under=30, raw={title: taken})


def link_to_byte(server: Server, owner: Account, folder_id: int, name: str) -> None:
    one_byte(server.url + planned(owner, [folder_id], [], name))


def one_byte(url: str) -> None:
    with urlopen(url) as answer:
        answer.read(1)


def large(server: Server, owner: Account, file_ids: list[int]) -> Row:
    link = server.url + planned(owner, [], file_ids)
    taken = in_turns(ferry=lambda: fetch(link))
    rate = 4 * GIB / 1e9 / median(taken["ferry"])
    return Row("ZIP of 4 GiB in 4 files", rate, " GB/s", at_least=2, raw=taken)
