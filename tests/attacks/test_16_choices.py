"""Row 16: absurd choices of a torrent's files, and choices of another account.

For magnet links with absurd ranges, see tests/service/transfers/test_magnets.py.
"""

import time
import tracemalloc

import httpx
import pytest

from config.embedded import upstream
from service.accounts.accounts import changing_transfers
from service.torrents.messages import LONGEST_LINE, MOST_FILES, line_of, order_document
from service.torrents.orders import Order
from service.transfers import choices, transfers
from service.transfers.imports import TorrentEntry
from tests.cases import each_case
from tests.service.builders import NOW, alice, magnet, mallory

PASSWORD = "a quiet harbour at noon"
FORM = {"content-type": "application/x-www-form-urlencoded"}
ALL = ",".join(map(str, range(MOST_FILES)))


@pytest.fixture
def account(db):
    return alice(password=PASSWORD)


def client(account):
    auth = (account.email, PASSWORD)
    return httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth)


def known(account, count):
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    with changing_transfers(account, NOW):
        choices.know_files(transfer, [TorrentEntry(n, f"{n}.mkv", 1) for n in range(count)])
    return transfer


def test_another_accounts_files_are_neither_shown_nor_chosen(account):
    transfer = known(account, 4)
    path = f"/rest/transfer/{transfer.pk}/files"
    with client(mallory(password=PASSWORD)) as stranger:
        answers = [stranger.get(path), stranger.post(path, data={"wanted": "0"})]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert choices.unwanted_of(transfer) == []


@pytest.mark.slow
@each_case(
    ("wanted", "status"),
    [
        (ALL, 422),
        (",".join(["0"] * MOST_FILES), 200),
        (",".join(["9" * 30] * 30_000), 422),
        ("-1," * 100_000, 422),
        ("0" * 1_000_000, 422),
        ("," * 1_000_000, 422),
        ("0," * 600_000, 413),
    ],
)
def test_an_absurd_list_is_answered_at_once(account, wanted, status):
    path = f"/rest/transfer/{known(account, 4).pk}/files"
    with client(account) as api:
        tracemalloc.start()
        answer = api.post(path, content=f"wanted={wanted}", headers=FORM)
        _now, most_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert answer.status_code == status, answer.text
    assert answer.json()["code"] == status
    assert most_bytes < 100 * 2**20


@pytest.mark.slow
def test_the_largest_torrent_is_listed_and_chosen_in_a_moment(account):
    transfer = known(account, MOST_FILES)
    path = f"/rest/transfer/{transfer.pk}/files"
    started = time.thread_time()
    with client(account) as api:
        assert len(api.get(path).json()["files"]) == MOST_FILES
        answer = api.post(path, content=f"wanted={ALL[2:]}", headers=FORM)
        assert answer.status_code == 200, answer.text
        assert api.get(f"/rest/transfer/{transfer.pk}").json()["unwanted"] == "[0]"
        assert api.post(path, data={"wanted": "0"}).status_code == 200
    assert time.thread_time() - started < 10
    unwanted = tuple(choices.unwanted_of(transfer))
    assert len(unwanted) == MOST_FILES - 1
    assert len(line_of(order_document(Order("7", "/", unwanted=unwanted)))) < LONGEST_LINE
