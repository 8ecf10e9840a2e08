"""A foreign service that takes no folder for uploads, reports little, and sends pages as files."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.running import Ferry
from tests.webui.service import Storage

PAGE = "<!DOCTYPE html><html><body><h1>Sign in to continue</h1></body></html>"


@pytest.fixture(scope="module")
def ferry(far_ferry: Ferry) -> Ferry:
    return far_ferry


@pytest.fixture
def service(far: Storage) -> Storage:
    """Return an empty service that itself sends the bytes of files."""
    for item in [item for item in far.fake.items.values() if item.parent != -1]:
        del far.fake.items[item.id]
    far.fake.revision += 1
    far.fake.sends_content, far.fake.instead = True, None
    far.is_back()
    return far


def sends(service: Storage, text: str) -> None:
    kind = {"content-type": "text/html"}
    service.fake.instead = lambda: httpx.Response(200, text=text, headers=kind)


def forget_refusals(troubles: list[str]) -> None:
    """Ignore what browsers log about an error page."""
    troubles[:] = [line for line in troubles if "502 (Bad Gateway)" not in line]


def open_files(visitor: Visitor) -> Page:
    """Open the Files screen, and reload it, so that the site asks the service at once."""
    visitor.open("/")
    visitor.page.reload()
    return visitor.page


@pytest.mark.browser("that a dialog opens before the file chooser")
def test_a_warning_precedes_uploads_that_land_in_all_files(alice, service):
    service.folder("Films")
    page = open_files(alice)
    page.get_by_role("link", name="Films").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Films")
    page.get_by_role("link", name="Upload").click()
    note = page.get_by_role("dialog")
    expect(note.get_by_role("heading")).to_have_text("Upload to All files?")
    with page.expect_file_chooser() as chooser:
        note.get_by_role("button", name="Choose files").click()
    chooser.value.set_files([{"name": "a.txt", "mimeType": "text/plain", "buffer": b"hello"}])
    expect(page.locator("#toasts")).to_contain_text("Uploaded")
    alice.open("/")
    expect(page.locator('.entry-name[title="a.txt"]')).to_be_visible()


@pytest.mark.browser("what the browser saves and under which name, or shows instead of saving")
def test_a_file_is_saved_under_its_listed_name_and_a_page_is_never_saved(alice, service, troubles):
    service.file("Elms.bin", b"elm" * 100)
    page = open_files(alice)

    def download() -> None:
        page.get_by_role("button", name="Actions for Elms.bin").click()
        page.locator("#entry-menu").get_by_text("Download", exact=True).click()

    with page.expect_download() as saved:
        download()
    assert saved.value.suggested_filename == "Elms.bin"
    open_files(alice)
    sends(service, PAGE)
    download()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "The storage service didn't send this file"
    )
    expect(page.locator("main")).to_contain_text("It sent a web page instead")
    expect(page.get_by_role("link", name="Try again")).to_be_visible()
    assert faults_at(page, 320, 1280) == []
    service.fake.instead = None
    with page.expect_download() as again:
        page.get_by_role("link", name="Try again").click()
    assert again.value.suggested_filename == "Elms.bin"
    forget_refusals(troubles)


@pytest.mark.browser("what a selection adds up, and axe on rows without a size")
def test_a_selection_with_an_unknown_size_tells_none(alice, service):
    service.file("film.mkv").facts["size"] = None
    service.file("notes.txt", b"x" * 2_000)
    page = open_files(alice)
    chosen = page.locator(".actionbar .selection-count")
    page.get_by_role("checkbox", name="notes.txt").check()
    expect(chosen).to_contain_text("1 selected 2 KB")
    page.get_by_role("checkbox", name="film.mkv").check()
    expect(chosen).to_have_text("2 selected ")
    assert faults_at(page, 320, 390, 1280) == []
