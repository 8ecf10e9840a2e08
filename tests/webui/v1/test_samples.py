"""Every recorded answer of a service is understood, in both generations and namings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import SAMPLES, refuses, service
from webui.v1 import errors
from webui.v1.links import Download, Link

HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"
MAGNET = f"magnet:?xt=urn:btih:{HASH}"


@dataclass
class Row:
    """A call, and what is expected: some attributes, or a failure with its reason."""

    ask: Callable
    attributes: dict | None = None
    failure: type[errors.Failure] | None = None
    reason: str = ""


def add(client):
    return client.add_magnet(MAGNET)


def root(client):
    return client.listing()


def get(client):
    return client.transfer("196013131")


WISH = {"wish.name": "Sintel", "wish.size_bytes": 129302391, "wish.hash": HASH}
ADDED = {"id": "196012634", "name": "Sintel", "hash": HASH, "was_there": False}
ROOT = {"folder_id": "12847330", "parent_id": None, "is_root": True, "path": ""}
ROOT_2026 = {
    **ROOT,
    "space_max_bytes": 6979321856,
    "space_used_bytes": 129302391,
    "folders.0.id": "1432582823",
    "folders.0.name": "Sintel",
    "folders.0.changed": datetime(2026, 8, 31, 12, 30, 11, tzinfo=UTC).timestamp(),
    "files.0.id": "5983629956",
    "files.0.image_urls.220": "https://rd12.example.net/.../220.jpg",
    "transfers.0.id": "196013131",
    "transfers.0.progress_percent": 42.0,
    "transfers.0.warnings": (),
}
DONE = {"progress_percent": 101.0, "is_moved": True, "folder_created_id": "269164005"}
RUNNING = {
    "name": "Sintel",
    "progress_percent": 42.5,
    "is_downloaded": False,
    "rate_bytes_per_second": 4915200,
    "folder_created_id": None,
}
USER = {
    "id": "398088",
    "name": "user@example.org",
    "is_paid": True,
    "plan": "PRO",
    "space_max_bytes": 107374182400,
    "wishes": (),
}

ROWS = {
    "add_already_downloading.legacy.json": Row(add, {"id": None, "was_there": True}),
    "add_error.legacy.json": Row(add, None, errors.Rejected, "no_torrent_passed"),
    "add_no_torrent_passed.http400.json": Row(add, None, errors.Rejected, "no_torrent_passed"),
    "add_not_a_torrent.json": Row(add, None, errors.Rejected, "not_a_torrent"),
    "add_not_enough_space.http200.legacy.json": Row(
        add, WISH, errors.NoRoom, "not_enough_space_added_to_wishlist"
    ),
    "add_not_enough_space.http413.2026.json": Row(
        add, WISH, errors.NoRoom, "not_enough_space_added_to_wishlist"
    ),
    "add_ok.2026.json": Row(add, ADDED),
    "add_ok.legacy.json": Row(add, {**ADDED, "id": "92442397"}),
    "add_parsing_error.http422.json": Row(add, None, errors.Rejected, "parsing_error"),
    "add_queue_full.http200.legacy.json": Row(
        add, WISH, errors.NoRoom, "queue_full_added_to_wishlist"
    ),
    "add_queue_full.http413.2026.json": Row(
        add, WISH, errors.NoRoom, "queue_full_added_to_wishlist"
    ),
    "create_folder_ok.json": Row(
        lambda client: (client.create_folder("New Folder"),), {"0": "1432582900"}
    ),
    "delete_ok.json": Row(lambda client: client.delete_file("7"), {}),
    "error_not_found.http404.json": Row(root, None, errors.NotFound, "file_not_found"),
    "error_premium.http403.json": Row(root, None, errors.Forbidden, "premium_required"),
    "error_rate_limit.http429.json": Row(
        add, None, errors.TooMany, "rate_limit_exceeded_please_try_again_later"
    ),
    "error_unauthorized.http401.json": Row(root, None, errors.Unauthorized, "unauthorized"),
    "file_download.302.http": Row(
        lambda client: client.file_link("5983629956"),
        {
            "url": "https://nw34.example.net/ff_get/398088/5983629956/Sintel.mp4"
            "?st=SIGNATURE&e=1788270396",
            "is_ours": False,
        },
    ),
    "folder_root.2026.json": Row(root, ROOT_2026),
    "folder_root.legacy.json": Row(
        root,
        {**ROOT, "folders.0.name": "Sintel", "files": (), "transfers": ()},
    ),
    "folder_root.site-2023.json": Row(
        root,
        {
            **ROOT,
            "folder_id": "186340390",
            "folders.0.name": "Sintel",
            "transfers.0.progress_percent": 0.0,
        },
    ),
    "folder_sub.legacy.json": Row(
        lambda client: client.listing("269164005"),
        {
            "folder_id": "269164005",
            "name": "Sintel",
            "parent_id": "12847330",
            "is_root": False,
            "files.1.name": "Sintel.en.srt",
        },
    ),
    "progress.collecting.json": Row(get, {"progress_percent": 0.0}),
    "progress.done.json": Row(get, {**DONE, "name": "Sintel"}),
    "progress.jsonp.txt": Row(get, None, errors.Unreadable, "not_json"),
    "progress.running.json": Row(get, {**RUNNING, "id": "196013131"}),
    "rename_name_taken.http409.json": Row(
        lambda client: client.rename_file("7", "Sintel"),
        None,
        errors.Conflict,
        "name_already_taken",
    ),
    "rename_ok.json": Row(lambda client: client.rename_folder("7", "Sintel"), {}),
    "storage_host.206.http": Row(
        lambda client: client.open("https://rd12.example.net/a", {"Range": "bytes=0-1023"}),
        {"status": 206, "size_bytes": 1024},
    ),
    "torrent_get.legacy-done.json": Row(get, {**DONE, "id": "92442397"}),
    "torrent_get.legacy-running.json": Row(get, {**RUNNING, "id": "92442397"}),
    "transfer_get.2026.json": Row(
        get,
        {
            "is_moved": True,
            "folder_created_id": "1432582823",
            "state": None,
        },
    ),
    "user.2026.json": Row(lambda client: client.account(), USER),
    "ours/add_not_enough_space.http413.json": Row(
        add, WISH, errors.NoRoom, "not_enough_space_added_to_wishlist"
    ),
    "ours/add_ok.json": Row(add, ADDED),
    "ours/error.http404.json": Row(root, None, errors.NotFound, "not_found"),
    "ours/folder_root.json": Row(root, {**ROOT_2026, "transfers.0.state": "downloading"}),
    "ours/transfer_get.json": Row(
        get, {"state": "done", "is_moved": True, "folder_created_id": "1432582823"}
    ),
    "ours/user.json": Row(lambda client: client.account(), USER),
}
# The statuses that are in the body of a sample, but not in its name.
STATUSES = {"add_not_a_torrent.json": 400}
FILES = sorted(
    str(path.relative_to(SAMPLES))
    for path in SAMPLES.rglob("*")
    if path.suffix != ".md"
    if path.is_file()
)


def answer_of(name: str) -> httpx.Response:
    raw = (SAMPLES / name).read_bytes()
    if name.endswith(".http"):
        head, *lines = raw.decode().strip().splitlines()
        headers = dict(line.split(": ", 1) for line in lines)
        body = b"x" * int(headers["Content-Length"])
        return httpx.Response(int(head.split()[1]), headers=headers, content=body)
    status = re.search(r"\.http(\d{3})\.", name)
    return httpx.Response(int(status[1]) if status else STATUSES.get(name, 200), content=raw)


def test_there_is_a_row_for_every_sample():
    assert sorted(ROWS) == FILES


@each_case("naming", ["auto", "transfer", "torrent"])
@each_case("name", FILES)
def test_a_sample_is_read(name, naming):
    row = ROWS[name]
    with service(answer_of(name)).client(naming=naming) as client:
        if row.failure is None:
            result = row.ask(client)
        else:
            with pytest.raises(row.failure) as raised:
                row.ask(client)
            result = raised.value
            assert type(result) is row.failure
            assert result.reason == row.reason
        for path, expected in (row.attributes or {}).items():
            assert attribute(result, path) == expected, path
        if isinstance(result, Download):
            result.close()


def attribute(value: object, path: str) -> object:
    for step in path.split("."):
        value = value[int(step)] if step.isdigit() else getattr(value, step)
    return value


def test_a_magnet_is_saved_with_the_wish():
    client = service(answer_of("add_queue_full.http413.2026.json")).client()
    with pytest.raises(errors.NoRoom) as raised:
        client.add_magnet(MAGNET)
    assert raised.value.wish.magnet == MAGNET


@each_case(
    ("word", "failure"),
    [
        ("not_enough_space_wishlist_full", errors.NoRoom),
        ("queue_full_wishlist_full", errors.NoRoom),
        ("added_to_wishlist", errors.NoRoom),
        ("out_of_wishlist", errors.NoRoom),
        ("out_of_bandwidth_memory", errors.NoRoom),
        ("private_not_allowed", errors.Rejected),
        ("private_not_allowed_added_to_wishlist", errors.Rejected),
        ("private_not_allowed_wishlist_full", errors.Rejected),
        ("fetch_error", errors.Rejected),
        ("invalid_torrent", errors.Rejected),
    ],
)
@each_case("status", [200, 413])
def test_each_word_of_the_contract_is_a_failure_of_its_kind(word, failure, status):
    legacy = httpx.Response(200, json={"result": word, "code": 400})
    client = service(legacy if status == 200 else refuses(status, word)).client()
    with pytest.raises(failure) as raised:
        client.add_magnet(MAGNET)
    assert type(raised.value) is failure
    assert raised.value.reason == word


def test_a_link_shows_no_signature():
    link = service(answer_of("file_download.302.http")).client().file_link("5983629956")
    assert isinstance(link, Link)
    assert "SIGNATURE" in link.path_and_query
    assert "SIGNATURE" not in f"{link!r} {link}"
