"""Programs order torrents, while the worker that hands them over is killed again and again."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from tests.people import make_person
from tests.service.working import until, working
from tests.serving import serving
from tests.swarm import torrent
from webui.models import Role
from webui.tokens import tokens
from webui.tokens.tokens import Purpose

pytestmark = pytest.mark.slow

FILM_BYTES = 3 * 2**20
FILMS = 3


class Sonarr:
    """A program that looks at each film as soon as it is reported to be complete."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self._api = httpx.Client(
            base_url=f"{url}/api/v2/", headers=headers, timeout=60, trust_env=False
        )
        self.ordered = {}

    def close(self) -> None:
        self._api.close()

    def order(self, made, peer: str) -> None:
        form = {"urls": made.magnet(peer=peer), "category": "tv"}
        assert self._api.post("torrents/add", data=form).text == "Ok."
        self.ordered[made.hash_v1] = made

    def complete(self) -> list[str]:
        """Return the hashes of what is complete, all of whose files are there."""
        rows = self._api.get("torrents/info", params={"category": "tv"}).raise_for_status().json()
        assert {row["hash"] for row in rows} == self.ordered.keys()
        complete = [row for row in rows if row["progress"] == 1 or row["state"] == "pausedUP"]
        for row in complete:
            for path, content in self.ordered[row["hash"]].files.items():
                assert Path(row["content_path"]).joinpath(*path).read_bytes() == content
        return [row["hash"] for row in complete]


@pytest.fixture
def top(tmp_path):
    yield (top := tmp_path / "handover").mkdir() or top
    shutil.rmtree(top)


@pytest.mark.promise("what programs order reaches them once, however often the worker is killed")
@pytest.mark.usefixtures("own_service")
def test_a_killed_worker_hands_over_each_film_once(scene, seeds, chance, tmp_path, top):
    olga = make_person("olga", Role.MEMBER).user
    token = tokens.create(olga, "Sonarr", timezone.now(), Purpose.PROGRAMS)
    # The data folder is a new one, and another key would be another account.
    variables = {"HANDOVER_DIR": str(top), "SECRET_KEY": settings.SECRET_KEY}
    with serving(**variables) as server, closing(Sonarr(server.url, token)) as sonarr:
        for number in range(FILMS):
            files = {("film.mkv",): chance.randbytes(FILM_BYTES), ("Subs", "en.srt"): b"Hello"}
            made = torrent(f"Film {number}", files)
            seeds.give(made, tmp_path / "given")
            sonarr.order(made, seeds.address)
        kills = 0
        while len(sonarr.complete()) < FILMS:
            before = places_in(top)
            with working(**variables) as work:
                until(lambda before=before: places_in(top) != before)
                sonarr.complete()
                if kills < 2 * FILMS:
                    work.kill()
                    scene.happened("worker killed")
                    kills += 1
                else:
                    until(lambda: len(sonarr.complete()) == FILMS)
    names = [each.name for each in (top / "tv").iterdir()]
    assert sorted(names) == sorted(made.name for made in sonarr.ordered.values())


def places_in(top: Path) -> list[str]:
    return sorted(f"{folder}: {names}" for folder, _folders, names in os.walk(top))
