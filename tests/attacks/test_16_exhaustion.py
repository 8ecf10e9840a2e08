"""Row 16: bodies, numbers, and depths made to exhaust. Memory stays small, answers stay JSON.

For senders and readers that stall, which are cut off, see tests/config/test_wsgi.py.
"""

import json
import time
import tracemalloc
from contextlib import contextmanager

import httpx
import pytest

from config.embedded import upstream
from service.fetching.events import MagnetFound
from service.fetching.pace import Pace
from service.models import Transfer, Wish
from service.torrents.events import Complete, TorrentBroken, TorrentGone
from tests.cases import each_case
from tests.misbehaving import answers, chunk, head, serving, then_pouring, then_silent
from tests.service.builders import a_torrent, alice, bencoded, torrent_info
from tests.service.fetching.servers import Side, url_of
from tests.webui.add.test_views import in_parts

MIB = 2**20
PASSWORD = "a quiet harbour at noon"
MULTIPART = {"content-type": "multipart/form-data; boundary=b"}
JSON = {"content-type": "application/json"}


@pytest.fixture
def api(db):
    auth = (alice(password=PASSWORD).email, PASSWORD)
    with httpx.Client(transport=upstream.transport(), base_url=upstream.URL, auth=auth) as client:
        yield client


@contextmanager
def memory_below(most_bytes: int):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()


def endless(beginning: bytes = b""):
    """Yield a body of 1 TiB, if anything reads it all."""
    yield beginning
    for _piece in range(2**24):
        yield b"x" * 65536


@each_case(
    ("path", "headers", "beginning"),
    [
        ("folder", {}, b"path="),
        ("folder", JSON, b'{"path": "'),
        ("folder", MULTIPART, b'--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n'),
        ("zip", JSON, b'{"archive_arr": "'),
        ("transfer/magnet", {}, b"magnet="),
        ("transfer/file", MULTIPART, b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n'),
        ("transfer/file", MULTIPART, b"--b\r\nX: "),
        (
            "torrent/file",
            MULTIPART,
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nd',
        ),
    ],
)
def test_an_endless_body_is_not_read_to_the_end(path, headers, beginning, api):
    with memory_below(64 * MIB):
        answer = api.post(f"/rest/{path}", content=endless(beginning), headers=headers)
    assert answer.status_code in (400, 413, 422)
    assert answer.json()["result"] is False


@pytest.mark.slow
@each_case(
    ("ids", "action", "status"),
    [
        ("1," * 120_000 + "1", "pause", 422),
        ("1" + "," * 300_000, "last", 422),
        ("9" * 900_000, "up", 422),
        (",".join(["9" * 30] * 30_000), "first", 200),
        (",".join(map(str, range(100_000))), "pause", 200),
        (",".join(map(str, range(100_000))), "up", 200),
        ("\u0661,1e9,0x1,1.5", "pause", 422),
        ("1;DROP TABLE service_transfer", "pause", 422),
        ("1", "pause" * 100_000, 422),
        ("1", "\x00", 422),
        ("1", "__class__", 422),
    ],
)
def test_absurd_changes_of_transfers_are_refused_or_skipped(ids, action, status, api):
    transfer_id = api.post("/rest/transfer/url", data={"url": "http://example.org/"}).json()["id"]
    started = time.thread_time()
    answer = api.post("/rest/transfers/change", data={"ids": ids, "action": action})
    assert time.thread_time() - started < 3
    assert answer.status_code == status, answer.text
    assert set(answer.json().get("changed", [])) <= {transfer_id}


def test_a_skipped_part_of_any_size_counts_as_too_large(api):
    """The form has an unexpected file part, in chunks that declare no length."""
    part = b'--b\r\nContent-Disposition: form-data; name="x"; filename="f"\r\n\r\n'
    with memory_below(16 * MIB):
        answer = api.post("/rest/folder", content=endless(part), headers=MULTIPART)
    assert (answer.status_code, answer.json()["reason_phrase"]) == (413, "too_large")


def test_many_parts_are_refused(api):
    part = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n'
    answer = api.post("/rest/folder", content=part * 20_000, headers=MULTIPART)
    assert answer.status_code == 413


@each_case(
    "content",
    [
        b'{"path":' + b"[" * 500_000,
        b'{"path":' + b'{"a":' * 150_000,
        b'{"folder_id":' + b"9" * 900_000 + b"}",
        b'{"folder_id":1e' + b"9" * 300 + b"}",
    ],
)
def test_deep_and_huge_json_is_refused(content, api):
    answer = api.post("/rest/folder", content=content, headers=JSON)
    assert answer.status_code in (400, 422)


@each_case(
    "content",
    [
        b"d4:info" + b"l" * 100_000 + b"e" * 100_001,
        b"d4:info" + b"d1:a" * 100_000,
        b"d4:infod6:lengthi" + b"9" * 100_000 + b"eee",
        b"d4:info99999999999999999999:x",
        bencoded({"info": torrent_info() | {"length": -1}}),
        bencoded({"info": torrent_info() | {"length": 2**62}}),
        bencoded({"info": torrent_info() | {"piece length": 0}}),
    ],
)
def test_hostile_bencode_is_refused(content, api):
    assert_no_torrent(api, content)


@pytest.mark.slow
def test_bencode_of_a_million_lists_is_refused(api):
    assert_no_torrent(api, b"d4:infol" + b"le" * 1_100_000 + b"ee")


def assert_no_torrent(api, content):
    answer = api.post("/rest/torrent/file", files={"file": ("s.torrent", content)})
    assert (answer.status_code, answer.json()["reason_phrase"]) == (400, "not_a_torrent")


def test_a_magnet_of_ten_thousand_trackers_is_bounded(api):
    trackers = "".join(f"&tr=http://t{number}.example/" for number in range(10_000))
    link = f"magnet:?xt=urn:btih:{'a' * 40}{trackers}"
    answer = api.post("/rest/transfer/magnet", data={"magnet": link})
    assert (answer.status_code, answer.json()["reason_phrase"]) == (422, "parsing_error")


@pytest.mark.slow
def test_endless_adds_are_bounded(api, settings):
    """10,000 in a row would take long; with a limit of 20, 150 show the same."""
    settings.QUEUE_LIMIT = 20
    for number in range(150):
        link = f"magnet:?xt=urn:btih:{number:040x}"
        answer = api.post("/rest/transfer/magnet", data={"magnet": link})
    assert answer.json()["reason_phrase"] == "queue_full_wishlist_full"
    assert (Transfer.objects.count(), Wish.objects.count()) == (20, 100)


def test_a_selection_of_one_folder_ten_thousand_times_holds_it_once(api):
    api.post("/rest/folder", data={"path": "Films"})
    (folder,) = api.get("/rest/folder").json()["folders"]
    chosen = json.dumps([{"type": "folder", "id": folder["id"]}] * 10_000)
    answer = api.post("/rest/zip", data={"archive_arr": chosen})
    assert answer.status_code == 302
    once = api.get(f"/rest/folder/{folder['id']}/download")
    assert size(api, answer) == size(api, once)


def size(api: httpx.Client, answer: httpx.Response) -> int:
    return int(api.head(answer.headers["location"]).headers["content-length"])


@pytest.mark.parametrize("ranges", ["0-0,2-2," * 5_000, ",".join(f"{n}-" for n in range(10_000))])
def test_ten_thousand_ranges_get_the_whole_once(ranges, api):
    added = api.post("/rest/transfer/file", files={"file": ("a.txt", bytes(20_000))}).json()
    file_id = api.get(f"/rest/transfer/{added['id']}").json()["file_created"]
    link = api.get(f"/rest/file/{file_id}").headers["location"]
    assert api.get(link, headers={"range": "bytes=0-0,5000-5000"}).status_code == 206
    answer = api.get(link, headers={"range": f"bytes={ranges}0-0"})
    assert (answer.status_code, answer.content) == (200, bytes(20_000))


def test_names_take_no_time_to_judge(api):
    start = time.process_time()
    for name in (" " * 500_000, "a." * 250_000, "\u0301" * 160_000, "(" * 500_000):
        assert api.post("/rest/folder", json={"path": name}).status_code == 422
        files = {"file": ("x", a_torrent(name[:100_000] or "x"))}
        assert api.post("/rest/torrent/file", files=files).status_code == 200
    assert time.process_time() - start < 5


# What servers send to fetches


@pytest.fixture
def side(tmp_path):
    side = Side(tmp_path)
    yield side
    side.fetching.stop(5)


@pytest.mark.promise("an endless response stops at the limit")
@pytest.mark.slow
@pytest.mark.parametrize(
    "start", [head(), head(Transfer_Encoding="chunked"), head(Content_Encoding="gzip")]
)
def test_an_endless_response_stops_at_the_limit(start, side):
    piece = chunk(b"x" * 65_000) if b"chunked" in start else b"x" * 65_000
    with serving(then_pouring(start, piece)) as server, memory_below(4 * MIB):
        side.hurry(most_bytes=20 * MIB)
        event = side.fetch(url_of(server))
    assert event.word == "too_large"
    assert len(side.content) <= 20 * MIB


@pytest.mark.slow
@pytest.mark.parametrize(
    "misbehave",
    [
        then_pouring(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 1_000),
        then_pouring(b"HTTP/1.1 200 OK\r\nA: ", b"b" * 65_536),
        then_pouring(head(Transfer_Encoding="chunked"), b"0" * 65_536),
        answers(head("302 Go", Location="/" + "x" * 90_000)),
        answers(head("302 Go", Location="magnet:?" + "tr=x&" * 18_000)),
        answers(head(Content_Disposition="attachment; filename=" + '\\"' * 45_000)),
        answers(head(Set_Cookie="a=" + "b" * 90_000)),
    ],
)
def test_an_endless_head_is_limited(misbehave, side):
    with serving(misbehave) as server, memory_below(8 * MIB):
        event = side.fetch(url_of(server))
    assert isinstance(event, TorrentBroken | MagnetFound | Complete)
    assert all(len(head.name) <= 1_000 for head in side.heads)


def test_an_endless_torrent_file_is_refused(side):
    start = head() + b"d8:announce9999999999:"
    with serving(then_pouring(start, b"x" * 65_536)) as server, memory_below(64 * MIB):
        side.hurry(most_bytes=20 * MIB)
        assert side.fetch(url_of(server)).word == "too_large"


def test_a_hundred_silent_servers_are_left_at_once(side):
    side.pace = Pace()
    side.hurry()
    with serving(then_silent(head()[:-2])) as server:
        for number in range(100):
            side.add(url_of(server), key=str(number))
        side.until_true(lambda: len(server.heads) == 100)
        started = time.monotonic()
        for number in range(100):
            side.fetching.remove(str(number))
        assert {side.end() for _ in range(100)} == {
            TorrentGone(str(number)) for number in range(100)
        }
        # Long before any silent server is given up.
        assert time.monotonic() - started < Pace.quiet_seconds / 2


@pytest.mark.parametrize("size", [100, 10_000])
def test_ten_thousand_ranges_cost_no_more_than_the_whole(size, api):
    api.post("/rest/transfer/file", files={"file": ("a.bin", b"x" * 50_000)})
    link = file_link(api)
    few = api.get(link, headers={"Range": "bytes=0-0,5000-5000"})
    assert (few.status_code, few.headers["content-type"][:20]) == (206, "multipart/byteranges")
    ranges = ",".join(f"{at}-{at}" for at in range(0, size * 2, 2))
    start = time.process_time()
    many = api.get(link, headers={"Range": f"bytes={ranges}"})
    assert time.process_time() - start < 1
    assert (many.status_code, len(many.content)) == (200, 50_000)


def file_link(api: httpx.Client) -> str:
    (file,) = api.get("/rest/folder").json()["files"]
    return api.get(f"/rest/file/{file['id']}").headers["location"]


def test_a_torrent_of_a_million_files_is_refused(api):
    for count, status in ((1_000, 200), (1_000_000, 400)):
        listed = b"d6:lengthi1e4:pathl1:aee" * count
        pieces = bencoded(b"h" * 20 * -(-count // 16_384))
        info = b"d5:filesl%se4:name1:a12:piece lengthi16384e6:pieces%se" % (listed, pieces)
        files = {"file": ("s.torrent", b"d4:info%se" % info)}
        assert api.post("/rest/torrent/file", files=files).status_code == status


@pytest.mark.slow
@each_case(
    "unit",
    [" ", "a.", "(", "[", "\\", "<", "http://", "magnet:?xt=", "&amp;", "%", "\u0301", "_-. "],
)
def test_no_name_and_no_line_keeps_the_site_busy(unit, bob, storage):
    """Test each regular expression that reads a name or a pasted line."""
    for ending in (".mkv", ".en.srt"):
        storage.file((unit * 80).replace("/", "_")[:200] + ending)
    start = time.process_time()
    assert bob.client.get("/", {"q": unit * 2_000}).status_code == 200
    assert bob.client.get("/?view=grid").status_code == 200
    assert in_parts(bob, text=(unit * 200_000)[:200_000]).status_code in (200, 422)
    assert time.process_time() - start < 5
