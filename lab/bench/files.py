"""A file by its signed link, beside the same file served by nginx."""

from collections.abc import Iterator
from getpass import getuser
from pathlib import Path
from statistics import median

from django.utils import timezone

from lab.bench import library
from lab.bench.harness import Row, fetch, in_turns, peer, peer_port, running_peer
from service.content import signed_links
from service.store.blobs import library_store
from tests.serving import serving

SIZE_BYTES = 512 * 2**20
READERS = 8
NGINX = """
user {user}; daemon off; worker_processes 2; pid {home}/pid; error_log {home}/error;
events {{ }}
http {{
  access_log off; sendfile on; tcp_nopush on; client_body_temp_path {home}/t;
  proxy_temp_path {home}/t; fastcgi_temp_path {home}/t; uwsgi_temp_path {home}/t;
  scgi_temp_path {home}/t;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def rows(home: Path) -> Iterator[Row]:
    owner = library.account("files@example.org")
    file = library.large_file(owner, "film.mkv", SIZE_BYTES)
    link = signed_links.file_link(owner, file, now=timezone.now())
    place = library_store().path(file.blob)
    with serving(WEB_PROCESSES="2", WEB_THREADS="128") as server:
        ours = server.url + link
        for _ in range(4):
            fetch(ours, READERS)
        memory = server.resident_bytes()
        program = peer("nginx")
        if program is None:
            yield Row("file at 8 readers, of nginx", None, missing="nginx")
            return
        with running_peer(*nginx(program, home, place.parent)) as url:
            taken = in_turns(
                ferry=lambda: fetch(ours, READERS),
                nginx=lambda: fetch(f"{url}/{place.name}", READERS),
            )
        ratio = median(taken["nginx"]) / median(taken["ferry"])
        yield Row("file at 8 readers, of nginx", ratio, at_least=0.8, relative="speed", raw=taken)
        grown = (server.resident_bytes() - memory) / 2**20
        yield Row("memory of the server meanwhile, grown by", grown, " MiB", under=32)


def nginx(program: str, home: Path, root: Path) -> tuple[list[str], int]:
    port = peer_port()
    config = home / "nginx.conf"
    config.write_text(NGINX.format(user=getuser(), home=home, port=port, root=root))
    return [program, "-c", str(config), "-e", str(home / "error")], port
