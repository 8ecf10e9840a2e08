"""Row 3: files with active content show as plain content, and never run on Ferry's origin."""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from playwright.sync_api import Error, Page, sync_playwright

from tests.attacks.test_12_site_links import playlist_for
from tests.browser.chromium import ARGUMENTS
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.cases import each_case
from tests.people import page as soup
from tests.running import Ferry
from tests.tools import program
from tests.webui.contents.test_relayed_files import leave
from tests.webui.media_host import behind
from webui.connection import connection
from webui.http.content_types import KEPT

ACT = "document.title='ran';window.ran=1;fetch('/account/');new Image().src='%(trap)s/ran'"
HTML = f'<!doctype html><title>x</title><script>{ACT}</script><body onload="{ACT}">'
SVG = f"""<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="{ACT}">
<script>{ACT}</script><image href="%(trap)s/ran" width="9" height="9"/>
<foreignObject width="90" height="90"><body xmlns="http://www.w3.org/1999/xhtml">
<iframe src="javascript:{ACT}"/><img src="x" onerror="{ACT}"/></body></foreignObject>
<circle cx="40" cy="40" r="30"/><text>&b;</text></svg>"""
XHTML = f'<html xmlns="http://www.w3.org/1999/xhtml"><script>{ACT}</script></html>'
PDF = """%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction 4 0 R>>endobj
4 0 obj<</S/JavaScript/JS(app.alert(1);this.submitForm("%(trap)s/ran"))>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
"""
MHT = f"""MIME-Version: 1.0
Content-Type: multipart/related; boundary="x"

--x
Content-Type: text/html

{HTML}
--x--
"""
ACTIVE = {
    "evil.html": HTML,
    "evil.htm": HTML,
    "evil.svg": SVG,
    "evil.xhtml": XHTML,
    "evil.xml": XHTML,
    "evil.pdf": PDF,
    "x.jpg": HTML,
    "y.png": SVG,
    "z.mp3": HTML,
    "w.txt": HTML,
    "evil.md": HTML + "\n\n[x](javascript:alert(1))",
    "evil.csv": f"{HTML},b\n=cmd|' /C calc'!A0,2\n",
    "evil.srt": f"1\n00:00:01,000 --> 00:00:02,000\n{HTML}\n",
    "evil.nfo": HTML,
    "evil.mht": MHT,
    "evil": HTML,
    "evil.js": ACT,
}


@pytest.fixture
def trap() -> Iterator[tuple[str, list[str]]]:
    """Run a server that hostile content tries to call; yield its URL and the requested paths."""
    seen: list[str] = []

    class Trap(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    server.server_close()


def dangerous(text: str, trap: str) -> bytes:
    return text.replace("%(trap)s", trap).replace("%%", "%").encode()


@pytest.fixture
def reader(ferry: Ferry) -> Iterator[Visitor]:
    """Yield Alice in full Chromium, since the headless shell shows no PDF."""
    executable = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        visitor = Visitor(browser.new_context().new_page(), ferry.url, ferry)
        visitor.sign_in()
        yield visitor
        browser.close()


@pytest.fixture
def lair(ferry: Ferry, trap: tuple[str, list[str]]) -> Folder:
    shelf = Shelf(ferry)
    folder = shelf.folder()
    for name, text in ACTIVE.items():
        shelf.file(folder, name, dangerous(text, trap[0]))
    shelf.close()
    return folder


def has_run(page: Page) -> bool:
    return page.title() == "ran"


@pytest.mark.browser
def test_the_trap_works_without_protection(reader, trap):
    """Otherwise, the tests in this file would prove nothing."""
    address, _seen = trap
    page = reader.page
    page.route("**/bare.html", lambda route: route.fulfill(
        body=dangerous(HTML, address), content_type="text/html"))  # fmt: skip
    with page.expect_request(f"{address}/ran"):
        page.goto(f"{address}/bare.html")
    assert has_run(page)


@pytest.mark.browser
def test_nothing_active_runs_in_any_preview(reader, lair, trap):
    page, (_address, seen) = reader.page, trap
    reader.open(lair.path)
    assert {name for _key, name in rows(page)} == set(ACTIVE)
    for key, name in rows(page):
        page.locator(f"#{key} .entry").click()
        page.locator("#overlay #viewer .viewer-body").first.wait_for()
        page.wait_for_load_state("networkidle")
        assert not has_run(page), name
        assert page.evaluate("window.ran") is None
        page.keyboard.press("Escape")
        page.locator("#overlay").wait_for(state="detached")
    assert seen == []


@pytest.mark.browser
def test_nothing_active_runs_in_its_own_tab(reader, lair, trap):
    reader.open(lair.path)
    folder = lair.path.strip("/").split("/")[-1]
    tab = reader.page.context.new_page()
    for key, _name in rows(reader.page):
        base = f"/files/file/{key.removeprefix('file-')}"
        inside = f"?in={folder}"
        for path in (
            f"{lair.path}{key}/view/",
            *(f"{base}/{what}/{inside}" for what in ("raw", "pdf", "image/0", "thumb/0")),
            f"{base}/raw/",
            f"{base}/download/",
        ):
            # Chromium sometimes crashes if a tab that shows a PDF navigates to a download.
            tab.goto("about:blank")
            # A download doesn't navigate, which the browser reports as an error.
            with suppress(Error):
                tab.goto(reader.url + path, timeout=10_000)
            assert not has_run(tab), path
    assert trap[1] == []


def rows(page: Page) -> list[tuple[str, str]]:
    found = page.locator("#listing .window > [id]").all()
    return [
        (row.get_attribute("id"), row.locator(".entry-name").get_attribute("title"))
        for row in found
    ]


@pytest.mark.promise("active files never run")
@pytest.mark.slow
@pytest.mark.django_db
@each_case("name", ACTIVE)
def test_a_foreign_services_active_files_are_bytes_or_are_sandboxed(gwen, foreign, name):
    file = foreign.file(name, dangerous(ACTIVE[name], "http://trap.example"))
    listing = soup(gwen.client.get("/"))
    assert listing.select_one(f"#file-{file.id}")
    for path in ("raw", "pdf"):
        answer = gwen.client.get(f"/files/file/{file.id}/{path}/?in=0")
        kind, policy = answer["Content-Type"], answer["Content-Security-Policy"]
        assert "html" not in kind
        assert kind != "text/xml"
        assert policy.startswith("sandbox;")
        assert "allow-" not in policy
        assert answer["X-Content-Type-Options"] == "nosniff"
        leave(answer)
    shown = soup(gwen.client.get(f"/files/0/file-{file.id}/view/"))
    assert all(
        script["src"].startswith("/static/") for script in shown.select("script:not(#words)")
    )
    assert shown.select_one("#words")["type"] == "application/json"
    assert not shown.select("iframe, object, embed, [onload], [onerror], a[href^=javascript]")
    assert all(tag["src"].startswith("/") for tag in shown.select("img"))
    json.dumps(shown.title.string)


@pytest.mark.slow
@pytest.mark.django_db
@each_case("name", ACTIVE)
@each_case("kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "video/mp2t"])
def test_active_content_served_as_a_segment_never_runs(gwen, foreign, monkeypatch, name, kind):
    """The service names it in a playlist, and declares its type."""
    host, service = behind(foreign)
    # No setting leads to a service in the test's own process.
    monkeypatch.setattr(connection, "_service_at", lambda _place: service)
    content = dangerous(ACTIVE[name], "http://trap.example")
    part = httpx.Response(200, content=content, headers={"content-type": kind})
    host.files = {"/film.m3u8": "#EXTM3U\n#EXTINF:1,\nevil\n", "/evil": part}
    playlist = gwen.client.get(playlist_for(gwen)).content.decode()
    answer = gwen.client.get("/stream/" + playlist.splitlines()[2])
    assert b"".join(answer) == content
    assert answer["Content-Type"] == ("video/mp2t" if kind == "video/mp2t" else KEPT.content_type)
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Content-Security-Policy"].startswith("sandbox;")
    assert answer["X-Content-Type-Options"] == "nosniff"
    leave(answer)
