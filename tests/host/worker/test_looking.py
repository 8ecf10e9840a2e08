import pytest
from django.utils import timezone

from host.worker.looking import Looking

pytestmark = pytest.mark.django_db


class Sender:
    def __init__(self) -> None:
        self.rounds = []

    def round(self, now) -> None:
        self.rounds.append(now)


def test_a_look_that_breaks_holds_up_no_notices(monkeypatch):
    """No service is known to break it."""

    def broken() -> None:
        raise RuntimeError

    sender, now = Sender(), timezone.now()
    looking = Looking(sender)
    monkeypatch.setattr(looking, "_look", broken)
    looking.round(now)
    assert sender.rounds == [now]
