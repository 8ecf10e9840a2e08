"""/rest/traffic."""

from datetime import UTC, datetime

import pytest

from service.accounts import traffic
from service.accounts.traffic import Bytes
from service.models import Transfer
from service.transfers import transfers
from tests.service.builders import magnet, mallory


@pytest.mark.parametrize(
    ("period", "count"), [("", 24), ("minutes", 60), ("month", 30), ("year", 12)]
)
def test_the_sums_of_a_period(api, account, period, count):
    now = datetime.now(UTC)
    traffic.add({account.pk: Bytes(500, 20), mallory().pk: Bytes(7, 7)}, now)
    answer = api.get("/rest/traffic", params={"period": period} if period else {})
    parts = answer.json()["parts"]
    assert len(parts) == count
    # The clock may have moved on by a part.
    assert sum(each["received"] for each in parts) == 500
    assert sum(each["sent"] for each in parts) == 20


def test_the_transfers_that_were_added_then(api, account):
    now = datetime.now(UTC)
    film = transfers.add_magnet(account, magnet("1"), 0, now)
    other = transfers.add_magnet(mallory(), magnet("2"), 0, now)
    Transfer.objects.update(size_bytes=1_000, progress_percent=101, uploaded_bytes=300)
    assert other.pk != film.pk
    answer = api.get("/rest/traffic").json()
    assert answer["transfers"] == [{"id": film.pk, "received": 1_000, "sent": 300}]


def test_other_periods_are_refused(api):
    assert api.get("/rest/traffic", params={"period": "decade"}).status_code == 422
