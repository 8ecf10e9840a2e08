import tempfile
from pathlib import Path

import pytest

from service.media.work import MediaWork
from service.models import Account
from tests.service.builders import a_file, alice, put


@pytest.fixture
def ask(children):
    """Return a function that asks a child about content by descriptor, as the worker does."""

    def ask(content: bytes, seconds: float = 20, **question):
        with tempfile.TemporaryFile() as medium:
            medium.write(content)
            medium.flush()
            return children.ask(medium.fileno(), question, seconds)

    return ask


@pytest.fixture
def child_processes():
    """Return a function that finds the ids of this process's children."""

    def found():
        lists = Path("/proc/self/task").glob("*/children")
        return {int(pid) for each in lists for pid in each.read_text().split()}

    return found


@pytest.fixture
def probe(ask):
    return lambda content: ask(content, do="probe").facts


@pytest.fixture
def draw(ask):
    def draw(content: bytes, *sizes: str, kind: str = "picture"):
        return ask(content, do="draw", kind=kind, sizes=sizes or ("t220",)).files

    return draw


@pytest.fixture
def worker(library_folder, children):
    made = MediaWork(children, lambda: True)
    yield made
    made.stop()


@pytest.fixture
def keep(library_folder):
    """Return a function that puts content into the root of Alice or another owner."""

    def keep(content: bytes, name: str = "a.jpg", owner: Account | None = None):
        owner = owner or Account.objects.filter(email="alice@example.org").first() or alice()
        return a_file(owner, name, blob=put(library_folder, content))

    return keep
