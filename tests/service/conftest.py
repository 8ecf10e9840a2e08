import pytest

from service.accounts import credentials
from service.store.blobs import library_store
from service.worker.runs.stages import IllegalTransition
from tests.service import reading
from tests.service.media.working import Lasting


@pytest.fixture
def store(library_folder):
    return library_folder


@pytest.fixture(autouse=True)
def _nobody_remembered():
    credentials.remembered.forget()


@pytest.fixture(autouse=True)
def _only_transitions_that_are_drawn(caplog):
    """Fail if a run took a transition that the tables don't allow.

    The worker only logs it and leaves the run, which then starts over as if nothing had happened.
    """
    yield
    errors = [record.exc_info[1] for record in caplog.get_records("call") if record.exc_info]
    assert [error for error in errors if isinstance(error, IllegalTransition)] == []


@pytest.fixture
def library_folder(tmp_path, settings):
    """Give the test its own data folder, and return the `library_store()` in it."""
    settings.DATA_DIR = tmp_path
    return library_store()


@pytest.fixture
def reader():
    """Yield a client that has links and no credentials."""
    with reading.reader() as client:
        yield client


@pytest.fixture(scope="session")
def children(tmp_path_factory):
    """Yield the processes that read media, which all tests share."""
    made = Lasting(tmp_path_factory.mktemp("scratch"))
    yield made
    made.end()
