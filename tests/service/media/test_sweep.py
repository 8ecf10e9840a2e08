"""Data about a content stays as long as any file has it, deleted files included."""

import pytest

from service.library import deleted_items
from service.media import probing, sweep
from service.media.content_folders import Content
from service.models import DeletedItem
from tests.service.builders import NOW, a_file, alice

pytestmark = pytest.mark.django_db


def test_media_data_of_a_deleted_file_stays_until_permanent_deletion():
    account = alice()
    file = a_file(account)
    content = Content(file.sha1, file.size_bytes)
    media = probing.row_of(content)
    deleted_items.delete(account, [], [file.pk], NOW)
    assert not probing.without_file().exists()
    assert sweep.without_file([content]) == []
    deleted_items.purge(account, DeletedItem.objects.all(), NOW)
    assert probing.without_file().get() == media
    assert sweep.without_file([content]) == [content]
