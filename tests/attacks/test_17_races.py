"""Row 17: two at once, through the interface. Nothing is lost, doubled or overdrawn."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest
from django.db import connections

from config import upstream
from service import library
from service.models import Account, File, Transfer
from service.store import library_store
from tests.service.builders import a_file, a_torrent, alice, magnet

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "a quiet harbour at noon"
MANY = 6


@pytest.fixture
def account() -> Account:
    return alice(password=PASSWORD)


def at_once(act: Callable[[httpx.Client, int], httpx.Response]) -> list[httpx.Response]:
    start = Barrier(MANY)

    def one(number: int) -> httpx.Response:
        options = {"transport": upstream.transport(), "base_url": upstream.URL}
        try:
            with httpx.Client(auth=("alice@example.org", PASSWORD), **options) as api:
                start.wait()
                return act(api, number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


def test_uploads_of_one_name_are_all_kept(account):
    answers = at_once(
        lambda api, n: api.post("/rest/transfer/file", files={"file": ("a.txt", b"%d" % n)})
    )
    assert {answer.status_code for answer in answers} == {200}
    files = File.objects.filter(account=account)
    assert {each.name for each in files} == {"a.txt", *(f"a ({n}).txt" for n in range(2, MANY + 1))}
    contents = {library_store().path(each.blob).read_bytes() for each in files}
    assert contents == {b"%d" % number for number in range(MANY)}


def test_uploads_never_take_more_room_than_there_is(account):
    Account.objects.filter(pk=account.pk).update(space_max_bytes=250)
    blobs = sum(1 for _blob in library_store().blobs())
    answers = at_once(
        lambda api, n: api.post("/rest/transfer/file", files={"file": (f"{n}", b"x" * 100)})
    )
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [413] * (MANY - 2)
    account.refresh_from_db()
    assert account.space_used_bytes == 200
    assert sum(1 for _blob in library_store().blobs()) == blobs + 2


@pytest.mark.parametrize("kind", ["magnet", "file"])
def test_the_same_torrent_at_once_is_one_transfer(kind, account):
    bodies = {
        "magnet": {"data": {"magnet": magnet(name="Sintel")}},
        "file": {"files": {"file": ("s.torrent", a_torrent())}},
    }
    answers = at_once(lambda api, _n: api.post(f"/rest/torrent/{kind}", **bodies[kind]))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["id"] for answer in answers}) == Transfer.objects.count() == 1


def test_one_of_many_gets_the_name(account):
    files = [a_file(account, f"{number}.txt") for number in range(MANY)]
    answers = at_once(
        lambda api, n: api.post(f"/rest/file/{files[n].pk}/rename", data={"rename_to": "a.txt"})
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (MANY - 1)


def test_a_file_deleted_by_many_gives_its_room_back_once(account):
    kept, doomed = a_file(account, "kept.txt"), a_file(account, "doomed.txt")
    answers = at_once(lambda api, _n: api.delete(f"/rest/file/{doomed.pk}"))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * (MANY - 1)
    account.refresh_from_db()
    assert account.space_used_bytes == kept.size_bytes
    assert library.root_of(account).size_bytes == kept.size_bytes
