"""Run a proxy in front of Ferry, set up exactly as documented."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path

from tests.running import BASE, Ferry
from tests.tools import program

OPERATIONS = (BASE / "docs/operations.md").read_text()
NGINX = """
user {user}; daemon off; pid {home}/pid; error_log {home}/error;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {home}/t; proxy_temp_path {home}/t; fastcgi_temp_path {home}/t;
  uwsgi_temp_path {home}/t; scgi_temp_path {home}/t;
  {block}
}}
"""
CADDY = """
{{
    admin off
    auto_https disable_redirects
    default_bind 127.0.0.1
    {options}
}}
{block}
"""


@dataclass(frozen=True)
class Front:
    """A proxy, and the scheme and prefix by which a browser reaches Ferry."""

    proxy: str
    scheme: str
    prefix: str

    @property
    def host(self) -> str:
        is_below = self.proxy == "caddy" and self.prefix
        return "home.example.org" if is_below else "ferry.example.org"

    @property
    def settings(self) -> dict[str, str]:
        """Return what Ferry has to know about the proxy."""
        settings = {"TRUSTED_PROXIES": "127.0.0.1", "ALLOWED_HOSTS": self.host}
        return settings | ({"URL_PREFIX": self.prefix} if self.prefix else {})

    def __str__(self) -> str:
        return f"{self.proxy}-{self.scheme}{self.prefix.replace('/', '-')}"


@contextmanager
def proxy(front: Front, home: Path, ferry: Ferry, port: int) -> Iterator[str]:
    write = {"nginx": nginx, "caddy": caddy}[front.proxy]
    command, environment = write(front, home, ferry, port)
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"{front.scheme}://{front.host}:{port}"
        finally:
            process.terminate()


def block(language: str, first: str) -> str:
    """Return the documentation's block in this language that starts with these words."""
    found = re.findall(rf"^```{language}\n(.*?)^```", OPERATIONS, re.MULTILINE | re.DOTALL)
    (piece,) = [piece for piece in found if piece.startswith(first)]
    return piece


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(front: Front, home: Path, ferry: Ferry, port: int) -> tuple[list[str], dict[str, str]]:
    server = changed(
        block("nginx", "# Requests at once"),
        ("127.0.0.1:8000", f"127.0.0.1:{ferry.port}"),
        ("/srv/ferry/data/", f"{ferry.data_dir}/"),
        ("/var/log/nginx/ferry.log", f"{home}/access.log"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port}{' ssl' * (front.scheme == 'https')};"),
    )
    if front.scheme == "https":
        server = changed(server, ("/etc/ssl/ferry", f"{home}/front"))
    else:
        server = re.sub(r"^ +ssl_certificate.*\n", "", server, flags=re.MULTILINE)
    if front.prefix:
        server = changed(
            server,
            ("location / {", f"location {front.prefix}/ {{"),
            ("^/(rest/", f"^{front.prefix}/(rest/"),
        )
    path = home / "nginx.conf"
    path.write_text(NGINX.format(user=getuser(), home=home, block=server))
    return [program("nginx"), "-c", str(path)], {}


def caddy(front: Front, home: Path, ferry: Ferry, port: int) -> tuple[list[str], dict[str, str]]:
    site = changed(
        block("caddy", front.host),
        ("127.0.0.1:8000", f"127.0.0.1:{ferry.port}"),
        ("log {", f"log {{\noutput file {home}/access.log"),
        (f"{front.host} {{", f"{front.scheme}://{front.host}:{port} {{\n@tls"),
    )
    tls = f"tls {home}/front.crt {home}/front.key" if front.scheme == "https" else ""
    path = home / "Caddyfile"
    options = block("caddy", "{").strip().removeprefix("{").removesuffix("}")
    site = changed(site.replace("@tls", tls), *older_words(program("caddy")))
    path.write_text(CADDY.format(options=options, block=site))
    command = [program("caddy"), "run", "--config", str(path), "--adapter", "caddyfile"]
    return command, {"HOME": str(home), "PATH": "/usr/bin:/bin"}


def older_words(caddy: str) -> list[tuple[str, str]]:
    """Return the replacements for a Caddy before 2.7, such as Debian's."""
    version = subprocess.run([caddy, "version"], capture_output=True, text=True, check=True).stdout
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    now, before = "request_buffers 256KiB", "buffer_requests\nmax_buffer_size 256KiB"
    return [(now, before)] if numbers < [2, 7] else []
