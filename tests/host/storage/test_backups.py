"""`manage.py backup` and `manage.py restore`, and the copies of the database."""

import fcntl
import io
import json
import os
import shutil
import sqlite3
import stat
import tempfile
import time
from contextlib import closing, contextmanager
from datetime import timedelta
from hashlib import sha1
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from host.storage import backups, database_copies, running
from host.storage.backups import BackupRefused
from host.storage.database_copies import NotWhole
from service.library import deleted_items, library
from service.library.upkeep.sweep import sweep
from service.models import Account, File
from service.store.blobs import library_store
from service.store.disk_store import DiskStore
from tests.service.builders import NOW, a_file, alice, put
from webui.activity.page import sentence
from webui.models import Activity

# PostgreSQL's own tools back it up.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]
SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def store(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    (settings.DATA_DIR / "secret_key").write_text("the key")
    (settings.DATA_DIR / "tls").mkdir(exist_ok=True)
    (settings.DATA_DIR / "tls" / "authority.pem").write_text("the authority")
    return library_store()


@pytest.fixture(autouse=True)
def account(store):
    return alice()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "backup"


@pytest.fixture
def elsewhere(tmp_path, settings, monkeypatch):
    """Return a context manager that switches to another data folder, as on another machine."""

    @contextmanager
    def enter(name="elsewhere"):
        before = settings.DATA_DIR
        settings.DATA_DIR = tmp_path / name
        settings.DATA_DIR.mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            # Django keeps the tests' database open; a restore only asks for the path.
            place = str(settings.DATA_DIR / "ferry.sqlite3")
            patch.setitem(connection.settings_dict, "NAME", place)
            yield settings.DATA_DIR
            connection.close()
        settings.DATA_DIR = before

    return enter


def content_of(data_dir):
    """Return the names of all files, and the hashes of their bytes in the library."""
    store = DiskStore(data_dir / "library")
    with closing(sqlite3.connect(data_dir / "ferry.sqlite3")) as database:
        rows = database.execute("SELECT name, blob FROM service_file").fetchall()
    return {name: sha1(store.path(blob).read_bytes()).hexdigest() for name, blob in rows}


def files_with(store, names):
    account = Account.objects.get()
    for name in names:
        a_file(account, name, blob=put(store, f"content of {name}".encode()))
    return {row.name: row.sha1 for row in File.objects.all()}


def test_restored_files_match_the_hashes_of_the_backup(store, target, elsewhere):
    kept = files_with(store, "abc")
    outcome = backups.back_up(target)
    assert (outcome.files, outcome.damaged) == (3, [])
    with elsewhere() as data_dir:
        assert backups.restore(target).damaged == []
        assert content_of(data_dir) == kept
        assert (data_dir / "secret_key").read_text() == "the key"
        assert (data_dir / "tls" / "authority.pem").read_text() == "the authority"
        assert not running.is_half_restored()
        assert library_store().generation() == 3


def test_no_signed_link_from_before_opens_after_a_restore(store, target, elsewhere):
    files_with(store, "a")
    before = Account.objects.get().link_key
    backups.back_up(target)
    with elsewhere() as data_dir:
        for restored in (target, next(target.glob("database-*"))):
            (backups.restore_database if restored.is_file() else backups.restore)(restored)
            with closing(sqlite3.connect(data_dir / "ferry.sqlite3")) as database:
                [[key]] = database.execute("SELECT link_key FROM service_account")
            assert len(key) == 64
            assert key != before


def said_by(activity):
    return [sentence(event) for event in activity]


def test_the_owner_reads_of_backups_and_what_was_restored(store, target, elsewhere):
    files_with(store, "a")
    call_command("backup", str(target), stdout=io.StringIO())
    command = "A command on this machine"
    assert said_by(Activity.objects.all()) == [f"{command} backed up Ferry to {target}"]
    with elsewhere():
        call_command("restore", str(target), stdout=io.StringIO())
        assert said_by(Activity.objects.all()) == [f"{command} restored Ferry from {target}"]
        copy = database_copies.keep("before-upgrade")
        call_command("restore", str(copy), stdout=io.StringIO())
        newest = Activity.objects.order_by("-pk")[:1]
        assert said_by(newest) == [f"{command} restored the database from {copy.name}"]


def test_failed_backups_are_not_recorded(store):
    with pytest.raises(CommandError):
        call_command("backup", str(store.mark.parent / "backup"))
    assert not Activity.objects.exists()


def test_only_ferrys_user_can_read_a_backup(store, target):
    files_with(store, "a")
    backups.back_up(target)
    for path in (target, *target.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, path


def test_a_second_backup_adds_new_files_and_drops_deleted_ones(store, target):
    files_with(store, "abc")
    first = backups.back_up(target)
    assert first.ways == {"linked": 3}
    gone = File.objects.get(name="a")
    library.delete_file(Account.objects.get(), gone.pk, NOW)
    files_with(store, "de")
    second = backups.back_up(target)
    assert second.ways == {"linked": 2, "kept": 2}
    kept = {found.blob for found in DiskStore(target / "library").blobs()}
    assert kept == set(File.objects.values_list("blob", flat=True))
    assert len(list(target.glob("database-*"))) == 1


def test_deleted_files_that_can_be_restored_are_in_a_backup(store, target, elsewhere):
    files_with(store, "ab")
    backups.back_up(target)
    account, gone = Account.objects.get(), File.objects.get(name="a")
    deleted_items.delete(account, [], [gone.pk], NOW)
    assert backups.back_up(target).ways == {"kept": 2}
    with elsewhere():
        assert backups.restore(target).damaged == []
        assert library_store().path(gone.blob).read_bytes() == b"content of a"


def test_a_backup_from_before_deleted_files_were_in_it_is_whole(store, target, elsewhere):
    files_with(store, "ab")
    gone = File.objects.get(name="a")
    deleted_items.delete(Account.objects.get(), [], [gone.pk], NOW)
    backups.back_up(target)
    DiskStore(target / "library").delete(gone.blob)
    manifest = json.loads((target / backups.MANIFEST).read_text())
    (target / backups.MANIFEST).write_text(json.dumps(manifest | {"format": 1}))
    with elsewhere():
        assert backups.restore(target).damaged == []


def test_files_deleted_and_swept_during_a_backup_are_in_it(store, target, elsewhere, monkeypatch):
    kept = files_with(store, "ab")
    bring_all = backups.bring_all

    def delete_and_bring(*arguments, **options):
        library.delete_file(Account.objects.get(), File.objects.get(name="a").pk, NOW)
        sweep(store, timezone.now() + timedelta(days=5), timedelta(0))
        return bring_all(*arguments, **options)

    with monkeypatch.context() as patch:
        # Acts between the copy of the database and the copy of the files.
        patch.setattr(backups, "bring_all", delete_and_bring)
        assert backups.back_up(target).damaged == []
    with elsewhere() as data_dir:
        backups.restore(target)
        assert content_of(data_dir) == kept


@pytest.fixture
def other_disk():
    if not SHARED_MEMORY.is_dir() or SHARED_MEMORY.stat().st_dev == Path("/tmp").stat().st_dev:
        pytest.skip("there is no other file system")
    folder = Path(tempfile.mkdtemp(dir=SHARED_MEMORY))
    yield folder / "backup"
    shutil.rmtree(folder)


def test_a_backup_on_another_disk_is_a_verified_copy(store, other_disk, elsewhere):
    kept = files_with(store, "abc")
    changed = File.objects.get(name="b")
    whole = store.path(changed.blob).read_bytes()
    store.path(changed.blob).write_bytes(whole[::-1])
    assert backups.back_up(other_disk).damaged == [changed.blob]
    store.path(changed.blob).write_bytes(whole)
    outcome = backups.back_up(other_disk)
    assert (outcome.ways, outcome.damaged) == ({"kept": 2, "copied": 1}, [])
    with elsewhere() as data_dir:
        backups.restore(other_disk)
        assert content_of(data_dir) == kept


def test_a_folder_without_a_manifest_is_not_a_backup(store, target, elsewhere):
    files_with(store, "a")
    backups.back_up(target)
    (target / "manifest.json").unlink()
    with elsewhere(), pytest.raises(BackupRefused, match="is no whole backup"):
        backups.restore(target)
    # The next backup reuses its blobs.
    assert backups.back_up(target).ways == {"kept": 1}


@pytest.mark.parametrize("step", ["bring_all", "bring_key", "write_manifest"])
def test_a_backup_that_is_cut_off_leaves_the_one_before(
    store, target, elsewhere, monkeypatch, step
):
    kept = files_with(store, "ab")
    backups.back_up(target)
    files_with(store, "c")
    library.delete_file(Account.objects.get(), File.objects.get(name="a").pk, NOW)
    with monkeypatch.context() as patch:

        def cut_off(*_arguments, **_options):
            raise KeyboardInterrupt

        # Stands for a kill at exactly this step.
        patch.setattr(backups, step, cut_off)
        with pytest.raises(KeyboardInterrupt):
            backups.back_up(target)
    with elsewhere() as data_dir:
        backups.restore(target)
        assert content_of(data_dir) == kept


def test_a_restore_that_is_cut_off_is_finished_by_the_next(store, target, elsewhere, monkeypatch):
    kept = files_with(store, "ab")
    backups.back_up(target)
    with elsewhere() as data_dir:
        with monkeypatch.context() as patch:

            def cut_off(*_arguments):
                raise KeyboardInterrupt

            # Stands for a kill at exactly this step.
            patch.setattr(backups, "bring_key", cut_off)
            with pytest.raises(KeyboardInterrupt):
                backups.restore(target)
        with pytest.raises(SystemExit, match="half restored"):
            running.note_running()
        backups.restore(target)
        assert content_of(data_dir) == kept


def test_files_without_content_are_named_and_the_others_backed_up(store, target, elsewhere):
    kept = files_with(store, "ab")
    store.delete(File.objects.get(name="a").blob)
    with pytest.raises(CommandError, match=r"Missing or damaged: a\. Restore them"):
        call_command("backup", str(target), stdout=io.StringIO())
    with elsewhere() as data_dir:
        assert len(backups.restore(target).damaged) == 1
        store_there = library_store()
        assert [found.blob for found in store_there.blobs()] == [File.objects.get(name="b").blob]
        assert (data_dir / "ferry.sqlite3").exists()
    assert kept


def test_a_backup_that_has_changed_since_is_noticed(store, other_disk, elsewhere):
    files_with(store, "ab")
    backups.back_up(other_disk)
    blob = File.objects.get(name="a").blob
    place = DiskStore(other_disk / "library").path(blob)
    place.write_bytes(place.read_bytes()[::-1])
    with elsewhere("first"):
        assert backups.restore(other_disk).damaged == [blob]
    (database,) = other_disk.glob("database-*")
    with closing(sqlite3.connect(database)) as changed, changed:
        changed.execute("DELETE FROM service_file")
    with elsewhere("second"), pytest.raises(BackupRefused, match="it has changed"):
        backups.restore(other_disk)


def test_verifying_reads_every_copy_and_replaces_damaged_ones(store, other_disk):
    files_with(store, "abc")
    call_command("backup", str(other_disk), stdout=io.StringIO())
    copies = DiskStore(other_disk / "library")
    for name in "ab":
        place = copies.path(File.objects.get(name=name).blob)
        place.write_bytes(place.read_bytes()[::-1])
    store.delete(File.objects.get(name="a").blob)
    with pytest.raises(CommandError, match=r"All files but 1 .* damaged: a\."):
        call_command("backup", str(other_disk), "--verify", stdout=io.StringIO())
    # What is known to be damaged isn't there already.
    outcome = backups.back_up(other_disk)
    assert outcome.damaged == [File.objects.get(name="a").blob]
    assert outcome.ways == {"kept": 2}


def test_verifying_finds_damage_that_links_share_with_the_library(store, target):
    files_with(store, "ab")
    backups.back_up(target)
    blob = File.objects.get(name="a").blob
    store.path(blob).write_bytes(store.path(blob).read_bytes()[::-1])
    assert backups.back_up(target).damaged == []
    assert backups.back_up(target, is_verifying=True).damaged == [blob]


def test_a_backup_that_lost_its_lock_is_still_one(store, target):
    files_with(store, "a")
    backups.back_up(target)
    (target / "backup.lock").unlink()
    assert backups.back_up(target).ways == {"kept": 1}


def test_a_backup_that_does_not_fit_says_how_much_space_it_needs(store, other_disk):
    files_with(store, "a")
    file = File.objects.get(name="a")
    os.truncate(store.path(file.blob), 2 * 10**12)
    File.objects.update(size_bytes=2 * 10**12)
    words = r"^Nothing was backed up: The files need 2,000.00 GB, and the disk of .* has .* GB free"
    with pytest.raises(CommandError, match=words):
        call_command("backup", str(other_disk))
    assert not list(DiskStore(other_disk / "library").blobs())


def test_restoring_without_the_key_says_what_ends_with_it(store, target, elsewhere, capsys):
    files_with(store, "a")
    call_command("backup", str(target))
    with elsewhere("first"):
        call_command("restore", str(target))
    assert "secret_key" not in capsys.readouterr().out
    (target / "secret_key").unlink()
    with elsewhere("second"):
        call_command("restore", str(target))
    assert "everyone must sign in again" in capsys.readouterr().out


def test_a_folder_with_something_else_is_not_written_to(store, target):
    target.mkdir()
    (target / "holiday.jpg").write_bytes(b"")
    with pytest.raises(CommandError, match=r"^Nothing was backed up: .* holds something else"):
        call_command("backup", str(target))
    with pytest.raises(CommandError, match="would lie in DATA_DIR itself"):
        call_command("backup", str(store.mark.parent / "backup"))
    assert [each.name for each in target.iterdir()] == ["holiday.jpg"]


def test_two_backups_never_write_to_one_folder(store, target):
    with backups.claim(target), pytest.raises(BackupRefused, match="Another backup"):
        backups.back_up(target)


@pytest.mark.parametrize(
    ("leftover", "said"),
    [
        ("ferry.sqlite3", "There is a database already"),
        ("ferry.sqlite3-wal", "There is a database already"),
        ("ferry.sqlite3-shm", "There is a database already"),
        ("library", "isn't empty: it holds library"),
        ("transfers", "isn't empty: it holds transfers"),
    ],
)
def test_a_data_folder_with_something_in_it_is_not_written_to(
    store, target, elsewhere, leftover, said
):
    files_with(store, "a")
    backups.back_up(target)
    with elsewhere() as data_dir:
        (data_dir / leftover).mkdir()
        with pytest.raises(BackupRefused, match=said):
            backups.restore(target)
        assert {each.name for each in data_dir.iterdir()} <= {leftover, running.LOCK}


def test_below_a_running_ferry_nothing_is_restored(store, target, elsewhere):
    files_with(store, "a")
    backups.back_up(target)
    with elsewhere() as data_dir, open(data_dir / running.LOCK, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        with pytest.raises(BackupRefused, match="Ferry is running"):
            backups.restore(target)
        with pytest.raises(BackupRefused, match="Ferry is running"):
            backups.restore_database(next(target.glob("database-*")))


def test_ferry_does_not_start_during_a_restore(elsewhere):
    with elsewhere(), running.alone() as is_alone:
        assert is_alone
        with pytest.raises(SystemExit, match="being restored"):
            running.note_running()


def test_a_process_that_starts_at_the_same_time_does_not_pass_for_a_restore(elsewhere, monkeypatch):
    with elsewhere() as data_dir, open(data_dir / running.LOCK, "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        # The other process continues while this one waits.
        monkeypatch.setattr(time, "sleep", lambda _seconds: other.close())
        running.note_running()
        assert running.running_since()


def test_a_copy_of_the_database_replaces_the_one_that_is_there(store, target, elsewhere):
    files_with(store, "a")
    older = database_copies.keep("before-upgrade")
    newer = files_with(store, "b")
    backups.back_up(target)
    with elsewhere() as data_dir:
        backups.restore(target)
        before = backups.restore_database(older)
        assert set(content_of(data_dir)) == {"a"}
        with closing(sqlite3.connect(before)) as database:
            rows = database.execute("SELECT name, sha1 FROM service_file").fetchall()
        assert dict(rows) == newer
        # The library stays, and its generation continues.
        assert library_store().generation() == 2
        assert len(list(library_store().blobs())) == 2


def test_a_damaged_database_is_kept_aside_too(store, elsewhere):
    older = database_copies.keep("before-upgrade")
    with elsewhere() as data_dir:
        (data_dir / "ferry.sqlite3").write_bytes(b"not a database" * 1000)
        before = backups.restore_database(older)
        assert (before / "ferry.sqlite3").read_bytes().startswith(b"not a database")
        database_copies.check(data_dir / "ferry.sqlite3")


def test_a_database_that_is_not_ferrys_is_refused(tmp_path, elsewhere):
    other = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE a (b)")
    with elsewhere(), pytest.raises(NotWhole, match="is no whole database of Ferry's"):
        backups.restore_database(other)


def migrate(*arguments):
    call_command("migrate", *arguments, verbosity=0, interactive=False)


@pytest.fixture
def _migrated_again():
    yield
    migrate()


@pytest.mark.slow
@pytest.mark.usefixtures("_migrated_again")
def test_each_migration_copies_the_database_and_few_copies_are_kept(store):
    migrate()
    assert database_copies.list_kept() == []
    files_with(store, "a")
    for _ in range(database_copies.MOST_COPIES):
        migrate("service", "0006")
        migrate("service")
    assert len(database_copies.list_kept()) == database_copies.MOST_COPIES
    with closing(sqlite3.connect(database_copies.list_kept()[0])) as copy:
        assert copy.execute("SELECT name FROM service_file").fetchall() == [("a",)]
        applied = copy.execute("SELECT name FROM django_migrations WHERE app = 'service'")
        assert max(applied) == ("0006_library_generation",)


@pytest.mark.usefixtures("_migrated_again")
def test_nothing_is_migrated_if_the_database_cannot_be_copied(store, settings):
    (settings.DATA_DIR / "backups").write_bytes(b"in the way")
    before = MigrationRecorder(connection).applied_migrations()
    with pytest.raises(SystemExit, match="can't back it up first"):
        migrate("service", "0006")
    assert MigrationRecorder(connection).applied_migrations() == before


def test_backup_on_postgresql_says_what_to_run_instead(store, target, monkeypatch):
    # Most test runs have no PostgreSQL server.
    monkeypatch.setattr(connection, "vendor", "postgresql")
    for command in ("backup", "restore"):
        with pytest.raises(CommandError, match=r"pg_dump[^~]*rsync[^~]*pg_restore"):
            call_command(command, str(target))
    assert not target.exists()


def test_a_full_disk_is_one_line(store, target, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, os.strerror(28), "/backup/x")

    files_with(store, "a")
    # Filling the shared disk would fail other tests.
    monkeypatch.setattr(backups, "bring_all", full)
    words = "^Nothing was backed up: No space left on device: /backup/x$"
    with pytest.raises(CommandError, match=words):
        call_command("backup", str(target))
