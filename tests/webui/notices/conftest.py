import pytest

from webui.models import Channel, Notice


@pytest.fixture
def tell(db):
    """Return a function that tells a person of an event on all of their channels."""

    def tell_them(person, key: str, kind: str = "test", subject: str = "Sintel") -> None:
        Notice.put(Channel.alive().filter(user=person.user), key, kind, subject)

    return tell_them
