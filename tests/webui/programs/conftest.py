import pytest

from tests.webui.programs.clients import QBClient, by_bearer, make_token
from webui.transfers import poll
from webui.transfers.transfer_cache import TransferCache


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Give each test its own cache of transfers. A process has only one; no setting moves it."""
    cache = TransferCache(tmp_path / "transfers.sqlite3")
    monkeypatch.setattr(poll, "store", lambda: cache)


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
