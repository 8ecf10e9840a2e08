import pytest

from tests.contract import fake
from tests.webui.programs.clients import QBClient, by_bearer, make_token
from webui.transfers import poll
from webui.transfers.transfer_cache import TransferCache


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Give each test its own cache of transfers. A process has only one; no setting moves it."""
    cache = TransferCache(tmp_path / "transfers.sqlite3")
    monkeypatch.setattr(poll, "store", lambda: cache)


@pytest.fixture(autouse=True)
def _limits(monkeypatch):
    """Let fakes know limits, without any. Elsewhere, they are a service that has none."""
    speeds = ("download_bytes_per_second", "upload_bytes_per_second")
    own = dict.fromkeys((*speeds, "seed_ratio", "seed_minutes"))
    slow = [f"slow_{name}" for name in speeds]
    whole = dict.fromkeys((*own, *slow, "active_transfers"), 0) | {
        **dict.fromkeys(("changes_at", "switched_until")),
        **dict.fromkeys(("switched_to", "time_zone"), ""),
        "schedule": "0" * 336,
        "is_slow": False,
        "fixed": [],
        "may_change": True,
    }
    routes = [
        ("GET", "/rest/limits", lambda *_request: whole),
        ("GET", r"/rest/transfer/\d+/limits", lambda *_request: own),
        ("POST", r"/rest/transfer/\d+/limits", lambda *_request: own),
    ]
    monkeypatch.setattr(fake, "ROUTES", [*fake.ROUTES, *routes])


@pytest.fixture(params=["own", "foreign"])
def service(request, storage):
    """Return a fake service: ours, which can do everything, and a foreign one."""
    return storage if request.param == "own" else request.getfixturevalue("foreign")


@pytest.fixture
def token(bob) -> str:
    return make_token(bob.user)


@pytest.fixture
def sonarr(token) -> QBClient:
    return by_bearer(token)


@pytest.fixture
def handover(tmp_path, settings):
    """Return the hand-over folder."""
    settings.HANDOVER_DIR = tmp_path / "handover"
    settings.HANDOVER_DIR.mkdir()
    return settings.HANDOVER_DIR
