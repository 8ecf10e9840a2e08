import tempfile

import pytest

from service.media import confined


@pytest.fixture
def ask(children):
    """Asks about content, as the worker does: by a descriptor."""

    def ask(content: bytes, seconds: float = 20, **question):
        with tempfile.TemporaryFile() as medium:
            medium.write(content)
            medium.flush()
            return children.ask(medium.fileno(), question, seconds)

    return ask


@pytest.fixture
def child_count(monkeypatch):
    """How many were started since."""
    started = []
    start = confined.Running.__init__

    def counted(running, *args, **options):
        started.append(running)
        start(running, *args, **options)

    monkeypatch.setattr(confined.Running, "__init__", counted)
    return lambda: len(started)


@pytest.fixture
def probe(ask):
    return lambda content: ask(content, do="probe").facts


@pytest.fixture
def draw(ask):
    def draw(content: bytes, *sizes: str, kind: str = "picture"):
        return ask(content, do="draw", kind=kind, sizes=sizes or ("t220",)).files

    return draw
