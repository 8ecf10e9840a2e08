import pytest

from service.accounts import credentials
from service.store.blobs import Store, library_store
from service.worker.stages import IllegalTransition
from tests.service import reading
from tests.service.media.working import Lasting


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "library")


@pytest.fixture(autouse=True)
def _nobody_remembered():
    credentials.remembered.forget()


@pytest.fixture(autouse=True)
def _only_transitions_that_are_drawn(caplog):
    """The worker logs any other and leaves the run, which then begins again as if nothing were."""
    yield
    errors = [record.exc_info[1] for record in caplog.get_records("call") if record.exc_info]
    assert [error for error in errors if isinstance(error, IllegalTransition)] == []


@pytest.fixture
def library_folder(tmp_path, settings):
    """A data folder of this test's own, for what goes by `library_store()`."""
    settings.DATA_DIR = tmp_path
    return library_store()


@pytest.fixture
def reader():
    """Holds links, and nothing else."""
    with reading.reader() as client:
        yield client


@pytest.fixture(scope="session")
def children(tmp_path_factory):
    """What reads media."""
    made = Lasting(tmp_path_factory.mktemp("scratch"))
    yield made
    made.end()
