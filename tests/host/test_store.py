"""The output and the exit status of `manage.py store copy`."""

import fcntl
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.embedded.upstream import EMBEDDED_ACCOUNT
from host.management.commands import store as command
from service.library.upkeep import database_match
from service.models import Discarded, File, Worker
from service.store import copies
from service.store.blobs import library_store
from service.store.disk_store import DiskStore, library
from service.store.objects import store
from tests.object_stores import KEYS
from tests.service.builders import a_file, an_account, put

pytestmark = pytest.mark.django_db(transaction=True)

URL = "s3://bucket?endpoint=http://127.0.0.1:9"


class Elsewhere(DiskStore):
    """The store that Ferry uses, as if it were an object store."""


@pytest.fixture
def source(tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    settings.STORE_URL = URL
    # A folder in place of a bucket: what is tested is the copy, not the object store.
    monkeypatch.setattr(store, "library_at", lambda _url: Elsewhere(tmp_path / "elsewhere"))
    return library_store()


@pytest.fixture
def account(source):
    return an_account(EMBEDDED_ACCOUNT)


@pytest.fixture
def film(source, account):
    return a_file(account, "film.mkv", blob=put(source, b"a film"))


def said(*options, capsys):
    call_command("store", "copy", "disk", *options)
    return capsys.readouterr().out


def test_it_copies_everything_and_says_which_setting_to_change(film, capsys):
    assert said(capsys=capsys) == (
        "Copied 1 file, 0.00 GB; already there: 0 files.\n"
        "Everything is there. Now remove STORE_URL from the settings, and start Ferry.\n"
    )
    assert library().size(film.blob) == film.size_bytes
    output = said("--verify", capsys=capsys)
    assert "Copied 0 files, 0.00 GB; already there: 1 file. All copies were read again." in output


def test_the_switch_comes_later_while_ferry_runs(film, capsys):
    Worker.objects.create(
        name="on another machine", alive_until=timezone.now() + timedelta(hours=1)
    )
    assert "To switch, stop Ferry everywhere, run this command again, remove STORE_URL" in said(
        capsys=capsys
    )


def test_the_target_belongs_to_this_database_and_knows_how_new_it_is(film, capsys):
    said(capsys=capsys)
    assert not library().claim_for("another database")
    assert library().generation() == database_match.generation_of_database() > 0


def test_the_files_of_another_database_stay_alone(film):
    assert library().claim_for("another database")
    with pytest.raises(CommandError, match="the files of another database"):
        call_command("store", "copy", "disk")
    assert [*library().blobs()] == []


def test_files_that_the_database_does_not_know_come_first(film, source):
    source.reach_generation(99)
    with pytest.raises(CommandError, match="library adopt or discard"):
        call_command("store", "copy", "disk")


def test_damage_is_named_and_fails(film, account, source):
    a_file(account, "song.mp3", blob=put(source, b"a song"))
    source.delete(film.blob)
    source.path(File.objects.get(name="song.mp3").blob).write_bytes(b"a sonG")
    with pytest.raises(CommandError) as refusal:
        call_command("store", "copy", "disk")
    assert refusal.value.returncode == 1
    lost, changed = str(refusal.value).splitlines()
    assert lost.startswith("Missing: 1 file (film.mkv). Their bytes are lost already")
    assert changed.startswith("Changed since they were stored, or unreadable: 1 file (song.mp3).")


def test_a_damaged_copy_fails_once_and_is_replaced(film, capsys):
    said(capsys=capsys)
    library().path(film.blob).write_bytes(b"A film")
    with pytest.raises(CommandError, match="Damaged at the target, and copied again: 1 file"):
        call_command("store", "copy", "disk", "--verify")
    assert library().path(film.blob).read_bytes() == b"a film"
    assert "Everything is there" in said("--verify", capsys=capsys)


def test_orphans_stay(film, account, source, capsys):
    gone = put(source, b"orphan")
    source.set_aside(gone.blob, timezone.now().date())
    assert "Orphans aren't copied: 1." in said(capsys=capsys)
    assert not Discarded.objects.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, command.StoreAway, command.DiskFull])
def test_an_interrupted_copy_ends_with_one_line_and_the_next_run_continues(
    film, monkeypatch, capsys, error
):
    def fail(_store, _blob):
        raise error

    # No store here fails on demand, and no setting shortens the wait for one.
    with monkeypatch.context() as patch:
        patch.setattr(copies, "PATIENCE_SECONDS", 0)
        patch.setattr(Elsewhere, "open", fail)
        with pytest.raises(CommandError, match=r"0 of 1 files.*run this command again") as refusal:
            call_command("store", "copy", "disk")
    assert refusal.value.returncode == command.INTERRUPTED
    assert "Copied 1 file," in said(capsys=capsys)


def test_progress_is_described_in_words(film, source, account, monkeypatch, capsys):
    # The interval suits people, who wait for hours.
    monkeypatch.setattr(command, "SECONDS_PER_LINE", 0)
    a_file(account, "other.mkv", blob=put(source, bytes(2 * 10**6)))
    output = said(capsys=capsys).splitlines()
    assert output[0] == "0 of 2 files, 0.00 GB of 0.00 GB"
    assert any("MB/s, about 0 min left" in line for line in output)
    assert any(line.endswith("looking for what arrived meanwhile") for line in output)


def test_only_one_copy_runs(film, settings):
    with (settings.DATA_DIR / "store-copy.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CommandError, match="Another copy is running"):
            call_command("store", "copy", "disk")


def test_the_store_in_use_is_not_a_valid_target(film, settings, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    for url in (URL, f"{URL}/"):
        with pytest.raises(CommandError, match="Ferry keeps its files there already"):
            call_command("store", "copy", url)
    settings.STORE_URL = ""
    with pytest.raises(CommandError, match="Ferry keeps its files there already"):
        call_command("store", "copy", "disk")


@pytest.mark.parametrize("target", ["s3://", "/mnt/files", "s3://bucket?other=1"])
def test_other_targets_are_refused(film, target):
    with pytest.raises(CommandError, match="TARGET must be disk, or s3://"):
        call_command("store", "copy", target)


@pytest.mark.sqlite
def test_an_object_store_needs_what_ferry_will_need(film, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="needs PostgreSQL"):
        call_command("store", "copy", URL.replace("bucket", "other"))
