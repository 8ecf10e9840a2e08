"""kill -9 at every step of a put, a rename, and a delete, and at any moment between them."""

import hashlib
import os
import random
import signal
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.db.models import Sum

from service.library import library
from service.library.upkeep.sweep import sweep
from service.models import Account, File, Folder
from tests.service.builders import NOW, a_file, a_folder, alice, put
from tests.service.dying import dying_at, fork
from tests.service.reading import contents_of

pytestmark = pytest.mark.django_db(transaction=True)


def whole(account, store):
    """Check that nothing is lost, incomplete, or left over."""
    for file in File.objects.all():
        with store.open(file.blob) as content:
            assert hashlib.sha1(content.read()).hexdigest() == file.sha1
    total = File.objects.aggregate(bytes=Sum("size_bytes", default=0))["bytes"]
    assert Account.objects.get(pk=account.pk).space_used_bytes == total
    assert library.root_of(account).size_bytes == total
    for row in contents_of(account, 0).folders:
        lineage = library.folder(account, row.id).lineage
        below = File.objects.filter(folder__lineage__startswith=lineage)
        inside = below.aggregate(bytes=Sum("size_bytes", default=0))
        assert row.size_bytes == inside["bytes"]
    much_later = datetime.now().astimezone() + timedelta(days=3)
    assert sweep(store, much_later, timedelta(hours=1)).missing == 0
    assert {found.blob for found in store.blobs()} == set(
        File.objects.values_list("blob", flat=True)
    )
    assert not list(unfinished(store))


def unfinished(store):
    """Return the files that are being written, which a store keeps beside the blobs."""
    # The path of a blob is blobs/ab/cd/<id>.
    root = store.path("0" * 32).parents[3]
    return [path for path in (root / "incoming").iterdir() if path.is_file()]


@pytest.mark.slow
def test_a_kill_at_any_step_loses_and_leaves_nothing(store):
    account = alice()
    folder = a_folder(account)

    def act():
        file = a_file(account, "new", folder=folder, blob=put(store, b"new content"))
        library.rename_file(account, file.pk, "renamed", NOW)
        library.delete_file(account, file.pk, NOW)

    kept = a_file(account, "kept", folder=folder, blob=put(store))
    step = 0
    while dying_at(step, act) == -signal.SIGKILL:
        whole(account, store)
        for left in File.objects.exclude(pk=kept.pk):
            library.delete_file(account, left.pk, NOW)
        step += 1
    assert step > 30
    whole(account, store)
    assert File.objects.get() == kept


@pytest.mark.slow
def test_a_kill_while_a_folder_is_deleted_leaves_all_of_it_or_nothing(store):
    account = alice()
    kept = a_file(account, "kept", blob=put(store))
    step, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        doomed = a_folder(account, f"Doomed {step}")
        for place in (doomed, a_folder(account, f"Doomed {step}/Below")):
            a_file(account, "film", folder=place, blob=put(store))
        status = dying_at(step, partial(library.delete_folder, account, doomed.pk, NOW))
        left = File.objects.filter(folder__lineage__startswith=doomed.lineage).count()
        assert left == 2 * Folder.objects.filter(pk=doomed.pk).count()
        whole(account, store)
        if left:
            library.delete_folder(account, doomed.pk, NOW)
        step += 1
    assert (status, step > 15) == (0, True)
    assert File.objects.get() == kept


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_and_leaves_nothing(store):
    account = alice()
    folder = a_folder(account)
    chance = random.Random(1)

    def act(writing):
        for number in range(10_000):
            name = f"{os.getpid()} {number}"
            file = a_file(account, name, folder=folder, blob=put(store, os.urandom(200_000)))
            library.rename_file(account, file.pk, f"{name} renamed", NOW)
            if number % 2:
                library.delete_file(account, file.pk, NOW)
            os.write(writing, b".")

    for _ in range(20):
        reading, writing = os.pipe()
        child = fork(partial(act, writing))
        # Otherwise, `os.read` would block if the child ended by itself.
        os.close(writing)
        for _progress in range(chance.randint(1, 5)):
            assert os.read(reading, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        whole(account, store)
    assert File.objects.count() >= 20
