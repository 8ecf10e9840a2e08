"""The drive: a listing of 10,000 beside copyparty and wsgidav, and a file beside nginx."""

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

import httpx
from django.utils import timezone

from config.embedded import upstream
from host import preparation
from lab.bench import library
from lab.bench.archives import copyparty
from lab.bench.browser import make_owner
from lab.bench.files import READERS, SIZE_BYTES, nginx
from lab.bench.harness import Row, fetch, in_turns, peer, peer_port, running_peer
from lab.bench.pages import NAMES, page_of_new_folder, plain_files
from service.models import Account, Folder
from service.store.blobs import library_store
from tests.serving import serving
from webui.models import User
from webui.tokens import tokens
from webui.tokens.tokens import Purpose

# What rclone asks.
ASKED = (
    '<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:prop><d:displayname/><d:getlastmodified/>'
    "<d:getcontentlength/><d:resourcetype/></d:prop></d:propfind>"
)


def rows(home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    owner = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    page_of_new_folder(owner, 0)
    file = library.large_file(owner, "film.mkv", SIZE_BYTES)
    token = tokens.create(User.objects.get(), "bench", timezone.now(), Purpose.DRIVE)
    header = f"Authorization: Basic {b64encode(f'any:{token}'.encode()).decode()}"
    with serving(WEB_PROCESSES="2", WEB_THREADS="128") as server:
        folder = f"{server.url}/dav/{Folder.objects.get(name__contains=', 0').name}/"
        yield from listings(folder, header, home / "pictures")
        film = library_store().path(file.blob)
        yield from bytes_of_file(f"{server.url}/dav/film.mkv", header, film, home)


def listings(folder: str, header: str, twin: Path) -> Iterator[Row]:
    plain_files(twin)
    for name, served in (("copyparty", copyparty), ("wsgidav", wsgidav)):
        title = f"PROPFIND of 10,000, of {name}'s"
        program = peer(name)
        if program is None:
            yield Row(title, None, missing=name)
            continue
        with running_peer(*served(program, twin)) as url:
            its = partial(list_all, url)
            taken = in_turns(**{"ferry": partial(list_all, folder, header), name: its})
        ratio = median(taken["ferry"]) / median(taken[name])
        yield Row(title, ratio, at_most=0.5, relative="time", raw=taken)


def list_all(url: str, header: str = "X-Bench: 1") -> None:
    name, _, value = header.partition(": ")
    headers = {name: value, "Depth": "1", "Content-Type": "application/xml"}
    answer = httpx.request(
        "PROPFIND", url, content=ASKED, headers=headers, timeout=120, trust_env=False
    )
    assert answer.status_code == 207
    assert len(re.findall(rb"</\w+:response>", answer.content)) >= len(NAMES)


def wsgidav(program: str, root: Path) -> tuple[list[str], int]:
    port = peer_port()
    options = ["--host=127.0.0.1", f"--port={port}", "--auth=anonymous", "--server=cheroot"]
    return [program, *options, f"--root={root}", "--quiet"], port


def bytes_of_file(url: str, header: str, place: Path, home: Path) -> Iterator[Row]:
    title = "file of the drive at 8 readers, of nginx"
    program = peer("nginx")
    if program is None:
        yield Row(title, None, missing="nginx")
        return
    with running_peer(*nginx(program, home, place.parent)) as its:
        taken = in_turns(
            ferry=lambda: fetch(url, READERS, header),
            nginx=lambda: fetch(f"{its}/{place.name}", READERS),
        )
    ratio = median(taken["nginx"]) / median(taken["ferry"])
    yield Row(title, ratio, at_least=0.8, relative="speed", raw=taken)
