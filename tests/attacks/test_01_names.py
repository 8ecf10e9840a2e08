"""Row 1: names are text, wherever a page shows them.

No template writes an attribute with JSON, so no name is in one. Row 10 covers names in the ZIP
itself, row 15 those in headers.
"""

import json
from urllib.parse import quote, urlencode

import pytest
from django.http import HttpResponse

from tests.cases import each_case
from tests.contract.fake import Item
from tests.people import page
from webui.transfers import actions

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
# Each closes a different context in which a page may write a name.
WORST = [
    """'"><svg onload=alert(1)><img src=x onerror="alert(1)">{{7*7}}.mkv""",
    "</title></textarea></script><script>alert(1)<",
    "javascript:alert(1)//' hx-get='x' hx-trigger='load",
]
ACTIVE = {"script", "svg", "img", "iframe", "object", "embed", "form", "input", "style", "link"}


def harmless(answer, baseline) -> None:
    """Check that the page has no handler, and no element beyond those of a harmless name."""
    soup = page(answer)
    for tag in soup.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")]
        for name in ("href", "src", "action", "formaction", "hx-get", "hx-post"):
            value = str(tag.get(name, "")).strip().lower()
            assert not value.startswith(("javascript:", "data:", "vbscript:"))
    assert all(tag["src"].startswith("/") for tag in soup.find_all("img"))
    assert counts(answer) == baseline


def counts(answer) -> dict[str, int]:
    """Count the elements that could act, except thumbnails, which only some kinds of files have."""
    soup = page(answer)
    return {name: len(soup.find_all(name)) for name in ACTIVE - {"img"}}


def house(storage, name) -> list[tuple[str, dict[str, str]]]:
    """Make a folder, a file, and an inner folder with this name; return all paths that show it."""
    folder = storage.folder(name).id
    inner = storage.folder(name, folder).id
    file, film = storage.file(f"f{name}").id, storage.file(f"f{name}.mkv").id
    storage.file(f"f{name}.txt", parent=inner)
    deleted = Item(storage.fake.new_id(), inner, name, b"x")
    storage.fake.deleted[storage.fake.new_id()] = (1, deleted, [deleted])
    chosen = f"entry=file-{file}&entry=folder-{folder}"
    return [
        (f"/files/{folder}/", {}),
        (f"/files/{inner}/", {}),
        ("/files/largest/", {}),
        ("/search/results/?q=f", HTMX),
        ("/search/elsewhere/0/?q=f", HTMX),
        ("/files/deleted/", {}),
        (f"/files/{folder}/new/", {}),
        (f"/files/{folder}/upload/", {}),
        (f"/files/0/file-{file}/", HTMX),
        (f"/files/0/file-{film}/view/", {}),
        (f"/files/0/file-{file}/link/", {}),
        (f"/files/0/file-{file}/rename/", {}),
        (f"/files/0/file-{file}/rename/form/", HTMX),
        (f"/files/0/folder-{folder}/rename/", {}),
        (f"/files/0/delete/?{chosen}", {}),
        (f"/files/0/delete/loss/?{chosen}", HTMX),
    ]


def empty(storage) -> None:
    """Delete all items. Until a test adds one, the site may show its cached listings."""
    for item in list(storage.fake.items)[1:]:
        del storage.fake.items[item]
    storage.fake.deleted.clear()


def stored_name(name: str) -> str:
    """Return the name as the service would store it."""
    return name.replace("/", "_")


@each_case(
    ("path", "headers"),
    [("/", {}), ("/?view=grid", {}), ("/files/0/listing/", HTMX), ("/files/0/delete/?all=1", {})],
)
def test_hostile_names_in_a_list_are_text(bob, storage, path, headers):
    for number in range(len(NAMES)):
        storage.folder(f"{number}")
        storage.file(f"f{number}.mkv")
    plain = counts(bob.client.get(path, headers=headers))
    empty(storage)
    for name in NAMES:
        storage.folder(stored_name(name))
        storage.file(f"f{stored_name(name)}")
    answer = bob.client.get(path, headers=headers)
    harmless(answer, plain)
    text = page(answer).get_text().replace("\u200b", "")
    assert "onerror" in text
    assert "&lt;b&gt;" in text


@pytest.mark.promise("hostile names are text")
@pytest.mark.slow
@each_case("name", [name.replace("/", "_") for name in WORST])
def test_a_hostile_name_is_text_on_every_page(bob, storage, name):
    plain = [counts(bob.client.get(at, headers=with_)) for at, with_ in house(storage, "ok.mkv")]
    empty(storage)
    for (path, headers), baseline in zip(house(storage, name), plain, strict=True):
        answer = bob.client.get(path, headers=headers)
        assert answer.status_code == 200, path
        harmless(answer, baseline)


@each_case("name", [name.replace("/", "_") for name in WORST])
def test_a_hostile_name_is_text_in_the_title_and_the_crumbs(bob, storage, name):
    folder = storage.folder(name)
    inner = storage.folder("inner", folder.id)
    shown = page(bob.client.get(f"/files/{folder.id}/"))
    assert shown.title.string.startswith(name)
    assert shown.h1.get_text() == name
    assert page(bob.client.get(f"/files/{inner.id}/")).select(".crumbs a")[-1].get_text() == name


@each_case("name", [name.replace("/", "_") for name in WORST])
def test_a_hostile_name_is_text_in_toasts_and_refusals(bob, storage, name):
    storage.folder(name)
    answer = bob.client.post("/files/0/new/", {"name": name}, headers=HTMX)
    assert answer.status_code == 422
    assert page(answer).select_one("[name=name]")["value"] == name
    refused = bob.client.post(
        "/files/0/new/", {"name": name}, headers={"x-requested-with": "ferry"}
    )
    assert refused["Content-Type"] == "application/json"
    assert refused["X-Content-Type-Options"] == "nosniff"
    json.loads(refused.content)


@each_case("query", WORST)
def test_filter_input_is_shown_as_text(bob, storage, query):
    storage.file("a.txt")
    plain_page = counts(bob.client.get("/", {"q": "zebra"}))
    answer = bob.client.get("/", {"q": query})
    harmless(answer, plain_page)
    assert page(answer).select_one("#q")["value"] == query.strip()


@each_case("name", [name.replace("/", "_") for name in WORST])
def test_a_hostile_name_is_text_on_the_page_of_a_zip(bob, storage, name):
    file = storage.file(name)
    shown = bob.client.post("/files/0/zip/", {"entry": f"file-{file.id}"}, follow=True)
    assert name in page(shown).select_one("main").get_text()
    assert not page(shown).select("main script, main img")


def test_service_messages_are_text_on_error_pages(bob, storage):
    storage.fails("/rest/folder", 403, "<script>alert(1)</script> said the service")
    answer = bob.client.get("/")
    assert not page(answer).select("main script")
    assert "said the service" in page(answer).select_one("main").get_text()


@each_case("name", NAMES)
def test_service_messages_are_text_in_a_toast(bob, storage, name):

    def toast(said: str) -> HttpResponse:
        storage.fails("/rest/folder", 403, said)
        return bob.client.get("/files/0/listing/", headers=HTMX)

    plain = toast("the tide is out")
    assert "the tide is out" in page(plain).select_one(".toast").get_text()
    harmless(toast(name), counts(plain))
    assert page(toast(name)).select_one(".toast p")


def confirmation_path(name: str) -> str:
    return f"/add/?{urlencode({'text': f'magnet:?xt=urn:btih:{1:040x}&dn={quote(name)}'})}"


@each_case("name", NAMES)
def test_a_hostile_magnet_name_is_text_on_the_confirmation_page(bob, storage, name):
    plain = counts(bob.client.get(confirmation_path("ok")))
    answer = bob.client.get(confirmation_path(name))
    harmless(answer, plain)
    assert page(answer).select_one("#picks bdi").get_text() == name


@pytest.mark.slow
@each_case("name", NAMES)
def test_a_hostile_name_is_text_in_a_result(bob, storage, name):

    def sent(what: str) -> HttpResponse:
        storage.fails("/rest/transfer/magnet", 422, what)
        line = f"magnet:?xt=urn:btih:{1:040x}&dn={quote(what)}"
        return bob.client.post("/transfers/send/", {"text": f"{line}\n{what}"})

    plain = counts(sent("no link"))
    answer = sent(name.replace("http", "hxxp"))
    harmless(answer, plain)
    assert page(answer).select(".result bdi")


@each_case("name", WORST)
def test_a_hostile_name_of_a_token_is_text(bob, name):
    plain = counts(bob.client.post("/account/tokens/", {"name": "ok"}))
    bob.client.post("/account/tokens/1/revoke/")
    answer = bob.client.post("/account/tokens/", {"name": name[:60]})
    assert counts(answer)["script"] == plain["script"]
    assert not page(answer).select("main script, main img, main svg[onload]")


@pytest.mark.slow
@each_case("name", NAMES)
def test_names_of_transfers_are_text_everywhere(bob, storage, name):
    one = storage.transfer("plain", state="downloading", progress=50, size=1000)
    ended = storage.transfer("plain too", state="failed", reason="fetch_error")
    paths = ["/transfers/", "/transfers/list/"]
    paths += [f"/transfers/t{one.id}/{act}/" for act in ("loss", "remove")]
    plain = [counts(bob.client.get(path)) for path in paths]
    storage.tells(one, name=name)
    storage.tells(ended, name=name)
    actions.mark_changed(storage.service)
    for path, baseline in zip(paths, plain, strict=True):
        shown = bob.client.get(path)
        assert " ".join(name.split()) in " ".join(page(shown).get_text().split())
        harmless(shown, baseline)
