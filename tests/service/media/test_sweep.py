"""What is stored about a content stays as long as a file with it, or a deleted one."""

import pytest

from service.library import deleted_items
from service.media import probing, sweep
from service.media.content_folders import Content
from service.models import DeletedItem
from tests.service.builders import NOW, a_file, alice

pytestmark = pytest.mark.django_db


def test_what_is_known_about_a_deleted_file_stays_until_it_is_deleted_for_good():
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
