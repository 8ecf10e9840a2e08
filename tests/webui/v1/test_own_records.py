from tests.cases import each_case
from webui.v1.own_records import Limits, Reachability, convert

LIMITS = {
    "download_bytes_per_second": 0,
    "upload_bytes_per_second": 0,
    "active_transfers": 5,
    "seed_ratio": 1,
    "seed_minutes": 60,
    "slow_download_bytes_per_second": 0,
    "slow_upload_bytes_per_second": 0,
    "schedule": "01" * 168,
    "is_slow": False,
    "changes_at": None,
    "switched_to": "slow",
    "switched_until": "2026-09-01 12:00:00",
    "fixed": ["seed_ratio"],
    "may_change": True,
    "time_zone": "Europe/Berlin",
}
REACHABILITY = {
    "port": 6_881,
    "reachable": None,
    "mapping": "",
    "incoming_at": None,
    "proxy": False,
}


def test_records_as_our_service_sends_them():
    limits = convert(LIMITS, Limits)
    assert limits.switched_until.isoformat() == "2026-09-01T12:00:00+00:00"
    assert limits.fixed == {"seed_ratio"}
    assert convert(REACHABILITY, Reachability).mapping == ""


@each_case(
    "wrong",
    [
        {"download_bytes_per_second": -1}, {"upload_bytes_per_second": None}, {"schedule": "0"},
        {"schedule": "2" * 336}, {"switched_to": "fast"}, {"switched_until": "soon"},
        {"seed_ratio": "1"}, {"fixed": None}, {"time_zone": 1},
    ],
)  # fmt: skip
def test_limits_that_are_something_else(wrong):
    assert convert(LIMITS | wrong, Limits) is None


@each_case("wrong", [{"mapping": "maybe"}, {"port": "6881"}, {"reachable": "yes"}])
def test_a_reachability_that_is_something_else(wrong):
    assert convert(REACHABILITY | wrong, Reachability) is None
