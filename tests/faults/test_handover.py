"""Programs order torrents, while the worker that hands them over is killed again and again.

By default, it is killed at each step of three films. `GRABS=1000` orders a thousand of them, with a
kill each minute.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from tests.contract.fake import ROOT, FakeV1
from tests.contract.served import served
from tests.faults.tally import Reckoning
from tests.people import make_person
from tests.service.working import until, working
from tests.serving import serving
from tests.swarm import Made, torrent
from tests.webui.service import EMAIL, PASSWORD
from webui.models import Role
from webui.tokens import tokens
from webui.tokens.tokens import Purpose

pytestmark = pytest.mark.slow

FEW = 3
GRABS = int(os.environ.get("GRABS", FEW))
KILL_SECONDS = 60
AT_ONCE = 10
FILM_BYTES = 3 * 2**20 if GRABS == FEW else 2**18
PATIENCE_SECONDS = 600


class Sonarr:
    """A program that looks at each film as soon as it is reported to be complete, and removes it.

    `orders`: what the service can fetch, with the link of each.
    """

    def __init__(self, url: str, token: str, orders: Iterator[tuple[Made, str]], top: Path) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self._api = httpx.Client(
            base_url=f"{url}/api/v2/", headers=headers, timeout=60, trust_env=False
        )
        self._orders, self._top = orders, top
        self._ordered: dict[str, Made] = {}
        self.imported = 0

    def close(self) -> None:
        self._api.close()

    def is_over(self) -> bool:
        """Order more, import what is complete, and return whether nothing is left."""
        for made, link in islice(self._orders, AT_ONCE - len(self._ordered)):
            form = {"urls": link, "category": "tv"}
            assert self._api.post("torrents/add", data=form).text == "Ok."
            self._ordered[made.hash_v1] = made
        for row in self.rows():
            if row["progress"] == 1 or row["state"] == "pausedUP" or not row["amount_left"]:
                self._import(row["hash"], Path(row["content_path"]))
        return not self._ordered

    def rows(self) -> list[dict[str, Any]]:
        """Return what is listed: all that was ordered, each once."""
        rows = self._api.get("torrents/info", params={"category": "tv"}).raise_for_status().json()
        assert sorted(row["hash"] for row in rows) == sorted(self._ordered)
        return rows

    def _import(self, info_hash: str, place: Path) -> None:
        made = self._ordered.pop(info_hash)
        assert place == self._top / "tv" / made.name
        for path, content in made.files.items():
            assert place.joinpath(*path).read_bytes() == content
        form = {"hashes": info_hash, "deleteFiles": "true"}
        self._api.post("torrents/delete", data=form).raise_for_status()
        self.imported += 1


@pytest.fixture
def top(tmp_path):
    yield (top := tmp_path / "handover").mkdir() or top
    shutil.rmtree(top)


@pytest.fixture
def token(own_service) -> str:
    olga = make_person("olga", Role.MEMBER).user
    return tokens.create(olga, "Sonarr", timezone.now(), Purpose.PROGRAMS)


@pytest.mark.promise("what programs order reaches them once, however often the worker is killed")
def test_a_killed_worker_hands_over_each_film_once(scene, seeds, chance, top, token):
    def provide(made: Made) -> str:
        seeds.give(made, top.with_name("given"))
        return made.magnet(peer=seeds.address)

    grab(scene, top, token, films(chance, provide))


def test_films_of_a_foreign_service_reach_programs_once(scene, chance, top, token):
    fake = QuickV1(EMAIL, PASSWORD)
    with served(fake, EMAIL, PASSWORD) as url:
        grab(scene, top, token, films(chance, fake.provide), SERVICE_URL=url)


class QuickV1(FakeV1):
    """A foreign service that has already fetched what is ordered."""

    def __init__(self, email: str, password: str) -> None:
        super().__init__(email, password)
        self.keeps_folder_id = False
        self._films: dict[str, Made] = {}

    def provide(self, made: Made) -> str:
        self._films[made.hash_v1] = made
        return made.magnet()

    def _added(self, *what: Any) -> dict[str, Any]:
        answer = super()._added(*what)
        one = self.transfers[answer["id"]]
        made = self._films[one.hash]
        folder = self.add(made.name, ROOT)
        for path, content in made.files.items():
            parent = self.add(path[0], folder.id) if len(path) > 1 else folder
            self.add(path[-1], parent.id, content)
        size_bytes = sum(map(len, made.files.values()))
        one.facts |= {"progress": 101, "size": size_bytes, "folder_created": folder.id}
        one.facts |= {"state": None, "reason": None}
        return answer


def films(chance, provide: Callable[[Made], str]) -> Iterator[tuple[Made, str]]:
    for number in range(GRABS):
        files = {("film.mkv",): chance.randbytes(FILM_BYTES), ("Subs", "en.srt"): b"Hello"}
        made = torrent(f"Film {number}", files)
        yield made, provide(made)


def grab(
    scene, top: Path, token: str, orders: Iterator[tuple[Made, str]], **variables: str
) -> None:
    # The data folder is a new one, and another key would be another account.
    variables |= {"HANDOVER_DIR": str(top), "SECRET_KEY": settings.SECRET_KEY}
    with serving(**variables) as server, closing(Sonarr(server.url, token, orders, top)) as sonarr:
        for kills in range(2 * FEW + GRABS):
            with working(**variables) as work:
                is_due = kill_is_due(top, kills)
                until(lambda is_due=is_due: sonarr.is_over() or is_due(), PATIENCE_SECONDS)
                work.kill()
                scene.happened("worker killed")
            if sonarr.is_over():
                break
        assert sonarr.imported == GRABS
        assert sonarr.rows() == []
    assert list((top / "tv").iterdir()) == []
    scene.tally.add(Reckoning(things=GRABS))


def kill_is_due(top: Path, kills: int) -> Callable[[], bool]:
    """Return whether to kill now: after the next step of a copy, or after a minute."""
    if GRABS > FEW:
        ends_at = time.monotonic() + KILL_SECONDS
        return lambda: time.monotonic() > ends_at
    before = places_in(top)
    return lambda: kills < 2 * FEW and places_in(top) != before


def places_in(top: Path) -> list[str]:
    return sorted(f"{folder}: {names}" for folder, _folders, names in os.walk(top))
