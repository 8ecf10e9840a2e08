"""What only an object store does, on SeaweedFS."""

import re
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import obstore
import pytest
from django.db import connection

from service.errors import StoreAway
from service.library.upkeep.database_match import identity, refuse_other
from service.store.objects import self_test
from service.store.objects.bucket import Bucket
from service.store.objects.requests import TIMEOUT as WRITE_TIMEOUT
from service.store.objects.requests import Exists, ObjectRequests
from service.store.objects.self_test import UnfitStore
from service.store.objects.store import TIMEOUT, ObjectStore, open_bucket
from service.store.objects.writer import PART_BYTES
from tests import misbehaving, object_stores
from tests.misbehaving import answers, whole
from tests.service.builders import put
from tests.service.fetching.servers import in_turn

# How long people wait before they learn that the store is away: the tries times the limit of each.
# The clock also measures a busy machine.
READ_SECONDS = 6.0
# By the clock: less than the 30 seconds that obstore's own limit gives each try.
CLOCK_SECONDS = 25
# The same for writers: twice the ten seconds that a busy store gets.
WRITE_SECONDS = 20.0
RETRIES = re.compile(r"after (\d+) retries")


def test_a_good_store_is_accepted_and_left_as_it_was(seaweedfs):
    bucket = seaweedfs.bucket(secrets.token_hex(8))
    self_test.refuse_unfit(bucket)
    listed = obstore.list(open_bucket(bucket)).collect()
    assert [*listed] == []


def test_a_store_that_overwrites_is_refused():
    with object_stores.rclone() as server, pytest.raises(UnfitStore, match="If-None-Match"):
        self_test.refuse_unfit(server.bucket("prefix"))


@pytest.mark.slow
def test_an_unreachable_store_is_refused(seaweedfs):
    with seaweedfs.frozen(), pytest.raises(UnfitStore, match="doesn't answer"):
        self_test.refuse_unfit(seaweedfs.bucket("prefix"))


def test_a_store_with_a_different_clock_is_refused_with_an_explanation():
    wrong = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with (
        misbehaving.serving(answers(whole(b"", "403 Forbidden", Date=wrong))) as server,
        pytest.raises(UnfitStore, match=r"has a clock .60 minutes off this machine's"),
    ):
        self_test.refuse_unfit(bucket_at(server))


def bucket_at(server):
    return Bucket.of(f"s3://ferry?endpoint=http://127.0.0.1:{server.port}", object_stores.KEYS)


def put_at(server, tmp_path, content=b"content"):
    with closing(ObjectStore(bucket_at(server), tmp_path, 0)) as store:
        return put(store, content)


CONFLICT = whole(b"<Error><Code>ConditionalRequestConflict</Code></Error>", "409 Conflict")
EXISTS = whole(b"<Error><Code>PreconditionFailed</Code></Error>", "412 Precondition Failed")


def test_a_write_in_conflict_with_another_is_not_acknowledged(tmp_path):
    with misbehaving.serving(answers(CONFLICT)) as server, pytest.raises(StoreAway):
        put_at(server, tmp_path)


def test_a_write_in_conflict_with_another_is_repeated(tmp_path):
    with misbehaving.serving(in_turn(answers(CONFLICT), answers(whole(b"")))) as server:
        assert put_at(server, tmp_path).size_bytes == len(b"content")
        assert len(server.heads) == 2


@pytest.mark.parametrize("reply", [CONFLICT, EXISTS], ids=["conflict", "exists"])
def test_an_upload_whose_part_is_refused_is_not_acknowledged(tmp_path, reply):
    begun = whole(b"<Result><UploadId>7</UploadId></Result>")

    def misbehave(wire):
        wire.send(begun if b"uploads=" in wire.head else reply)

    with misbehaving.serving(misbehave) as server, pytest.raises(StoreAway):
        put_at(server, tmp_path, bytes(PART_BYTES))


@pytest.mark.parametrize("size_bytes", [0, len(b"content")])
def test_what_exists_after_a_lost_answer_must_be_whole(tmp_path, size_bytes):
    replies = in_turn(answers(EXISTS), answers(misbehaving.head(Content_Length=str(size_bytes))))
    with misbehaving.serving(replies) as server:
        if size_bytes:
            assert put_at(server, tmp_path).size_bytes == size_bytes
        else:
            with pytest.raises(StoreAway):
                put_at(server, tmp_path)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_reads_and_writes_hold_no_database_connection(objects):
    stored = put(objects)
    for use in (lambda: objects.open(stored.blob).close(), lambda: put(objects)):
        connection.ensure_connection()
        use()
        assert connection.connection is None


@pytest.mark.slow
@pytest.mark.parametrize("use", ["open", "size", "on_disk"])
def test_readers_soon_learn_that_the_store_is_away(seaweedfs, objects, use, caplog):
    stored = put(objects)
    with seaweedfs.frozen():
        began_at = time.monotonic()
        with pytest.raises(StoreAway):
            getattr(objects, use)(stored.blob)
        assert time.monotonic() - began_at < CLOCK_SECONDS
        tries = 1 + sum(map(int, RETRIES.findall(caplog.text)))
        assert tries * milliseconds(TIMEOUT) < READ_SECONDS * 1000
    with objects.open(stored.blob) as file:
        assert file.read(10) == b"content"


@pytest.mark.slow
@pytest.mark.django_db
def test_a_store_that_is_back_takes_files_at_once(seaweedfs, objects):
    """Health checks spare it for some seconds; people don't wait for that."""
    put(objects)
    assert objects.claim_for(identity())
    with seaweedfs.frozen(), pytest.raises(StoreAway):
        objects.losses()
    with pytest.raises(StoreAway):
        objects.losses()
    refuse_other(objects)


def milliseconds(limit):
    return int(limit.removesuffix("ms"))


def test_a_reader_continues_after_a_short_silence(seaweedfs, objects):
    stored = put(objects, bytes(PART_BYTES))
    with objects.open(stored.blob) as file, ThreadPoolExecutor(1) as other:
        file.seek(PART_BYTES // 2)
        with seaweedfs.frozen():
            reading = other.submit(file.read, 100)
        assert reading.result() == bytes(100)


@pytest.mark.slow
def test_a_writer_soon_notices_that_the_store_is_unreachable(seaweedfs, objects, caplog):
    writer = objects.writer()
    writer.write(bytes(PART_BYTES))
    caplog.set_level("DEBUG", "ferry.store")
    with seaweedfs.frozen(), pytest.raises(StoreAway), writer:
        writer.write(bytes(PART_BYTES))
    tries = caplog.text.count("store failed method=")
    assert tries >= 1
    assert tries * max(WRITE_TIMEOUT.read, WRITE_TIMEOUT.write) <= WRITE_SECONDS
    assert [*objects.blobs()] == []


def test_only_one_of_many_concurrent_creators_wins(seaweedfs):
    bucket = seaweedfs.bucket(secrets.token_hex(8))
    with closing(ObjectRequests(bucket)) as requests, ThreadPoolExecutor(16) as pool:

        def create(number):
            try:
                requests.create("same", b"%d" % number)
            except Exists:
                return 0
            return 1

        assert sum(pool.map(create, range(32))) == 1


def test_prefixes_are_isolated(seaweedfs, tmp_path, objects):
    stored = put(objects)
    with closing(ObjectStore(seaweedfs.bucket(secrets.token_hex(8)), tmp_path, 0)) as other:
        assert other.size(stored.blob) is None
        assert [*other.blobs()] == []
        assert other.claim_for("other")
    assert objects.claim_for("one")


def test_uploads_of_another_prefix_are_left_alone(seaweedfs, tmp_path, objects):
    later = datetime.max.replace(tzinfo=UTC)
    with objects.writer() as writer:
        writer.write(bytes(PART_BYTES))
        with closing(ObjectStore(seaweedfs.bucket(secrets.token_hex(8)), tmp_path, 0)) as other:
            assert other.drop_drafts(later) == 0
        writer.commit()


def test_an_upload_that_takes_a_day_is_left_alone(objects):
    """The sweep asks for drafts of an hour ago, and a store dates an upload by its beginning."""
    with objects.writer() as writer:
        writer.write(bytes(PART_BYTES))
        assert objects.drop_drafts(datetime.now(UTC) + timedelta(days=1)) == 0
        stored = writer.commit()
    assert objects.size(stored.blob) == PART_BYTES


def test_the_generation_never_falls(seaweedfs, tmp_path, objects):
    bucket = seaweedfs.bucket(secrets.token_hex(8))
    for number, generation in [(5, 5), (3, 5), (8, 8)]:
        # Each process reads and writes it once a minute.
        with closing(ObjectStore(bucket, tmp_path, 0)) as store:
            store.reach_generation(number)
            assert store.generation() == generation


def test_a_restored_orphan_is_not_set_aside_by_its_old_date(objects):
    stored = put(objects)
    objects.set_aside(stored.blob, datetime.now(UTC).date())
    before = datetime.now(UTC).replace(microsecond=0)
    objects.bring_back(next(objects.orphans()))
    (back,) = objects.blobs()
    assert back.written_at >= before
    # Once it is deleted, nothing about it stays.
    objects.delete(stored.blob)
    objects.drop_orphans(before.date())
    assert [*objects.blobs()] == [*objects.orphans()] == []


def test_objects_shared_by_one_machine_are_read_by_another(seaweedfs, tmp_path):
    bucket = seaweedfs.bucket(secrets.token_hex(8))
    folders = [tmp_path / "one", tmp_path / "other"]
    content = bytes(range(256)) * (PART_BYTES // 200)
    for folder in folders:
        folder.mkdir()
    here, there = (folder / "pins" / "7-key" for folder in folders)
    here.parent.mkdir()
    with (
        closing(ObjectStore(bucket, folders[0], 0)) as one,
        closing(ObjectStore(bucket, folders[1], 0)) as other,
    ):
        assert not other.fetch_published(there)
        assert not one.is_published(here)
        for version in (b"small", content, b"replaced"):
            here.write_bytes(version)
            one.publish(here)
            assert one.is_published(here)
            assert other.fetch_published(there)
            assert there.read_bytes() == version
        assert [path.name for path in there.parent.iterdir()] == ["7-key"]
        now = datetime.now(UTC)
        assert other.drop_published(now - timedelta(hours=1)) == 0
        assert other.drop_published(now + timedelta(hours=1)) == 1
        assert not other.fetch_published(there)
        assert [*one.blobs()] == []
