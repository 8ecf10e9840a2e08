"""What people are told of, once, while no page is open."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.webui.add.test_views import magnet
from webui.models import Notice, Sent
from webui.notices import channels
from webui.transfers import poll

pytestmark = pytest.mark.django_db
RUNNING = {"state": "downloading", "progress_percent": 40}
DONE = {"state": "done", "progress_percent": 101}


class Clock:
    def __init__(self) -> None:
        self.now = timezone.now().timestamp()

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(tmp_path, monkeypatch) -> Clock:
    """Give each test its own cache: a process has only one, and its clock goes by itself."""
    clock = Clock()
    cache = poll.TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    monkeypatch.setattr(poll, "store", lambda: cache)
    return clock


@pytest.fixture
def all_feeds(alice, bob, gwen):
    for person in (alice, bob, gwen):
        site = {"site": "https://ferry.lan/"}
        channels.add_feed(person.user, site, channels.TOPICS, timezone.now())


def told() -> list[tuple[str, str, str]]:
    rows = Notice.objects.order_by("pk").select_related("channel__user")
    return [(each.channel.user.username, each.kind, each.subject) for each in rows]


def add(storage, person, transfer) -> Sent:
    return Sent.objects.create(
        connection=storage.service.key,
        transfer_id=str(transfer.id),
        source_kind=Sent.MAGNET,
        source=magnet(),
        added_by=person.user,
        added_at=timezone.now(),
    )


def look(storage, clock, seconds: float = 2) -> None:
    clock.now += seconds
    poll.look(storage.service, is_woken=False)


def test_the_person_who_added_a_transfer_is_told_of_its_end_once(bob, storage, clock, all_feeds):
    sintel = storage.transfer("Sintel", **RUNNING)
    add(storage, bob, sintel)
    look(storage, clock)
    assert told() == []
    storage.tells(sintel, **DONE)
    for _turn in range(3):
        look(storage, clock)
    assert told() == [("bob", "done", "Sintel")]


def test_a_lost_cache_tells_nothing_twice(bob, storage, clock, all_feeds):
    sintel = storage.transfer("Sintel", **RUNNING)
    row = add(storage, bob, sintel)
    look(storage, clock)
    storage.tells(sintel, **DONE)
    look(storage, clock)
    with poll.store()._cache.transact() as connection:  # noqa: SLF001
        connection.execute("DELETE FROM cached_list")
        connection.execute("DELETE FROM transfer")
    look(storage, clock)
    assert len(told()) == 1
    # Another process saved the end between our reading and writing.
    before = poll.load_sent_records(storage.service)
    stale = [each._replace(state="downloading") for each in before]
    transfers = poll.store().all(storage.service.key).values()
    poll._remember(storage.service, transfers, {row.pk: stale[0]})  # noqa: SLF001
    assert len(told()) == 1


def test_a_transfer_that_fails_again_is_told_again(bob, storage, clock, all_feeds):
    sintel = storage.transfer("Sintel", **RUNNING)
    add(storage, bob, sintel)
    for state in ("failed", "downloading", "failed"):
        storage.tells(sintel, state=state)
        look(storage, clock, 121)
    assert told() == [("bob", "failed", "Sintel")] * 2


def test_owners_are_told_of_what_other_programs_added(storage, clock, all_feeds):
    sintel = storage.transfer("Sintel", **RUNNING)
    look(storage, clock)
    storage.tells(sintel, **DONE)
    look(storage, clock)
    look(storage, clock)
    assert told() == [("alice", "done", "Sintel")]


def test_a_first_look_tells_nothing_of_the_past(storage, clock, all_feeds):
    storage.transfer("Sintel", **DONE)
    look(storage, clock)
    assert told() == []


def test_members_are_told_when_space_runs_out_and_not_again_the_same_day(
    storage, clock, all_feeds, monkeypatch
):
    """The fake has a fixed space."""
    poll.refresh(storage.service)
    sintel = storage.transfer("Sintel", **RUNNING)
    for used in (10, 96, 97, 10, 96):
        space = {"space_used": used, "space_max": 100}
        monkeypatch.setattr(storage.fake, "_space", lambda space=space: space)
        storage.tells(sintel, size_bytes=used)
        look(storage, clock, 121)
    assert sorted(told()) == [("alice", "space", ""), ("bob", "space", "")]


def test_nothing_is_asked_for_minutes_while_nothing_runs(storage, clock):
    storage.transfer("Sintel", **DONE)
    look(storage, clock)
    storage.calls.clear()
    for _turn in range(59):
        look(storage, clock)
    assert not storage.calls
    look(storage, clock, 4)
    assert len(storage.calls) == 1


def test_a_wake_up_and_our_own_changes_are_looked_at_at_once(storage, clock):
    look(storage, clock)
    storage.calls.clear()
    clock.now += 2
    assert poll.look(storage.service, is_woken=True)
    assert not poll.look(storage.service, is_woken=True), "the last look was a moment ago"
    poll.store().change(storage.service.key)
    assert poll.look(storage.service, is_woken=False)
    assert len(storage.calls) == 2


def test_looks_go_on_after_the_clock_was_set_back(storage, clock):
    look(storage, clock)
    clock.now += timedelta(days=400).total_seconds()
    with poll.store().refresh_lock(storage.service.key):
        clock.now -= timedelta(days=400).total_seconds() - 3
        # The process that held the lock was killed.
        assert poll.look(storage.service, is_woken=True)
