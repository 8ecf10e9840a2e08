import pytest

from service.details import Details
from service.fetching.errors import PermanentFailure, TemporaryFailure
from service.fetching.retries import MOST_TRIES_ONCE_BEGUN, Retries
from tests.cases import each_case


@each_case(
    ("tries", "wanted_seconds", "seconds"),
    [(1, 0, 1), (2, 0, 2), (3, 0, 4), (9, 0, 256), (10, 0, 300), (100, 0, 300), (10**6, 0, 300),
     (1, 30, 30), (9, 30, 256), (1, 3600, 3600)],
)  # fmt: skip
def test_each_wait_is_twice_the_one_before(tries, wanted_seconds, seconds):
    retries = Retries()
    retries.tries = tries - 1
    failure = TemporaryFailure(Details("timeout"), wanted_seconds, most_tries=10**7)
    assert retries.wait_after(failure, 0) == seconds


def test_new_bytes_start_the_count_again_and_allow_more_tries():
    retries = Retries()
    failure = TemporaryFailure(Details("http_status", status=503), most_tries=3)
    assert [retries.wait_after(failure, at) for at in (0, 0, 5, 5, 6)] == [1, 2, 1, 2, 1]
    for _try in range(MOST_TRIES_ONCE_BEGUN - 2):
        retries.wait_after(failure, 6)
    with pytest.raises(PermanentFailure, match="Ferry tried 100 times"):
        retries.wait_after(failure, 6)
