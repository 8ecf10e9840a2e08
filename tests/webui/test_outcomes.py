"""What people read when a service garbles its answer to a change: first, what is at the service.

Each act is carried out or not, and then answered in each of these ways.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from tests.cases import each_case
from tests.people import SignedIn, page
from tests.webui.service import Storage
from tests.webui.shares.linked import make_link, stranger
from webui.library import folders
from webui.models import Sent
from webui.transfers import poll

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true", "hx-current-url": "http://localhost/"}
SCRIPT = {"x-requested-with": "ferry"}
HASH = "1" * 40
MAGNET = f"magnet:?xt=urn:btih:{HASH}&dn=Elms"
UNDONE = ("doesn't affect your files", "Nothing changed", "saved nothing")
UNSURE = "Ferry doesn't know whether this"
UNSEEN = ("nothing has changed so far", "its list doesn't show it so far")


class CutBody(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield b'{"result": tr'
        raise httpx.RemoteProtocolError("peer closed connection without complete message body")


def breaking(error: type[httpx.TransportError]) -> Callable[[], httpx.Response]:
    def answer() -> httpx.Response:
        raise error("broken")

    return answer


GARBLED: dict[str, Callable[[], httpx.Response]] = {
    "a page": lambda: httpx.Response(200, html="<h1>Welcome</h1>"),
    "a redirect": lambda: httpx.Response(302, headers={"location": "/"}),
    "500": lambda: httpx.Response(500, html="<h1>Oh</h1>"),
    "500 in JSON": lambda: httpx.Response(500, json={"result": False, "error": "no_connection"}),
    "504": lambda: httpx.Response(504),
    "a cut body": lambda: httpx.Response(200, stream=CutBody()),
    "nothing in time": breaking(httpx.ReadTimeout),
    "a reset": breaking(httpx.ReadError),
    "a closed connection": breaking(httpx.RemoteProtocolError),
}
# After these, the service has done nothing, and nobody needs to look.
REFUSED: dict[str, Callable[[], httpx.Response]] = {
    "422": lambda: httpx.Response(422, html="<h1>No</h1>"),
    "401": lambda: httpx.Response(401),
    "503": lambda: httpx.Response(503),
    "no connection": breaking(httpx.ConnectError),
    "no connection in time": breaking(httpx.ConnectTimeout),
}


@dataclass
class Act:
    """Something that a person does with a service, which has `Films` and `a.txt` in its root."""

    perform: Callable[[SignedIn, Storage, dict[str, str]], Any]
    is_done: Callable[[Storage], bool]
    headers: tuple[dict[str, str], ...] = ({}, HTMX)

    def perform_with(self, count: int, person: SignedIn, storage: Storage) -> str:
        """Return the text of the answer. Every other time, a script makes the request."""
        headers = self.headers[count % len(self.headers)]
        return text_of(self.perform(person, storage, headers))


def names(storage: Storage) -> set[str]:
    return {item.name for item in storage.fake.items.values()}


def id_of(storage: Storage, name: str) -> int:
    return next(item.id for item in storage.fake.items.values() if item.name == name)


def titles(storage: Storage) -> set[str]:
    return {one.title for one in storage.fake.transfers.values()}


def post(address: str, form: dict[str, Any], name: str = "") -> Callable[..., Any]:
    def perform(person: SignedIn, storage: Storage, headers: dict[str, str]) -> Any:
        url = address.format(id=id_of(storage, name)) if name else address
        filled = {key: value() if callable(value) else value for key, value in form.items()}
        return person.client.post(url, filled, headers=headers, follow=True)

    return perform


def upload(person: SignedIn, storage: Storage, headers: dict[str, str]) -> Any:
    form = {"file": SimpleUploadedFile("new.bin", b"hello")}
    if headers:
        headers = {**headers, "x-file-size": "5"}
    return person.client.post("/files/0/upload/", form, headers=headers, follow=True)


def retry(person: SignedIn, storage: Storage, headers: dict[str, str]) -> Any:
    Sent.objects.all().delete()
    key = storage.service.key
    facts = {"source_kind": Sent.MAGNET, "source": MAGNET, "state": "failed"}
    row = Sent.record(
        key,
        info_hash=HASH,
        title="Elms",
        added_by=person.user,
        added_at=timezone.now(),
        done_at=timezone.now(),
        **facts,
    )
    poll.store().change(key)
    poll.refresh(storage.service)
    address = f"/transfers/s{row.pk}/retry/"
    return person.client.post(address, headers=headers, follow=True)


ACTS = {
    "new folder": Act(
        post("/files/0/new/", {"name": "Pines"}), lambda storage: "Pines" in names(storage)
    ),
    "rename a file": Act(
        post("/files/0/file-{id}/rename/", {"name": "b.txt"}, "a.txt"),
        lambda storage: "b.txt" in names(storage),
    ),
    "rename a folder": Act(
        post("/files/0/folder-{id}/rename/", {"name": "Movies"}, "Films"),
        lambda storage: "Movies" in names(storage),
    ),
    "undo a rename": Act(
        lambda person, storage, headers: post(
            "/files/undo/", {"undo": f"renamed:0:file-{id_of(storage, 'a.txt')}:b.txt"}
        )(person, storage, headers),
        lambda storage: "b.txt" in names(storage),
        headers=({},),
    ),
    "upload": Act(upload, lambda storage: "new.bin" in names(storage), headers=({}, SCRIPT)),
    "add a magnet": Act(
        post("/transfers/send/", {"text": MAGNET}),
        lambda storage: "Elms" in titles(storage),
        headers=({}, SCRIPT),
    ),
    "add an address": Act(
        post("/transfers/send/", {"text": "https://example.org/elms.iso"}),
        lambda storage: "elms.iso" in titles(storage),
        headers=({}, SCRIPT),
    ),
    "retry": Act(retry, lambda storage: "Elms" in titles(storage)),
}  # fmt: skip


def begin(service: Storage) -> None:
    """Begin with another service, whose files and transfers the site has shown."""
    service.renew()
    service.folder("Films")
    service.file("a.txt")
    folders.read(service.service, "0", now=timezone.now())
    poll.refresh(service.service)


def garble(service: Storage, answer: Callable[[], httpx.Response], *, is_done: bool) -> None:
    """Answer each change in this way, after it was carried out or not."""
    own_answer = service.fake.answer

    def instead(request: httpx.Request, path: str) -> httpx.Response:
        if request.method in ("GET", "HEAD"):
            return own_answer(request, path)
        if is_done:
            own_answer(request, path)
        return answer()

    service.fake.answer = instead


def text_of(response: Any) -> str:
    """Return what is visible."""
    if "json" in response.get("Content-Type", ""):
        body = response.json()
        rows = [row["sentence"] for row in body.get("items", [])]
        return " ".join([body.get("reason", ""), *rows])
    shown = page(response)
    for hidden in shown.select(".sr"):
        hidden.decompose()
    return shown.get_text(" ", strip=True)


def assert_claims_nothing(text: str) -> None:
    assert not any(claim in text for claim in UNDONE), text


def number_of(how: str) -> int:
    return [*GARBLED, *REFUSED].index(how)


@pytest.mark.slow
@each_case("how", GARBLED)
@each_case("name", ACTS)
def test_a_change_that_was_made_is_reported_as_made(bob, foreign, name, how):
    act = ACTS[name]
    begin(foreign)
    garble(foreign, GARBLED[how], is_done=True)
    text = act.perform_with(number_of(how), bob, foreign)
    assert act.is_done(foreign)
    assert_claims_nothing(text)
    assert UNSURE not in text
    assert not any(sentence in text for sentence in UNSEEN)
    if name not in ("upload", "retry"):
        assert "didn't confirm this, but" in text, text


@pytest.mark.slow
@each_case("how", GARBLED)
@each_case("name", ACTS)
def test_a_change_that_was_not_made_may_be_tried_again(bob, foreign, name, how):
    act = ACTS[name]
    begin(foreign)
    garble(foreign, GARBLED[how], is_done=False)
    text = act.perform_with(number_of(how) + 1, bob, foreign)
    assert not act.is_done(foreign)
    assert_claims_nothing(text)
    assert any(sentence in text for sentence in UNSEEN), text
    assert "ry again" in text


@each_case("is_done", [False, True])
@each_case("name", ACTS)
def test_without_a_look_the_outcome_stays_unknown(bob, foreign, name, is_done):
    act = ACTS[name]
    begin(foreign)

    def vanish() -> httpx.Response:
        foreign.fails("/rest/folder", 503)
        return httpx.Response(500)

    garble(foreign, vanish, is_done=is_done)
    text = act.perform_with(is_done, bob, foreign)
    assert_claims_nothing(text)
    assert UNSURE in text or "may be added already" in text, text


@pytest.mark.slow
@each_case("how", REFUSED)
@each_case("name", ACTS)
def test_a_refused_change_is_known_to_be_none(bob, foreign, name, how):
    act = ACTS[name]
    begin(foreign)
    garble(foreign, REFUSED[how], is_done=False)
    text = act.perform_with(number_of(how), bob, foreign)
    assert UNSURE not in text
    assert "may be added already" not in text
    assert not any(sentence in text for sentence in UNSEEN)
    assert "password is wrong" not in text
    assert ("ended the session" in text) == (how == "401"), text


def test_what_may_have_been_added_by_others_is_not_taken_for_ours(bob, foreign):
    begin(foreign)
    foreign.transfer("Another")
    garble(foreign, GARBLED["500"], is_done=False)
    text = ACTS["add an address"].perform_with(1, bob, foreign)
    assert "may be added already" in text


def test_a_part_of_an_upload_is_not_taken_for_the_file(bob, foreign):
    begin(foreign)

    def keep_part() -> httpx.Response:
        foreign.file("new.bin", b"hel")
        raise httpx.ReadError("broken")

    garble(foreign, keep_part, is_done=False)
    assert UNSURE in ACTS["upload"].perform_with(1, bob, foreign)


def test_a_dropped_folder_is_used_if_it_is_there(bob, foreign):
    begin(foreign)
    garble(foreign, GARBLED["a page"], is_done=True)
    answer = bob.client.post("/files/0/new/", {"name": "Pines"}, headers=SCRIPT).json()
    assert answer["upload_url"] == f"/files/{id_of(foreign, 'Pines')}/upload/"


@each_case(
    ("is_done", "is_read", "said"),
    [
        (True, True, "1 file sent"),
        (False, True, "couldn't save this file"),
        (True, False, "doesn't know whether this file arrived"),
    ],
)
def test_strangers_learn_whether_their_file_arrived(bob, foreign, is_done, is_read, said):
    begin(foreign)
    link = make_link(bob, 0, purpose="send")

    def answer() -> httpx.Response:
        if not is_read:
            foreign.fails("/rest/folder", 503)
        return httpx.Response(500)

    garble(foreign, answer, is_done=is_done)
    form = {"file": SimpleUploadedFile("new.bin", b"hello")}
    assert said in page(stranger().post(f"{link}send/", form)).get_text()


def test_a_page_leads_to_where_the_change_would_show(bob, foreign):
    begin(foreign)
    foreign.fake.answer = lambda _request, _path: httpx.Response(500)
    answer = bob.client.post("/files/0/new/", {"name": "Pines"})
    assert [link["href"] for link in page(answer).select(".error-page .btn")] == ["/"]


@each_case("who", ["alice", "bob"])
def test_a_session_that_the_service_ended_can_be_renewed(alice, bob, foreign, who):
    foreign.renew()
    foreign.fails("/rest/folder", 401)
    person = {"alice": alice, "bob": bob}[who]
    answer = person.client.get("/")
    assert "ended the session" in text_of(answer)
    assert "password is wrong" not in text_of(answer)
    links = [link["href"] for link in page(answer).select(".error-page .btn")]
    assert links == ["/", "/account/server/#connection" if who == "alice" else "/"]


def test_a_refused_question_says_nothing_about_changes(bob, foreign):
    foreign.renew()
    foreign.says("/rest/folder", httpx.Response(422, html="<h1>No</h1>"))
    text = text_of(bob.client.get("/"))
    assert "refused this" in text
    assert_claims_nothing(text)
    assert "what you entered" not in text


def test_a_move_that_our_own_service_broke_off_is_not_called_undone(bob, storage):
    films, file = storage.folder("Films"), storage.file("a.txt")
    storage.fails("/rest/move", 500)
    form = {"entry": f"file-{file.id}", "act": "move", "to": films.id}
    text = text_of(bob.client.post("/files/0/move/", form))
    assert UNSURE in text
    assert_claims_nothing(text)
