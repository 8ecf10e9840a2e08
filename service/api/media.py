"""Pictures and playable forms of a file. None is made yet, and the answers say so."""

from typing import NoReturn

from django.http import HttpResponse

from service import library
from service.api.errors import CannotConvert
from service.api.http import Request
from service.errors import NotFound


def picture(request: Request, file_id: int) -> NoReturn:
    """`image` and `thumbnail`: only if one exists."""
    library.file(request.account, file_id)
    raise NotFound


def converted(request: Request, file_id: int) -> HttpResponse:
    """`hls` and `mp4`."""
    library.file(request.account, file_id)
    raise CannotConvert
