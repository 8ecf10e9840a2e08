"""Uploads through the in-process transport: what matters is memory."""

from collections.abc import Iterator
from pathlib import Path

import httpx

from config.embedded import upstream
from lab.bench import library
from lab.bench.harness import Row, forget_peak, memory_bytes, seconds
from tests.zeros import Zeros

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
