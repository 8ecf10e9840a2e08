"""Add a file to a folder."""

from typing import BinaryIO

from django.utils import timezone

from webui.connection.connection import Service
from webui.files import held_deletes
from webui.http.multipart import Exactly
from webui.library.entries import ROOT
from webui.v1.records import Added


def add(  # noqa: PLR0913  So much belongs to a file.
    service: Service,
    folder: str,
    name: str,
    content: Exactly | BinaryIO,
    size_bytes: int,
    *,
    as_file: bool = False,
) -> Added:
    """Send a file to the service. A service that takes no folder puts it in the root.

    `as_file`: our own service doesn't fetch torrents then.
    """
    target = folder if service.takes_folder and folder != ROOT else None
    held_deletes.delete_now(service, timezone.now(), folder=target or ROOT, name__iexact=name)
    return service.v1.add_file(name, content, size_bytes, target, as_file=as_file)
