"""/rest/limits, the limits of one transfer, and /rest/reachability."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
import schemathesis

from service.api.operations import openapi
from service.models import Worker
from service.torrents.events import SessionStatus
from service.transfers import transfers
from tests.cases import each_case
from tests.service.builders import NOW, magnet

ALWAYS, NEVER = "1" * 336, "0" * 336
USUAL = {
    "download_bytes_per_second": 0,
    "upload_bytes_per_second": 0,
    "active_transfers": 5,
    "seed_ratio": 1.0,
    "seed_minutes": 60,
    "slow_download_bytes_per_second": 1_000_000,
    "slow_upload_bytes_per_second": 100_000,
    "schedule": NEVER,
    "is_slow": False,
    "changes_at": None,
    "switched_to": "",
    "switched_until": None,
    "fixed": [],
    "may_change": True,
    "time_zone": "UTC",
}


@pytest.fixture
def transfer(account):
    return transfers.add_magnet(account, magnet(), 0, NOW)


def limits(api):
    answer = api.get("/rest/limits")
    assert answer.status_code == 200, answer.text
    return {name: value for name, value in answer.json().items() if name in USUAL}


def change(api, **fields):
    return api.post("/rest/limits", data=fields)


def error(answer):
    return answer.status_code, answer.json()["error"]


def test_the_usual_limits(api):
    assert limits(api) == USUAL


def test_only_what_is_sent_changes(api):
    sent = {"download_bytes_per_second": "2000000", "seed_ratio": "1.5", "schedule": ALWAYS}
    answer = change(api, **sent)
    changed = {"download_bytes_per_second": 2_000_000, "seed_ratio": 1.5, "schedule": ALWAYS}
    assert limits(api) == USUAL | changed | {"is_slow": True}
    assert answer.json()["is_slow"] is True
    change(api, active_transfers="1", seed_ratio="")
    assert (limits(api)["active_transfers"], limits(api)["seed_ratio"]) == (1, 1.0)


def test_json_will_do(api):
    api.post("/rest/limits", json={"seed_ratio": 2, "active_transfers": 3, "switch": "slow"})
    shown = limits(api)
    assert (shown["seed_ratio"], shown["active_transfers"], shown["is_slow"]) == (2, 3, True)


@each_case(
    ("until", "least", "most"),
    [("hour", timedelta(hours=1), timedelta(hours=1)), ("tomorrow", timedelta(0), timedelta(1))],
)
def test_a_switch_says_until_when(api, until, least, most):
    before = datetime.now(UTC)
    change(api, switch="slow", until=until)
    after = datetime.now(UTC)
    shown = limits(api)
    ends_at = datetime.fromisoformat(f"{shown['switched_until']}+00:00")
    a_second = timedelta(seconds=1)
    assert before + least - a_second <= ends_at <= after + most
    assert (shown["switched_to"], shown["is_slow"]) == ("slow", True)
    change(api, switch="schedule")
    assert limits(api) == USUAL


@each_case("until", [{}, {"until": ""}])
def test_a_switch_may_have_no_end(api, until):
    change(api, schedule=ALWAYS, switch="full", **until)
    assert limits(api)["is_slow"] is False
    assert (limits(api)["switched_to"], limits(api)["switched_until"]) == ("full", None)


ABSURD = [
    ("download_bytes_per_second", ["-1", "fast", "1.5", "2e9 ", "2000000001", "9" * 25, "0x10"]),
    ("upload_bytes_per_second", ["-1", "9" * 400]),
    ("slow_download_bytes_per_second", ["-5"]),
    ("slow_upload_bytes_per_second", ["\u0661"]),
    ("active_transfers", ["0", "1001", "-1", "1.5"]),
    ("seed_ratio", ["-0.1", "1000.1", "nan", "inf", "1,5", "1e4", "9" * 50]),
    ("seed_minutes", ["525601", "-1"]),
    ("schedule", ["", "1", "0" * 335, "0" * 337, "2" * 336, "0" * 335 + "\n", "\u0660" * 336]),
    ("switch", ["", "fast", "Slow"]),
]


@each_case(("name", "value"), [(name, value) for name, values in ABSURD for value in values])
def test_absurd_values_are_refused_and_change_nothing(api, name, value):
    answer = change(api, **{"slow_upload_bytes_per_second": "1", name: value})
    assert error(answer) == (422, f"{name}_unreadable")
    assert limits(api) == USUAL


@each_case("body", [{"seed_ratio": True}, {"seed_ratio": "NaN"}, {"active_transfers": 2.5}])
def test_absurd_json_is_refused(api, body):
    (name,) = body
    assert error(api.post("/rest/limits", json=body)) == (422, f"{name}_unreadable")
    assert error(api.post("/rest/limits", content=b'{"seed_ratio": NaN}'))[0] == 422


def test_a_time_without_a_switch_is_refused(api):
    assert error(change(api, until="hour")) == (400, "switch_missing")
    assert error(change(api, until="")) == (400, "switch_missing")
    assert error(change(api, switch="slow", until="noon")) == (422, "until_unreadable")
    assert limits(api) == USUAL


def test_only_the_first_account_may_change_them(api, stranger):
    assert error(change(stranger, seed_minutes="1")) == (403, "first_account_only")
    assert error(change(stranger, switch="slow")) == (403, "first_account_only")
    assert limits(stranger) == USUAL | {"may_change": False}
    assert limits(api) == USUAL


def test_what_the_environment_decides_is_fixed(api, settings):
    settings.FIXED_SETTINGS = {"UPLOAD_LIMIT", "SEED_RATIO", "PORT"}
    settings.UPLOAD_LIMIT = 3_000
    shown = limits(api)
    assert shown["fixed"] == ["upload_bytes_per_second", "seed_ratio"]
    assert shown["upload_bytes_per_second"] == 3_000
    refused = change(api, seed_minutes="1", upload_bytes_per_second="5")
    assert error(refused) == (422, "upload_bytes_per_second_fixed")
    assert limits(api) == shown


# One transfer

NONE = dict.fromkeys(
    ["download_bytes_per_second", "upload_bytes_per_second", "seed_ratio", "seed_minutes"]
)


def own(api, transfer, noun="transfer"):
    answer = api.get(f"/rest/{noun}/{transfer.pk}/limits").json()
    return {name: answer[name] for name in NONE}


@each_case("noun", ["transfer", "torrent"])
def test_limits_of_one_transfer(api, transfer, noun):
    path = f"/rest/{noun}/{transfer.pk}/limits"
    assert own(api, transfer, noun) == NONE
    api.post(path, data={"download_bytes_per_second": "9000", "seed_ratio": "0.5"})
    set_ones = {"download_bytes_per_second": 9_000, "seed_ratio": 0.5}
    assert own(api, transfer, noun) == NONE | set_ones
    answer = api.post(path, data={"seed_ratio": "", "seed_minutes": "0"})
    assert own(api, transfer, noun) == NONE | {
        "download_bytes_per_second": 9_000,
        "seed_minutes": 0,
    }
    assert answer.json()["seed_minutes"] == 0
    api.post(path, data=dict.fromkeys(NONE, ""))
    assert own(api, transfer, noun) == NONE


def test_absurd_limits_of_one_transfer(api, transfer):
    path = f"/rest/transfer/{transfer.pk}/limits"
    answer = api.post(path, data={"seed_minutes": "1", "seed_ratio": "-1"})
    assert error(answer) == (422, "seed_ratio_unreadable")
    assert own(api, transfer) == NONE


def test_transfers_of_others_are_not_found(stranger, transfer):
    path = f"/rest/transfer/{transfer.pk}/limits"
    assert stranger.get(path).status_code == 404
    assert stranger.post(path, data={"seed_minutes": "1"}).status_code == 404
    assert stranger.get("/rest/transfer/0/limits").status_code == 404


def test_every_account_may_limit_its_own_transfers(stranger):
    added = stranger.post("/rest/transfer/magnet", data={"magnet": magnet("b")}).json()
    path = f"/rest/transfer/{added['id']}/limits"
    assert stranger.post(path, data={"seed_minutes": "1"}).json()["seed_minutes"] == 1


# Reachability

UNKNOWN = {"port": 0, "reachable": None, "mapping": "", "incoming_at": None, "proxy": False}


def reachability(api):
    answer = api.get("/rest/reachability").json()
    return {name: answer[name] for name in UNKNOWN}


def a_worker(name, **facts):
    return Worker.objects.create(
        name=name,
        alive_until=datetime.now(UTC) + timedelta(minutes=1),
        session=asdict(SessionStatus(**facts)),
    )


def test_without_a_worker_nothing_is_known(api, settings):
    assert reachability(api) == UNKNOWN
    settings.TORRENT_PROXY = "socks5://127.0.0.1:1"
    assert reachability(api)["proxy"] is True


def test_the_worst_machine_counts(api):
    a_worker("one", port=6_881, is_reachable=True, incoming_at=NOW.timestamp())
    assert reachability(api) == UNKNOWN | {
        "port": 6_881,
        "mapping": "off",
        "reachable": True,
        "incoming_at": "2026-09-01 12:00:00",
    }
    a_worker("two", port=7_000)
    assert (reachability(api)["port"], reachability(api)["reachable"]) == (7_000, None)
    a_worker("three", port=7_001, mapping="failed", is_reachable=False)
    assert reachability(api) == UNKNOWN | {"port": 7_001, "mapping": "failed", "reachable": False}
    Worker.objects.filter(name="three").update(alive_until=NOW)
    assert reachability(api)["port"] == 7_000


def test_only_the_first_account_sees_it(api, stranger):
    assert error(stranger.get("/rest/reachability")) == (403, "first_account_only")


def test_answers_are_as_described(api, transfer):
    described = schemathesis.openapi.from_dict(openapi())
    a_worker("one", port=6_881, mapping="mapped", is_reachable=True, incoming_at=1.5e9)
    for path in ("/rest/limits", "/rest/reachability"):
        described[path]["GET"].validate_response(api.get(path))
    answer = change(api, switch="slow", until="hour")
    described["/rest/limits"]["POST"].validate_response(answer)
    path = f"/rest/transfer/{transfer.pk}/limits"
    described_path = "/rest/transfer/{transfer_id}/limits"
    described[described_path]["GET"].validate_response(api.get(path))
    answer = api.post(path, data={"seed_minutes": "1"})
    described[described_path]["POST"].validate_response(answer)
    refused = change(api, seed_ratio="-1")
    described["/rest/limits"]["POST"].validate_response(refused)
