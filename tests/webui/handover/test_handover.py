"""What other programs find in the hand-over folder, and when."""

import os
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.webui.programs.clients import by_bearer, make_token
from webui.handover import handover as handover_module
from webui.handover import places
from webui.handover.handover import HandingOver
from webui.models import Sent
from webui.transfers import poll

pytestmark = pytest.mark.django_db
FILM = b"a film" * 100_000


def fetched(service, sonarr, number=1, files=None, **names):
    """Let Sonarr order a torrent, and the service fetch it. Return its hash."""
    info_hash = f"{number:040x}"
    folder = service.folder(f"Sintel {number}")
    # Other services accept names that ours would refuse.
    folder.name = names.get("folder", "Sintel")
    for name, content in (files or {"Sintel.mkv": FILM}).items():
        service.file("new", content, parent=folder.id).name = name
    sonarr.post("torrents/add", urls=f"magnet:?xt=urn:btih:{info_hash}&dn=Sintel", category="tv")
    one = next(each for each in service.fake.transfers.values() if each.hash == info_hash)
    state = "done" if service.service.is_embedded else None
    size = sum(map(len, (files or {"": FILM}).values()))
    service.tells(one, progress=101, folder_created=folder.id, size=size, state=state)
    poll.store().change(service.service.key)
    return info_hash


def work(*, stops_after=10**6):
    """Run a round of the worker, which may be told to stop."""
    left = iter(range(stops_after))
    HandingOver(lambda: next(left, None) is None).run(timezone.now())


def tree(top: Path) -> dict[str, bytes]:
    files = (path for path in top.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def state(sonarr, info_hash=f"{1:040x}"):
    return sonarr.row(info_hash)["state"]


def test_a_copy_appears_as_a_whole_and_only_then_it_is_complete(service, sonarr, top):
    fetched(service, sonarr, files={"Sintel.mkv": FILM, "empty.nfo": b""})
    assert state(sonarr) == "moving"
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM, "tv/Sintel/empty.nfo": b""}
    row = sonarr.row(f"{1:040x}")
    assert (row["state"], row["content_path"]) == ("pausedUP", f"{top}/tv/Sintel")


def test_a_single_file_has_no_folder(service, sonarr, top):
    fetched(service, sonarr)
    (one,) = service.fake.transfers.values()
    file = service.file("Alone.mkv", FILM, parent=one.folder)
    service.tells(one, folder_created=None, file_created=file.id)
    one.file = file.id
    poll.store().change(service.service.key)
    work()
    assert tree(top) == {"tv/Alone.mkv": FILM}


def test_folders_below_it_come_along(service, sonarr, top):
    fetched(service, sonarr)
    below = service.folder(
        "Subs", parent=next(iter(service.fake.transfers.values())).facts["folder_created"]
    )
    service.file("en.srt", b"Hello", parent=below.id)
    work()
    assert tree(top)["tv/Sintel/Subs/en.srt"] == b"Hello"


def test_others_of_the_group_may_move_it(service, sonarr, top, settings):
    settings.HANDOVER_MODE, settings.HANDOVER_GROUP = 0o660, os.getgid()
    fetched(service, sonarr)
    work()
    modes = [(top / each).stat().st_mode & 0o777 for each in ("tv", "tv/Sintel")]
    assert modes == [0o770, 0o770]
    assert (top / "tv/Sintel/Sintel.mkv").stat().st_mode & 0o777 == 0o660
    assert (top / ".partial").stat().st_mode & 0o777 == 0o700


class Slow(httpx.SyncByteStream):
    """The film in small pieces. Then, the connection breaks."""

    def __iter__(self):
        for start in range(0, len(FILM) // 2, 1000):
            yield FILM[start : start + 1000]
        raise httpx.ReadError("gone")


def slow():
    return httpx.Response(200, headers={"content-length": f"{len(FILM)}"}, stream=Slow())


def test_a_broken_connection_loses_nothing(service, sonarr, top):
    fetched(service, sonarr)
    service.fake.instead = slow
    work()
    assert state(sonarr) == "moving"
    service.fake.instead = None
    calls = len(service.calls)
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM}
    assert len([path for _method, path in service.calls[calls:] if "content" in path]) == 1


def test_a_stopped_worker_goes_on_where_it_was(service, sonarr, top):
    fetched(service, sonarr)
    service.fake.instead = slow
    work(stops_after=20)
    assert state(sonarr) == "moving"
    assert not (top / "tv").exists()
    (unfinished,) = tree(top).values()
    assert 0 < len(unfinished) < len(FILM)
    assert unfinished == FILM[: len(unfinished)]
    service.fake.instead = None
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM}


@each_case("moment", ["before its name is noted", "before it is renamed", "after it was renamed"])
def test_a_killed_worker_doubles_nothing(storage, bob, top, moment):
    """The moments are those between what a kill can't split."""
    storage.renew()
    sonarr = by_bearer(make_token(bob.user))
    fetched(storage, sonarr, number=7)
    row = Sent.objects.get(info_hash=f"{7:040x}")
    whole = places.partial_of(row.pk) / "whole"
    whole.mkdir(parents=True)
    (whole / "Sintel.mkv").write_bytes(FILM)
    if moment != "before its name is noted":
        Sent.objects.filter(pk=row.pk).update(handed_path="tv/Sintel")
    if moment == "after it was renamed":
        (top / "tv").mkdir()
        whole.rename(top / "tv" / "Sintel")
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM}
    assert state(sonarr, f"{7:040x}") == "pausedUP"
    (top / "tv/Sintel/Sintel.mkv").unlink()
    (top / "tv/Sintel").rmdir()
    (top / "tv").rmdir()


def test_two_of_one_name_stand_side_by_side(service, sonarr, top):
    for number in (1, 2):
        fetched(service, sonarr, number, folder=f"Sintel{'*' if number == 2 else '?'}")
    work()
    assert sorted(tree(top)) == ["tv/Sintel_ (2)/Sintel.mkv", "tv/Sintel_/Sintel.mkv"]


@each_case("name", ["../../up", "..", ".hidden", "a\\b", "con", "x" * 300, "\u202egpj.exe"])
def test_no_name_leads_out_of_the_folder(foreign, bob, top, name):
    foreign.renew()
    sonarr = by_bearer(make_token(bob.user))
    fetched(foreign, sonarr, number=len(name), folder=name, files={name or "x": FILM})
    before = set(top.parent.iterdir())
    work()
    row = sonarr.row(f"{len(name):040x}")
    path = Path(row["content_path"])
    assert row["state"] == "pausedUP"
    assert path.parent == top / "tv"
    assert not path.name.startswith(".")
    assert set(top.parent.iterdir()) == before


def test_a_link_in_the_way_leads_nowhere(storage, sonarr, top, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (top / "tv").symlink_to(tmp_path / "elsewhere")
    fetched(storage, sonarr)
    work()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert state(sonarr) == "error"


def test_no_space_is_said(foreign, sonarr, top, monkeypatch):
    """No setting makes the disk small."""
    monkeypatch.setattr(handover_module, "SPARE_BYTES", 2**60)
    fetched(foreign, sonarr)
    work()
    row = sonarr.row(f"{1:040x}")
    assert (row["state"], row["comment"]) == ("error", "no_space")
    monkeypatch.setattr(handover_module, "SPARE_BYTES", 0)
    work()
    assert state(sonarr) == "pausedUP"


def test_a_page_in_place_of_a_file_is_no_copy(foreign, sonarr, top):
    fetched(foreign, sonarr)
    foreign.fake.instead = lambda: httpx.Response(200, html="<html>Please wait</html>")
    work()
    assert tree(top) == {}
    assert state(sonarr) == "error"
    foreign.fake.instead = None
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM}


def test_a_service_that_is_away_is_asked_again(foreign, sonarr, top):
    fetched(foreign, sonarr)
    foreign.fake.instead = lambda: httpx.Response(503)
    work()
    assert state(sonarr) == "moving"
    foreign.fake.instead = None
    work()
    assert state(sonarr) == "pausedUP"


def test_what_a_program_deleted_is_deleted_here(service, sonarr, top):
    fetched(service, sonarr)
    work()
    sonarr.post("torrents/delete", hashes=f"{1:040x}", deleteFiles="true")
    assert not (top / "tv/Sintel").exists()
    work()
    assert tree(top) == {}


def test_what_a_program_gave_up_is_not_finished(service, sonarr, top):
    fetched(service, sonarr)
    service.fake.instead = slow
    work(stops_after=20)
    sonarr.post("torrents/delete", hashes=f"{1:040x}", deleteFiles="false")
    work()
    assert tree(top) == {}


def test_what_people_cleared_is_handed_over(service, sonarr, top, bob):
    fetched(service, sonarr)
    sonarr.rows()
    bob.client.post("/transfers/clear/")
    work()
    assert tree(top) == {"tv/Sintel/Sintel.mkv": FILM}
    assert state(sonarr) == "pausedUP"


def test_old_copies_are_deleted_if_wanted(service, sonarr, top, settings):
    fetched(service, sonarr)
    work()
    Sent.objects.update(handed_at="2026-01-01T00:00Z")
    work()
    assert tree(top) != {}
    settings.HANDOVER_DAYS = 30
    work()
    work()
    assert tree(top) == {}
    assert state(sonarr) == "pausedUP"


def test_what_people_add_stays_with_the_service(service, bob, top):
    bob.client.post("/transfers/send/", {"text": f"magnet:?xt=urn:btih:{1:040x}"})
    work()
    assert tree(top) == {}


def test_a_missing_folder_is_not_made(service, sonarr, top):
    fetched(service, sonarr)
    top.rmdir()
    work()
    assert not top.exists()
    assert state(sonarr) == "moving"


def test_two_workers_do_not_work_on_one_folder(service, sonarr, top):
    fetched(service, sonarr)
    with handover_module.lock(top) as has_lock:
        assert has_lock
        work()
    assert "tv/Sintel/Sintel.mkv" not in tree(top)
