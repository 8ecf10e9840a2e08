"""Uploads through the in-process transport: what matters is memory."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import httpx

from config.embedded import upstream
from tests.bench import library
from tests.bench.harness import Row, forget_peak, memory_bytes, seconds

GIB = 2**30


def rows(home: Path) -> Iterator[Row]:
    owner = library.account("uploads@example.org")
    credentials = httpx.BasicAuth(owner.email, library.PASSWORD)
    transport = upstream.transport()
    with httpx.Client(transport=transport, base_url=upstream.URL, auth=credentials) as v1:
        send(v1, "first.bin", 2**20)
        forget_peak()
        before = memory_bytes("VmRSS")
        taken = seconds(lambda: send(v1, "large.bin", GIB))
        grown = (memory_bytes("VmHWM") - before) / 2**20
    name = "memory for an upload of 1 GiB, of the process that takes it, grown by"
    yield Row(name, grown, " MiB", under=32, raw={"seconds": [taken]})


def send(v1: httpx.Client, name: str, size_bytes: int) -> None:
    answer = v1.post("/rest/transfer/file", files={"file": (name, Zeros(size_bytes))})
    answer.raise_for_status()


class Zeros(io.RawIOBase):
    """A file of `size_bytes` zeros, which takes up no space."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size_bytes}[whence]
        self.at = begin + offset
        return self.at

    def read(self, size: int = -1) -> bytes:
        left = self.size_bytes - self.at
        part = bytes(left if size < 0 else min(size, left))
        self.at += len(part)
        return part
