"""Receive bodies of requests, however slowly they arrive."""

from typing import Any, cast

from common.storage import database_connection


class RequestBody:
    """The body of a request, which holds no database connection while it arrives."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def read(self, *size: int) -> bytes:
        database_connection.give_back()
        return cast("bytes", self._source.read(*size))

    def readline(self, *size: int) -> bytes:
        database_connection.give_back()
        return cast("bytes", self._source.readline(*size))
