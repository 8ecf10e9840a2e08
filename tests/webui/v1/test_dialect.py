"""Which form of an operation the client uses for a service, and when it decides."""

import io
import threading
from contextlib import suppress

import httpx
import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import form_of, page, refuses, routes, says, service
from webui.v1 import errors
from webui.v1.dialect import Dialect

ADDED = says({"result": True, "user_torrent_id": 5})
MAGNET = "magnet:?xt=1"


def add(client):
    return client.add_magnet(MAGNET)


def get(client):
    return client.transfer("7")


RUNNING = says({"id": 7, "progress": 1})
GONE = refuses(404, "File not found")

# The answer at each naming's path -> the naming that is chosen, and what the caller gets.
TABLE = [
    (add, ADDED, None, "transfer", None),
    (add, page(404), ADDED, "torrent", None),
    (add, page(405), ADDED, "torrent", None),
    (add, GONE, ADDED, "torrent", None),
    (add, refuses(422, "parsing_error"), None, "transfer", errors.Rejected),
    (add, page(404), refuses(422, "parsing_error"), "torrent", errors.Rejected),
    (add, page(404), page(404), None, errors.NotFound),
    (add, page(405), page(405), None, errors.Rejected),
    (add, page(404), page(500), None, errors.Unavailable),
    (add, page(404), page(401), None, errors.Unauthorized),
    (add, page(401), None, None, errors.Unauthorized),
    (add, page(403), None, None, errors.Forbidden),
    (add, page(500), None, None, errors.Unavailable),
    (add, page(200), None, None, errors.Unreadable),
    (get, RUNNING, None, "transfer", None),
    (get, page(404), RUNNING, "torrent", None),
    (get, page(405), RUNNING, "torrent", None),
    (get, GONE, None, None, errors.NotFound),
    (get, page(404), GONE, "torrent", errors.NotFound),
    (get, page(404), page(404), None, errors.NotFound),
]


@each_case(("ask", "transfer", "torrent", "naming", "failure"), TABLE)
def test_the_naming_is_decided_by_what_the_service_knows(ask, transfer, torrent, naming, failure):
    fake = service(*(answer for answer in (transfer, torrent) if answer))
    client = fake.client()
    if failure is None:
        ask(client)
    else:
        with pytest.raises(failure):
            ask(client)
    assert client.dialect.naming == naming
    assert len(fake.seen) == (1 if torrent is None else 2)


def test_a_decided_naming_is_saved_and_a_later_404_means_gone():
    fake = service(page(404), RUNNING, page(404))
    client = fake.client()
    get(client)
    with pytest.raises(errors.NotFound):
        get(client)
    with pytest.raises(errors.NotFound):
        add(client)
    assert fake.calls[2:] == ["GET /rest/torrent/7", "POST /rest/torrent/magnet"]


@each_case("naming", ["transfer", "torrent"])
def test_a_fixed_naming_is_never_doubted(naming):
    fake = service(page(404))
    client = fake.client(naming=naming)
    with pytest.raises(errors.NotFound):
        add(client)
    assert fake.calls == [f"POST /rest/{naming}/magnet"]


def test_a_fixed_naming_is_stronger_than_one_found_out_before():
    fake = service(ADDED)
    add(fake.client(naming="transfer", dialect=Dialect(naming="torrent")))
    assert fake.calls == ["POST /rest/transfer/magnet"]


def test_a_service_of_ours_is_never_doubted():
    fake = service(page(405))
    client = fake.client(is_ours=True)
    for ask in (add, get, lambda one: one.delete_file("7"), lambda one: one.rename_file("7", "a")):
        with pytest.raises(errors.Rejected):
            ask(client)
    assert len(fake.seen) == 4


DELETES = [
    (lambda one: one.delete_folder("7"), "folder_delete", "folder/7", "POST /rest/folder/7/delete"),
    (lambda one: one.delete_file("7"), "file_delete", "file/7", "POST /rest/file/7/delete"),
    (
        lambda one: one.delete_transfer("7"),
        "transfer_delete",
        "transfer/7",
        "POST /rest/transfer/7",
    ),
]


@each_case(("delete", "key", "path", "alternative"), DELETES)
@each_case("no_such_method", [page(405), page(501), page(404), says({}, 405)])
def test_a_post_removes_if_delete_is_not_supported(delete, key, path, alternative, no_such_method):
    fake = routes({f"DELETE /rest/{path}": no_such_method, alternative: says()})
    client = fake.client(naming="transfer")
    delete(client)
    delete(client)
    assert fake.calls == [f"DELETE /rest/{path}", alternative, alternative]
    assert getattr(client.dialect, key) == "alternative"


@each_case(("delete", "key", "path", "alternative"), DELETES)
def test_a_supported_delete_method_is_remembered(delete, key, path, alternative):
    fake = service(says(), page(405))
    client = fake.client(naming="transfer")
    delete(client)
    with pytest.raises(errors.Rejected):
        delete(client)
    assert fake.calls == [f"DELETE /rest/{path}"] * 2


@each_case(("delete", "key", "path", "alternative"), DELETES)
def test_no_post_follows_when_the_service_says_that_an_item_is_gone(delete, key, path, alternative):
    fake = service(GONE)
    with pytest.raises(errors.NotFound):
        delete(fake.client(naming="transfer"))
    assert fake.calls == [f"DELETE /rest/{path}"]


def test_naming_and_removal_are_found_together():
    fake = routes({"POST /rest/torrent/7": says()})
    client = fake.client()
    client.delete_transfer("7")
    assert client.dialect == Dialect(naming="torrent", transfer_delete="alternative")


@each_case(
    ("ask", "primary", "alternative"),
    [
        (lambda one: one.rename_file("7", "a"), "POST /rest/file/7/rename", "POST /rest/7/rename"),
        (lambda one: one.thumbnail("7"), "GET /rest/file/7/thumbnail", "GET /rest/7/thumbnail"),
    ],
)
def test_paths_with_two_forms_are_found_once(ask, primary, alternative):
    fake = routes({alternative: says()})
    client = fake.client()
    ask(client)
    ask(client)
    assert fake.calls == [primary, alternative, alternative]


@each_case("unknown", [page(404), page(405), page(501), GONE, says({}, 405)])
def test_folders_are_created_by_renaming_the_root_if_the_service_supports_nothing_else(unknown):
    older = "POST /rest/folder/41/rename"
    fake = routes({"POST /rest/folder": unknown, older: says({"success": True, "id": "9"})})
    client = fake.client()
    assert client.create_folder("Films", "41") == "9"
    assert client.create_folder("Films/Old", "41") == "9"
    assert fake.calls == ["POST /rest/folder", older, older]
    assert [form_of(request) for request in fake.seen[1:]] == [
        {"name": "Films"},
        {"name": "Films/Old"},
    ]


@each_case("is_parent_known", [False, True])
def test_below_a_folder_a_404_may_mean_that_it_is_gone(is_parent_known):
    older = "POST /rest/folder/41/rename"
    fake = routes({"POST /rest/folder": GONE, older: says({"success": True})})
    client = fake.client()
    if is_parent_known:
        client.create_folder("Films/Old", "41", is_parent_known=True)
        assert fake.calls == ["POST /rest/folder", older]
    else:
        with pytest.raises(errors.NotFound):
            client.create_folder("Films/Old", "41")
        assert fake.calls == ["POST /rest/folder"]
        assert client.dialect == Dialect()


@each_case("answer", [says(), refuses(409, "name_taken"), refuses(422, "name_not_allowed")])
def test_a_service_that_creates_folders_is_never_asked_to_rename(answer):
    fake = service(answer, page(404))
    client = fake.client()
    for name in ("Films", "Music"):
        with suppress(errors.Failure):
            client.create_folder(name, "41")
    assert fake.calls == ["POST /rest/folder"] * 2


def test_a_service_that_keeps_the_folder_says_so_in_its_listings():
    listing = {"id": 1, "folders": [], "files": []}
    kept = []
    client = service(says(listing, Ferry_Keeps="folder_id")).client(on_decision=kept.append)
    client.listing()
    client.listing()
    assert kept == [Dialect(folder_id="kept")]
    assert Dialect.from_dict(kept[0].as_dict()) == kept[0]
    other = service(says(listing)).client()
    other.listing()
    assert other.dialect == Dialect()


def test_a_torrent_service_may_take_files_at_its_url_path():
    fake = routes(
        {"GET /rest/torrent/0": GONE, "POST /rest/torrent/url": ADDED}, lambda request: page(404)
    )
    client = fake.client()
    assert client.add_file("a", io.BytesIO(b"xx12"), 4).id == "5"
    assert fake.calls == [
        "GET /rest/transfer/0",
        "GET /rest/torrent/0",
        "POST /rest/torrent/file",
        "POST /rest/torrent/url",
    ]
    assert client.dialect == Dialect(naming="torrent", file_add="alternative")
    assert b"xx12" in fake.seen[3].content


def test_a_file_is_not_sent_to_an_unreachable_service():
    fake = service(page(500))
    with pytest.raises(errors.Unavailable):
        fake.client().add_file("a", io.BytesIO(b"12"), 2)
    assert fake.calls == ["GET /rest/transfer/0"]


def test_a_dialect_can_be_saved_and_restored():
    fake = service(page(404), ADDED)
    kept = []
    client = fake.client(on_decision=kept.append)
    add(client)
    stored = client.dialect.as_dict()
    assert stored == {"naming": "torrent"}
    assert kept == [client.dialect]
    again = service(ADDED)
    add(again.client(dialect=Dialect.from_dict(stored)))
    assert again.calls == ["POST /rest/torrent/magnet"]


@each_case("stored", [{}, {"naming": "x"}, {"naming": ["a"]}, {"file_add": 7, "z": 1}])
def test_an_unreadable_dialect_is_detected_again(stored):
    assert Dialect.from_dict(stored) == Dialect()


def test_threads_that_find_out_at_once_agree():
    barrier = threading.Barrier(8)

    def answer(request: httpx.Request) -> httpx.Response:
        return says({"id": 7, "progress": 1}) if "torrent" in request.url.path else page(404)

    client = service(answer).client()

    def ask() -> None:
        barrier.wait()
        get(client)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.dialect == Dialect(naming="torrent")
