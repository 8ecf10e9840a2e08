"""Requests about a file: the worker looks up what they are about."""

from collections.abc import Callable
from dataclasses import dataclass

from common.storage import database_connection
from service.errors import NotFound
from service.media.content_folders import StoredContent, content_of
from service.media.serving.media_server import Answer, HasLeft
from service.media.serving.requests import Facts
from service.models import File


@dataclass(frozen=True)
class FileRequest:
    source: StoredContent
    question: Facts
    has_left: HasLeft = lambda: False


def of_file(answer: Callable[[FileRequest], Facts]) -> Answer:
    """Wrap an answer for questions that name a file.

    The worker looks up the file's blob itself, so a process that can reach the socket, and nothing
    more, can't learn or choose a path.
    """

    def answer_for_file(question: Facts, has_left: HasLeft) -> Facts:
        file_id = question.get("file")
        rows = File.objects.filter(pk=file_id if type(file_id) is int else 0)
        file = rows.only("sha1", "size_bytes", "blob").first()
        if file is None:
            raise NotFound
        # What it answers may have to be made first.
        database_connection.give_back()
        return answer(FileRequest(StoredContent(content_of(file), file.blob), question, has_left))

    return answer_for_file
