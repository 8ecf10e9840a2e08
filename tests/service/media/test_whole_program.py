"""Which processes load decoders, as only the running program shows."""

from pathlib import Path

import httpx
import pytest

from tests.service.api.conftest import PASSWORD
from tests.service.api.serving import add_account, processes_of
from tests.service.media.samples import picture, short_film, shown
from tests.service.working import text_of

pytestmark = pytest.mark.slow

EMAIL = "erin@example.org"
DECODERS = ("libavcodec", "PIL/_imaging")


@pytest.fixture
def erin(ferry):
    add_account(ferry, EMAIL, PASSWORD)
    options = {"base_url": ferry.url, "auth": (EMAIL, PASSWORD), "timeout": 60}
    with httpx.Client(trust_env=False, **options) as client:
        yield client


@pytest.mark.promise("only converters decode")
def test_neither_the_web_server_nor_the_worker_decodes_anything(ferry, erin):
    for name, content in (("a.jpg", picture()), ("b.mp4", short_film("mp4"))):
        added = erin.post("/rest/transfer/file", files={"file": (name, content)}).json()
        file_id = erin.get(f"/rest/transfer/{added['id']}").json()["file_created"]
        answer = erin.get(f"/rest/file/{file_id}/thumbnail").raise_for_status()
        assert shown(answer.content).size == (32, 24)
    ours = processes_of(ferry)
    children = [child for each in ours for child in children_of(each)]
    assert [each for each in children if has_decoder(each)]
    assert [each for each in ours if has_decoder(each)] == []


def children_of(process: Path) -> list[Path]:
    """Return the children, which have no environment, so `processes_of` doesn't find them."""
    lists = (task / "children" for task in (process / "task").iterdir())
    return [Path("/proc") / pid for each in lists for pid in text_of(each).split()]


def has_decoder(process: Path) -> bool:
    maps = text_of(process / "maps")
    return any(library in maps for library in DECODERS)
