"""Documents become pages whose links lead somewhere, and which show nothing but what is written."""

from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import pytest
from bs4 import BeautifulSoup

from release.site import write_site
from tests.running import BASE
from tests.test_tree import tracked

TAGS = {
    "a", "blockquote", "body", "br", "code", "em", "h1", "h2", "h3", "head", "hr", "html", "img",
    "li", "link", "main", "meta", "nav", "ol", "p", "pre", "strong", "table", "tbody", "td", "th",
    "thead", "title", "tr", "ul",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[Path, BeautifulSoup]:
    """Return the pages of the site, by their paths."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder)
    return {path: BeautifulSoup(path.read_text(), "html.parser") for path in folder.rglob("*.html")}


def test_every_document_is_a_page_to_which_the_first_leads(site):
    assert len(site) == len(tracked("*.md", "docs/*.md", ":!*/VERSIONS.md", ":!release"))
    (start,) = (path for path in site if path.parent.name != "decisions" and path.stem == "index")
    reached, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        new = {target for target, _anchor in links_of(page, site[page]) if target in site} - reached
        reached |= new
        waiting += new
    assert reached == site.keys()


def test_every_link_leads_to_a_file_and_a_heading(site):
    count = 0
    for path, page in site.items():
        for target, anchor in links_of(path, page):
            assert target.is_file(), f"{path.name}: {target}"
            assert not anchor or site[target].find(id=anchor), f"{path.name}: {target}#{anchor}"
            count += 1
    assert count > 300


def links_of(path: Path, page: BeautifulSoup) -> set[tuple[Path, str]]:
    addresses = {
        element[name] for name in ("href", "src") for element in page.find_all(attrs={name: True})
    }
    return {
        ((path.parent / local).resolve() if local else path, anchor)
        for local, anchor in map(urldefrag, addresses)
        if not urlsplit(local).scheme
    }


def test_pages_have_titles_tables_and_no_tag_that_is_a_placeholder(site):
    for path, page in site.items():
        assert page.title.string == page.h1.get_text(), path
        assert {tag.name for tag in page.find_all(True)} <= TAGS, path
    operations = next(page for path, page in site.items() if path.name == "operations.html")
    documented = (BASE / "docs/operations.md").read_text()
    assert len(operations.find_all("tr")) > 50
    assert len(operations.find_all("pre")) == documented.count("```") // 2
