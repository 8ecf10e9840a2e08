"""Thumbnails: fetched once, cached by hash, and only if they are pictures."""

import os
import shutil
import threading
from functools import partial

import httpx
import pytest
from django.conf import settings

from tests.cases import each_case
from tests.people import page
from webui.previews.thumbnail_cache import BLOCK_BYTES, Pictures, picture_in, type_of

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 50
HEADS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0rest",
    "image/gif": b"GIF89arest",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBPVP8 ",
    "image/avif": b"\x00\x00\x00\x20ftypavif",
}
LIES = [
    b"",
    b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    b"<html><script>1</script>",
    b"#EXTM3U\nfile:///etc/passwd",
    b"RIFF\x00\x00\x00\x00WAVE",
    b"GIF8",
]


def with_thumb(service, link, name="a.jpg", **more):
    """Add a file, and make the listing show it with a link to a thumbnail."""
    file = service.file(name)
    record = {"id": file.id, "name": name, "size": 5, "hash": "a" * 40, "thumb": link, **more}
    body = {"id": 1, "parent_id": -1, "files": [record], "folders": [], "result": True}
    service.says("/rest/folder", *[httpx.Response(200, json=body) for _time in range(9)])
    return file


def address_of(person):
    shown = page(person.client.get("/")).select_one(".thumb img, .tile img")
    return shown["src"] if shown else None


def test_a_thumbnail_is_fetched_once_and_cached(gwen, storage):
    with_thumb(storage, "https://v1.example/thumbs/7")
    storage.says("/thumbs/7", httpx.Response(200, content=PNG))
    address = address_of(gwen)
    for _time in range(3):
        answer = gwen.client.get(address)
        assert answer.content == PNG
        assert answer["Content-Type"] == "image/png"
        assert "immutable" in answer["Cache-Control"]
        assert answer["X-Content-Type-Options"] == "nosniff"
    assert [path for _method, path in storage.calls].count("/thumbs/7") == 1


def test_a_page_does_not_wait_for_a_picture_that_the_service_has_no_time_for(gwen, storage):
    with_thumb(storage, "https://v1.example/thumbs/7")
    busy = httpx.Response(503, json={"result": False}, headers={"Retry-After": "5"})
    storage.says("/thumbs/7", busy, httpx.Response(200, content=PNG))
    address = address_of(gwen)
    assert gwen.client.get(address).status_code == 503
    assert [path for _method, path in storage.calls].count("/thumbs/7") == 1
    assert gwen.client.get(address).content == PNG


def test_a_tile_requests_a_picture_of_its_size_from_the_service(gwen, storage, monkeypatch):
    file = with_thumb(storage, None, has_picture=True)
    storage.says(f"/rest/file/{file.id}/image", httpx.Response(200, content=PNG))
    assert gwen.client.get(address_of(gwen)).content == PNG
    assert ("GET", f"/rest/file/{file.id}/image") in storage.calls


@each_case("kind", ["thumb", "image"])
def test_invented_versions_take_no_more_space_than_one(gwen, storage, kind):
    file = with_thumb(storage, None, has_picture=True)
    fetches = [httpx.Response(200, content=PNG) for _time in range(30)]
    storage.says(f"/rest/file/{file.id}/image", *fetches)
    gwen.client.get("/")
    before = kept()
    for number in range(30):
        answer = gwen.client.get(f"/files/file/{file.id}/{kind}/{number:x}/?in=0")
        assert answer.content == PNG
        assert "immutable" not in answer.get("Cache-Control", "")
    assert len(kept() - before) == 1


def test_invented_files_take_no_space(gwen, storage):
    gwen.client.get("/")
    before = kept()
    for number in range(700, 710):
        assert gwen.client.get(f"/files/file/{number}/thumb/a/?in=0").status_code == 404
        assert gwen.client.get(f"/files/file/{number}/image/a/?in=12{number}").status_code == 404
    assert kept() == before


def test_a_picture_that_no_listing_names_is_shown_but_not_cached(gwen, storage):
    file = with_thumb(storage, None, has_picture=True)
    before = kept()
    storage.says(f"/rest/file/{file.id}/thumbnail", httpx.Response(200, content=PNG))
    storage.says(f"/rest/file/{file.id}/image", httpx.Response(200, content=PNG))
    answer = gwen.client.get(f"/files/file/{file.id}/image/abc/?in=404")
    assert answer.content == PNG
    assert kept() == before


def kept():
    return set((settings.DATA_DIR / "thumbs").glob("*/*"))


@each_case("lie", LIES)
def test_a_response_that_is_not_a_picture_is_not_shown_or_requested_again(gwen, foreign, lie):
    with_thumb(foreign, "https://v1.example/thumbs/7")
    foreign.says(
        "/thumbs/7", httpx.Response(200, content=lie, headers={"content-type": "image/png"})
    )
    address = address_of(gwen)
    assert [gwen.client.get(address).status_code for _time in range(3)] == [404, 404, 404]
    assert [path for _method, path in foreign.calls].count("/thumbs/7") == 1


@each_case(
    "link",
    [
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "http://127.0.0.1:1/x.png",
        "http://192.168.0.1/x.png",
        "file:///etc/passwd",
    ],
)
def test_a_link_elsewhere_is_never_followed(gwen, foreign, link):
    file = with_thumb(foreign, link)
    address = address_of(gwen) or f"/files/file/{file.id}/thumb/abc/?in=0"
    assert gwen.client.get(address).status_code == 404
    assert all(path.startswith("/rest/") for _method, path in foreign.calls)


def test_a_redirect_is_checked_again(gwen, foreign):
    with_thumb(foreign, "https://v1.example/thumbs/7")
    inside = {"location": "http://169.254.169.254/latest"}
    foreign.says("/thumbs/7", httpx.Response(302, headers=inside))
    assert gwen.client.get(address_of(gwen)).status_code == 404


def test_an_unreachable_service_is_tried_again_later(gwen, storage):
    with_thumb(storage, "https://v1.example/thumbs/7")
    address = address_of(gwen)
    storage.says("/thumbs/7", *[httpx.Response(503) for _time in range(9)])
    assert gwen.client.get(address).status_code == 503
    storage.says("/thumbs/7", httpx.Response(200, content=PNG))
    assert gwen.client.get(address).status_code == 200


@each_case(("kind", "head"), HEADS.items())
def test_pictures_are_recognized_by_their_first_bytes(kind, head):
    assert type_of(head) == kind


@each_case("lie", LIES)
def test_others_are_not(lie):
    assert type_of(lie) == ""


def test_too_large_a_picture_is_not_shown():
    assert picture_in(iter([PNG, *[b"x" * 2**20] * 3])) == b""


def test_a_missing_picture_is_requested_again_after_a_while(tmp_path):
    now = [1_000_000.0]
    pictures = Pictures(tmp_path, clock=lambda: now[0])
    assert pictures.get("a", lambda: iter([])) is None
    assert pictures.get("a", lambda: iter([PNG])) is None
    now[0] += 601
    assert pictures.get("a", lambda: iter([PNG])) == PNG


def test_the_folder_is_bounded_by_what_its_files_take_on_the_disk(tmp_path):
    now = [1_000_000.0]
    pictures = Pictures(tmp_path, 3 * BLOCK_BYTES, clock=lambda: now[0])
    for number in range(10):
        now[0] += 1
        pictures.get(str(number), partial(iter, [PNG] * (number % 2)))
    pictures.prune()
    assert len(list(tmp_path.glob("*/*"))) == 3
    assert pictures.get("9", lambda: iter([])) == PNG


def test_the_folder_is_pruned_by_how_much_was_added(tmp_path):
    pictures = Pictures(tmp_path, 20 * 2**20)
    for number in range(30):
        pictures.get(str(number), lambda: iter([PNG + bytes(2**20)]))
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) < 23 * 2**20


def disk_with(monkeypatch, free_bytes):
    """No test can fill the disk."""
    usage = shutil.disk_usage("/")._replace(free=free_bytes)
    monkeypatch.setattr("webui.previews.thumbnail_cache.shutil.disk_usage", lambda _path: usage)


def test_the_cache_takes_at_most_half_of_what_the_disk_has_without_it(tmp_path, monkeypatch):
    pictures = Pictures(tmp_path)
    for number in range(10):
        pictures.get(str(number), lambda: iter([PNG]))
    disk_with(monkeypatch, 2 * BLOCK_BYTES)
    pictures.prune()
    assert len(list(tmp_path.glob("*/*"))) == 6


def test_a_picture_is_shown_but_not_cached_when_the_disk_is_nearly_full(tmp_path, monkeypatch):
    disk_with(monkeypatch, 2**20)
    assert Pictures(tmp_path).get("a", lambda: iter([PNG])) == PNG
    assert not list(tmp_path.glob("*/*"))


@each_case("left", [b"", bytes(len(PNG))])
def test_a_picture_that_a_power_cut_emptied_is_fetched_again(tmp_path, left):
    pictures = Pictures(tmp_path)
    pictures.get("a", lambda: iter([PNG]))
    [path] = tmp_path.glob("*/*")
    path.write_bytes(left)
    os.utime(path, (1, 1))
    assert pictures.get("a", lambda: iter([PNG])) == PNG


def test_four_at_once_ask_the_service(tmp_path):
    pictures = Pictures(tmp_path)
    busy, most, lock, four, go = 0, 0, threading.Lock(), threading.Event(), threading.Event()

    def fetch():
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
            if busy == 4:
                four.set()
        go.wait(60)
        with lock:
            busy -= 1
        return iter([PNG])

    threads = [threading.Thread(target=pictures.get, args=(str(n), fetch)) for n in range(12)]
    for thread in threads:
        thread.start()
    assert four.wait(60)
    go.set()
    for thread in threads:
        thread.join(60)
    assert most == 4
