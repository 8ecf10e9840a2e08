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
    told = service(*(answer for answer in (transfer, torrent) if answer))
    client = told.client()
    if failure is None:
        ask(client)
    else:
        with pytest.raises(failure):
            ask(client)
    assert client.dialect.naming == naming
    assert len(told.seen) == (1 if torrent is None else 2)


def test_a_decided_naming_is_kept_and_a_later_404_means_gone():
    told = service(page(404), RUNNING, page(404))
    client = told.client()
    get(client)
    with pytest.raises(errors.NotFound):
        get(client)
    with pytest.raises(errors.NotFound):
        add(client)
    assert told.asked[2:] == ["GET /rest/torrent/7", "POST /rest/torrent/magnet"]


@each_case("naming", ["transfer", "torrent"])
def test_a_fixed_naming_is_never_doubted(naming):
    told = service(page(404))
    client = told.client(naming=naming)
    with pytest.raises(errors.NotFound):
        add(client)
    assert told.asked == [f"POST /rest/{naming}/magnet"]


def test_a_fixed_naming_is_stronger_than_one_found_out_before():
    told = service(ADDED)
    add(told.client(naming="transfer", dialect=Dialect(naming="torrent")))
    assert told.asked == ["POST /rest/transfer/magnet"]


def test_a_service_of_ours_is_never_doubted():
    told = service(page(405))
    client = told.client(is_ours=True)
    for ask in (add, get, lambda one: one.delete_file("7"), lambda one: one.rename_file("7", "a")):
        with pytest.raises(errors.Rejected):
            ask(client)
    assert len(told.seen) == 4


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
def test_where_delete_is_not_known_a_post_removes(delete, key, path, alternative, no_such_method):
    told = routes({f"DELETE /rest/{path}": no_such_method, alternative: says()})
    client = told.client(naming="transfer")
    delete(client)
    delete(client)
    assert told.asked == [f"DELETE /rest/{path}", alternative, alternative]
    assert getattr(client.dialect, key) == "alternative"


@each_case(("delete", "key", "path", "alternative"), DELETES)
def test_a_delete_that_the_service_knows_is_kept(delete, key, path, alternative):
    told = service(says(), page(405))
    client = told.client(naming="transfer")
    delete(client)
    with pytest.raises(errors.Rejected):
        delete(client)
    assert told.asked == [f"DELETE /rest/{path}"] * 2


@each_case(("delete", "key", "path", "alternative"), DELETES)
def test_what_the_service_says_is_gone_is_not_posted_to(delete, key, path, alternative):
    told = service(GONE)
    with pytest.raises(errors.NotFound):
        delete(told.client(naming="transfer"))
    assert told.asked == [f"DELETE /rest/{path}"]


def test_naming_and_removal_are_found_together():
    told = routes({"POST /rest/torrent/7": says()})
    client = told.client()
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
    told = routes({alternative: says()})
    client = told.client()
    ask(client)
    ask(client)
    assert told.asked == [primary, alternative, alternative]


@each_case("unknown", [page(404), page(405), page(501), GONE, says({}, 405)])
def test_folders_are_made_by_renaming_the_root_where_nothing_else_is_known(unknown):
    older = "POST /rest/folder/41/rename"
    told = routes({"POST /rest/folder": unknown, older: says({"success": True, "id": "9"})})
    client = told.client()
    assert client.create_folder("Films", "41").id == "9"
    assert client.create_folder("Films/Old", "41").id == "9"
    assert told.asked == ["POST /rest/folder", older, older]
    assert [form_of(request) for request in told.seen[1:]] == [
        {"name": "Films"},
        {"name": "Films/Old"},
    ]


@each_case("is_parent_known", [False, True])
def test_below_a_folder_a_404_may_mean_that_it_is_gone(is_parent_known):
    older = "POST /rest/folder/41/rename"
    told = routes({"POST /rest/folder": GONE, older: says({"success": True})})
    client = told.client()
    if is_parent_known:
        client.create_folder("Films/Old", "41", is_parent_known=True)
        assert told.asked == ["POST /rest/folder", older]
    else:
        with pytest.raises(errors.NotFound):
            client.create_folder("Films/Old", "41")
        assert told.asked == ["POST /rest/folder"]
        assert client.dialect == Dialect()


@each_case("answer", [says(), refuses(409, "name_taken"), refuses(422, "name_not_allowed")])
def test_a_service_that_makes_folders_is_never_told_to_rename(answer):
    told = service(answer, page(404))
    client = told.client()
    for name in ("Films", "Music"):
        with suppress(errors.Failure):
            client.create_folder(name, "41")
    assert told.asked == ["POST /rest/folder"] * 2


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
    told = routes(
        {"GET /rest/torrent/0": GONE, "POST /rest/torrent/url": ADDED}, lambda request: page(404)
    )
    client = told.client()
    assert client.add_file("a", io.BytesIO(b"xx12"), 4).id == "5"
    assert told.asked == [
        "GET /rest/transfer/0",
        "GET /rest/torrent/0",
        "POST /rest/torrent/file",
        "POST /rest/torrent/url",
    ]
    assert client.dialect == Dialect(naming="torrent", file_add="alternative")
    assert b"xx12" in told.seen[3].content


def test_a_file_is_not_sent_where_nobody_answers():
    told = service(page(500))
    with pytest.raises(errors.Unavailable):
        told.client().add_file("a", io.BytesIO(b"12"), 2)
    assert told.asked == ["GET /rest/transfer/0"]


def test_a_dialect_can_be_kept_and_given_back():
    told = service(page(404), ADDED)
    kept = []
    client = told.client(on_decision=kept.append)
    add(client)
    stored = client.dialect.as_dict()
    assert stored == {"naming": "torrent"}
    assert kept == [client.dialect]
    again = service(ADDED)
    add(again.client(dialect=Dialect.from_dict(stored)))
    assert again.asked == ["POST /rest/torrent/magnet"]


@each_case("stored", [{}, {"naming": "x"}, {"naming": ["a"]}, {"file_add": 7, "z": 1}])
def test_a_dialect_that_cannot_be_read_is_found_anew(stored):
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
