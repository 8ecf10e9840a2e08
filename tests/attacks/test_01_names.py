"""Row 1: names are text, wherever they stand."""

import json

import pytest

from tests.people import page

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}

NAMES = [
    '<img src=x onerror="alert(1)">.mkv',
    '"><svg><script>alert(1)<',
    "{{7*7}}{% debug %}.txt",
    "${7*7}`.txt",
    "javascript:alert(1)",
    "x' hx-get='' hx-trigger='load'.txt",
    '" hx-get="x" autofocus onfocus="alert(1)',
    "</title><script>alert(1)<",
    "</script><script>alert(1)<",
    "<!--",
    "&lt;b&gt;&amp;.txt",
    "exe\u202egpj.scr",
    '{"a": "\'\\\\"}',
    "https:evil.example",
    "?q=1#frag&x=y.txt",
    "%2e%2e%2f.txt",
]
ACTIVE = {"script", "svg", "img", "iframe", "object", "embed", "form", "input", "style", "link"}


def harmless(answer, baseline) -> None:
    """The page has no element and no handler that it wouldn't have without the name."""
    soup = page(answer)
    for tag in soup.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")]
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post"):
            value = str(tag.get(name, "")).strip().lower()
            assert not value.startswith(("javascript:", "data:", "vbscript:"))
    counted = {name: len(soup.find_all(name)) for name in ACTIVE}
    assert counted == baseline


def counts(answer) -> dict[str, int]:
    soup = page(answer)
    return {name: len(soup.find_all(name)) for name in ACTIVE}


def addresses(folder, file, inner) -> list[tuple[str, dict[str, str]]]:
    return [
        ("/", {}),
        ("/?view=grid", {}),
        ("/files/0/listing/", HTMX),
        ("/files/0/rows/", HTMX),
        (f"/files/{folder}/", {}),
        (f"/files/{inner}/", {}),
        (f"/files/{folder}/new/", {}),
        (f"/files/{folder}/upload/", {}),
        (f"/files/0/file-{file}/", HTMX),
        (f"/files/0/file-{file}/rename/", {}),
        (f"/files/0/file-{file}/rename/form/", HTMX),
        (f"/files/0/folder-{folder}/rename/", {}),
        (f"/files/0/delete/?entry=file-{file}&entry=folder-{folder}", {}),
        (f"/files/0/delete/loss/?entry=file-{file}&entry=folder-{folder}", HTMX),
    ]


def house(storage, name):
    """A folder, a file and a folder inside, all with this name as far as a name may be so."""
    kept = name.replace("/", "_")
    folder = storage.folder(kept)
    inner = storage.folder(kept, folder.id)
    file = storage.file(f"f{kept}")
    return addresses(folder.id, file.id, inner.id)


@pytest.fixture
def plain(bob, storage):
    """What each page is made of where the name is a plain one."""
    found = [
        counts(bob.client.get(path, headers=headers)) for path, headers in house(storage, "ok.mkv")
    ]
    for item in list(storage.fake.items)[1:]:
        del storage.fake.items[item]
    storage.fake._revision += 1
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_text_on_every_page(bob, storage, plain, name):
    kept = name.replace("/", "_")
    # An extension changes the icon and the second field of a rename, not the number of either.
    for (path, headers), baseline in zip(house(storage, name), plain, strict=True):
        answer = bob.client.get(path, headers=headers)
        assert answer.status_code == 200, path
        harmless(answer, baseline)
        assert b"<b>&amp;" not in answer.content
    shown = page(bob.client.get("/")).select(".entry-name")
    assert {tag["title"] for tag in shown} == {kept, f"f{kept}"}


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_text_in_the_title_and_the_crumbs(bob, storage, name):
    kept = name.replace("/", "_")
    folder = storage.folder(kept)
    inner = storage.folder("inner", folder.id)
    shown = page(bob.client.get(f"/files/{folder.id}/"))
    assert shown.title.string.startswith(kept) or kept.startswith("<!--")
    assert shown.h1.get_text() == kept
    assert page(bob.client.get(f"/files/{inner.id}/")).select(".crumbs a")[-1].get_text() == kept


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_text_in_toasts_and_refusals(bob, storage, name):
    kept = name.replace("/", "_")
    storage.folder(kept)
    answer = bob.client.post("/files/0/new/", {"name": kept}, headers=HTMX)
    assert answer.status_code == 422
    assert page(answer).select_one("[name=name]")["value"] == kept
    refused = bob.client.post(
        "/files/0/new/", {"name": kept}, headers={"x-requested-with": "ferry"}
    )
    assert refused["Content-Type"] == "application/json"
    assert refused["X-Content-Type-Options"] == "nosniff"
    json.loads(refused.content)


@pytest.mark.parametrize("query", NAMES)
def test_what_was_typed_into_the_filter_is_text(bob, storage, query):
    storage.file("a.txt")
    plain_page = counts(bob.client.get("/", {"q": "zebra"}))
    answer = bob.client.get("/", {"q": query})
    harmless(answer, plain_page)
    assert page(answer).select_one("#q")["value"] == query.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_text_on_the_page_of_a_zip(bob, storage, name):
    kept = name.replace("/", "_")
    file = storage.file(kept)
    shown = bob.client.post("/files/0/zip/", {"entry": f"file-{file.id}"}, follow=True)
    assert kept in page(shown).select_one("main").get_text()
    assert not page(shown).select("main script, main img")


def test_what_a_service_says_is_text_on_error_pages(bob, storage):
    storage.fails("/rest/folder", 403, "<script>alert(1)</script> said the service")
    answer = bob.client.get("/")
    assert not [tag for tag in page(answer).select("main script")]
    assert "said the service" in page(answer).select_one("main").get_text()
