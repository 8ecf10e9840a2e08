"""Print which certificates each browser accepts once it trusts a Ferry's authority.

This runs in its own network, where the hosts of forged certificates are this machine, and where the
system trusts whom we say. tests/browser/test_trust.py prepares both.
"""

import json
import os
import secrets
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET6
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import tests.environment  # noqa: F401  Before Django's settings are read.

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from playwright.sync_api import Error, sync_playwright

from host.tls import authority
from host.tls.authority import Authority
from tests.browser import engines
from tests.browser.chromium import launched
from tests.host.tls import forgeries
from tests.host.tls.forgeries import Chain
from tests.running import START_SECONDS, Ferry, running
from tests.tools import program

ADDRESS = "192.168.77.2"
HTTPS_PORT = 8443
# Open a page, and return the value of an expression there.
Look = Callable[[str, str], Any]
WORKERS = "navigator.serviceWorker.getRegistrations().then((all) => { window.count = all.length; })"
SECURE = "isSecureContext && typeof navigator.serviceWorker === 'object'"


def words_of(page: str) -> str:
    return f"{page} was accepted."


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(words_of(self.headers["Host"] + self.path).encode())

    def log_message(self, *_words: object) -> None:
        pass


class DualServer(ThreadingHTTPServer):
    address_family = AF_INET6
    was_reached = False

    def verify_request(self, *_request: object) -> bool:
        self.was_reached = True
        return True

    def handle_error(self, *_request: object) -> None:
        """Browsers hang up on forged certificates."""


@contextmanager
def serving(chain: Chain, file: Path) -> Iterator[str]:
    """Serve a page with a chain; yield its URL, which no other page has."""
    file.write_bytes(chain.key + chain.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with DualServer(("::", 0), Page) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"[{chain.host}]" if ":" in chain.host else chain.host
        yield f"https://{host}:{server.server_port}/{secrets.token_hex(8)}"
        server.shutdown()
        # Otherwise, a browser would refuse nothing, but find no server.
        assert server.was_reached, chain.host


def make_store(database: Path) -> None:
    """Make an empty NSS database, in which some browsers keep certificates."""
    database.mkdir(parents=True, exist_ok=True)
    certutil(database, "-N", "--empty-password")


def trust(database: Path, root: Path) -> None:
    certutil(database, "-A", "-t", "C,,", "-n", "Ferry", "-i", str(root))


def certutil(database: Path, *arguments: str) -> None:
    subprocess.run([program("certutil"), "-d", f"sql:{database}", *arguments], check=True)


@contextmanager
def chromium(home: Path, root: Path) -> Iterator[Look]:
    make_store(home / ".pki" / "nssdb")
    trust(home / ".pki" / "nssdb", root)
    os.environ["HOME"] = str(home)
    with sync_playwright() as playwright, launched(playwright, is_full=True) as browser:
        page = browser.new_page()

        def look(url: str, expression: str) -> Any:
            with suppress(Error):  # Of a page that didn't load.
                page.goto(url)
                return page.evaluate(expression)
            return None

        yield look


@contextmanager
def firefox(home: Path, root: Path) -> Iterator[Look]:
    make_store(home)
    trust(home, root)
    engines.PREFERENCES.update({"network.dns.disabled": False, "network.proxy.type": 0})
    with engines.firefox(home) as driver:
        yield lambda url, expression: look_with(driver, url, expression)


@contextmanager
def webkit(home: Path, _root: Path) -> Iterator[Look]:
    """WebKitGTK trusts whom the system trusts."""
    engines.PROXIES.clear()
    with engines.webkit(home) as driver:
        yield lambda url, expression: look_with(driver, url, expression)


def look_with(driver: engines.Driver, url: str, expression: str) -> Any:
    with suppress(AssertionError):  # Of a page that didn't load.
        driver.open(url)
        return driver.evaluate(expression)
    return None


def accepted(look: Look, chains: dict[str, Chain], folder: Path) -> list[str]:
    names = []
    for name, chain in chains.items():
        with serving(chain, folder / "served.pem") as url:
            text = look(url, "document.body ? document.body.textContent : ''") or ""
            # A browser that refuses a page may still show the one before.
            names += [name] if words_of(url.removeprefix("https://")) in text else []
    return names


def is_secure(look: Look, ferry: Ferry, host: str) -> bool:
    url = f"https://{host}:{HTTPS_PORT}/signin/"
    return bool(look(url, SECURE)) and has_worker(look, url)


def has_worker(look: Look, url: str) -> bool:
    for _ in range(100):
        look(url, f"({WORKERS}, null)")
        if look(f"{url}#", "window.count ?? 0"):
            return True
    return False


def main(folder: Path) -> None:
    with running(
        folder / "data", HOST="0.0.0.0", HTTPS_PORT=str(HTTPS_PORT), LOCAL_NAME="ferry"
    ) as ferry:
        assert ferry.output.saw("found by name", START_SECONDS), ferry.log
        root = folder / "root.pem"
        root.write_text(ferry.manage("authority"))
        trusted_by_system = Path("/etc/ssl/certs/ca-certificates.crt")
        trusted_by_system.write_text(root.read_text())
        home = authority.load_or_make(folder / "data" / "tls", [], datetime.now(UTC))
        good, forged = chains_of(home, folder / "data" / "tls" / "server.pem")
        report = {}
        for start in (chromium, firefox, webkit):
            (folder / start.__name__).mkdir()
            with start(folder / start.__name__, root) as look:
                report[start.__name__] = {
                    "good": accepted(look, good, folder),
                    "forged": accepted(look, forged, folder),
                    "secure": [
                        host for host in ("ferry.local", ADDRESS) if is_secure(look, ferry, host)
                    ],
                }
        sys.stdout.write(f"REPORT {json.dumps(report)}\n")


def chains_of(home: Authority, server: Path) -> tuple[dict[str, Chain], dict[str, Chain]]:
    content = server.read_bytes()
    key: Any = load_pem_private_key(content, password=None)
    (leaf, _intermediate) = x509.load_pem_x509_certificates(content)
    return forgeries.good(home), forgeries.forged(home, key, leaf)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
