"""Row 22: what one request costs, in memory and computing, while it lasts and afterward.

For more about torrents, up to the engine, see tests/attacks/test_16_torrents.py.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from bs4 import BeautifulSoup

from tests.browser.shelf import Shelf
from tests.misbehaving import Wire, head, serving
from tests.people import PASSWORD
from tests.running import Ferry, running
from tests.service.api.serving import peak_of, processes_of
from tests.service.working import until

pytestmark = pytest.mark.slow

MIB = 2**20
MOST_BYTES = 64 * MIB
MOST_SECONDS = 1.0
MOST_LEFT_BYTES = 48 * MIB
EMBEDDED = "ferry@localhost"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
# A shared machine may take longer than MOST_SECONDS, but then the largest torrent takes longer by
# the same factor.
MOST_OF_LARGEST = 2.5
MOST_MEASUREMENTS = 5
TICKS = os.sysconf("SC_CLK_TCK")


# Requests


def of_info(info: bytes) -> bytes:
    return b"d4:infod" + info + b"ee"


def version_1(files: bytes, hashes: bytes = bytes(20)) -> bytes:
    pieces = b"6:pieces%d:%b" % (len(hashes), hashes)
    return of_info(b"5:filesl" + files + b"e4:name1:x12:piece lengthi1048576e" + pieces)


def version_2(tree: bytes) -> bytes:
    return of_info(b"9:file tree" + tree + b"12:meta versioni2e4:name1:x12:piece lengthi16384e")


def leaves(count: int, leaf: bytes = b"d0:d6:lengthi1eee") -> bytes:
    return b"".join(b"6:%06d%b" % (number, leaf) for number in range(count))


def deep(levels: int, below: bytes) -> bytes:
    return b"d1:a" * (levels - 1) + b"d" + below + b"e" * levels


def long_names(count: int, length: int) -> bytes:
    return b"".join(
        b"d6:lengthi1e4:pathl%d:%07d%bee" % (length + 7, number, b"x" * length)
        for number in range(count)
    )


ROOTED = b"d0:d6:lengthi1e11:pieces root32:" + b"r" * 32 + b"ee"
LISTED = b"d6:lengthi1e4:pathl%bee"
# It is read whole, and refused for its second hash: an accepted one would keep the worker busy.
LARGEST = version_1(LISTED % b"1:a" * 99_999, bytes(40))


def trees() -> Iterator[tuple[str, bytes]]:
    for levels, count in product((1, 10, 90, 200, 280, 299, 5000), (10, 20_000, 99_999, 300_000)):
        yield f"a tree of {levels} levels and {count} files", version_2(deep(levels, leaves(count)))
    for levels in (1, 80):
        tree = deep(levels, leaves(99_999, ROOTED))
        yield f"a whole tree of {levels} levels", version_2(tree)
    folders = b"".join(b"6:%06d%b" % (number, deep(20, leaves(10))) for number in range(1_500))
    yield "many deep folders", version_2(b"d" + folders + b"e")
    for count in (1_000, 700_000):
        yield f"{count} empty folders", version_2(b"d" + leaves(count, b"de") + b"e")
    for length in (1_000, 60_000, 1_000_000):
        name = b"%d:%b" % (length, b"n" * length)
        tree = (b"d" + name) * 8 + b"d" + leaves(3_000) + b"e" * 9
        yield f"folders of {length} letters", version_2(tree)


def lists() -> Iterator[tuple[str, bytes]]:
    for count, names in product((1_000, 30_000, 100_000, 250_000), (1, 5, 13)):
        files = LISTED % (b"1:a" * names) * count
        if len(files) < 10_000_000:
            yield f"a list of {count} files in {names} folders", version_1(files)
    for count, length in ((150, 60_000), (9, 1_000_000), (90_000, 50)):
        yield f"{count} names of {length} letters", version_1(long_names(count, length))
    for names in (10_000, 400_000, 3_000_000):
        yield f"a path of {names} names", version_1(LISTED % (b"1:a" * names))
        yield f"a path of {names} empty names", version_1(LISTED % (b"0:" * names))
    yield "padding alone", version_1(b"d4:attr1:p6:lengthi1e4:pathlee" * 300_000)
    yield "nothing in each", version_1(b"de" * 3_000_000)
    both = b"5:filesl" + LISTED % b"6:000001" * 60_000 + b"e"
    tree = b"9:file treed" + leaves(60_000) + b"e"
    about = b"12:meta versioni2e4:name1:x12:piece lengthi16384e6:pieces20:" + bytes(20)
    yield "a list and a tree", of_info(tree + both + about)


def values() -> Iterator[tuple[str, bytes]]:
    for kind in (b"le", b"de", b"0:", b"i1e", b"1:a", b"d0:0:e", b"l0:e"):
        for count in (100_000, 10_000_000 // len(kind)):
            many = kind * count
            yield f"{count} {kind!r} in a list", b"d1:al" + many + b"e" + of_info(b"")[1:]
            yield f"{count} {kind!r} below", of_info(b"1:al" + many + b"e")
    for count in (100_000, 2_400_000):
        yield f"{count} keys", b"d" + b"0:0:" * count + b"e"
        yield f"{count} keys below", of_info(b"0:0:" * count)
    for depth in (299, 301, 3_000_000):
        yield f"{depth} lists", b"d4:info" + b"l" * depth + b"e" * depth + b"e"
        yield f"{depth} dictionaries", b"d4:info" + b"d1:a" * (depth // 2) + b"de" + b"e" * depth
    yield "a number without end", b"d4:infoi" + b"9" * 9_000_000 + b"ee"
    yield "a text without end", b"d4:info9999999999:" + b"x" * 9_000_000
    yield "lengths of zeros", b"d4:info" + b"0" * 9_000_000 + b":e"
    yield "hashes alone", of_info(b"6:pieces9000000:" + bytes(9_000_000))
    yield "trackers", b"d13:announce-listl" + b"l9:http://a/e" * 700_000 + b"e" + of_info(b"")[1:]


def parts(*pieces: tuple[str, bytes]) -> bytes:
    return b"".join(b"--b\r\n%b\r\n\r\n%b\r\n" % (words.encode(), content)
                    for words, content in pieces) + b"--b--\r\n"  # fmt: skip


def field(name: str, file: str = "") -> str:
    named = f'; filename="{file}"' if file else ""
    return f'Content-Disposition: form-data; name="{name}"{named}'


def bodies() -> Iterator[tuple[str, bytes]]:
    yield "parts without a name", parts(*[("X: y", b"z")] * 10_000)
    yield "fields of one name", parts(*[(field("path"), b"z")] * 10_000)
    yield "fields", parts(*[(field(f"n{number}"), b"z") for number in range(10_000)])
    yield (
        "more fields than may be",
        parts(*[(field(f"n{number}"), b"z") for number in range(20_000)]),
    )
    yield (
        "fields of 300 letters",
        parts(*[(field(f"n{number}"), b"z" * 300) for number in range(10_000)]),
    )
    yield (
        "names of 300 letters",
        parts(*[(field("n" * 300 + str(number)), b"") for number in range(10_000)]),
    )
    yield "files that nobody asked for", parts(*[(field("x", "x"), b"z")] * 10_000)
    yield "files", parts(*[(field("file", "x"), b"z")] * 10_000)
    yield "torrents of nothing", parts(*[(field("file", "x"), b"d4:infodee")] * 10_000)
    for count in (2, 4, 10):
        yield f"{count} large torrents", parts(*[(field("file", "x"), LARGEST)] * count)
        wrong = LARGEST[:-1] + b"x"
        yield f"{count} cut torrents", parts(*[(field("file", "x"), wrong)] * count)
    coded = field("path") + "\r\nContent-Transfer-Encoding: base64"
    yield "base64", parts((coded, b"QUJD" * 250_000))
    yield "base64 in lines of one", parts((coded, b"Q\r\n" * 300_000))
    yield "a folded head", parts((field("path") + "\r\n ;" * 2_000, b"z"))
    yield "10,000 long heads", parts(*[(field("path") + "; a=b" * 18, b"z")] * 10_000)
    for near in (b"\r\n--b", b"\r\n--b ", b"\r\n", b"\r\n--", b"\r", b"--b\r\n"):
        yield f"nearly the end {near!r}", parts((field("path"), near * (MIB // len(near)) + b"z"))
        words = near + b"x"
        yield f"then more {near!r}", parts((field("x", "x"), words * (9 * MIB // len(words))))
    yield "no end", parts((field("path"), b"z" * 4_000_000))[:-10]
    yield "percent signs", parts(*[(field("%22" * 60), b"z")] * 10_000)
    yield "quotes", parts(*[(field('\\"' * 60), b"z")] * 10_000)


def forms() -> Iterator[tuple[str, bytes]]:
    for what in (
        b"a=b&",
        b"&",
        b"=",
        b"a",
        b"%41",
        b"%",
        b"+",
        b"%ff",
        b"a=%00&",
        b";",
        b"path=/&",
    ):
        for size in (900_000, 2 * MIB):
            yield f"{size} bytes of {what!r}", what * (size // len(what))
    for count in (1_000, 24_000, 26_000):
        yield (
            f"{count} fields",
            b"&".join(b"n%d=%b" % (number, b"x" * 30) for number in range(count)),
        )
    magnet = "magnet:?xt=urn:btih:" + "a" * 40
    for more in ("&tr=http://t/", "&dn=a", "&xt=urn:btih:" + "b" * 40, "&", "&x.pe=1.2.3.4:5"):
        link = magnet + more * (60_000 // len(more))
        yield f"a magnet with {more}", b"magnet=" + quote(link).encode()
    yield "a path of slashes", b"path=" + b"/" * 900_000
    yield "a path of folders", b"path=" + b"/a" * 400_000
    yield "an address", b"url=http://a/" + b"a" * 900_000
    yield "an address of brackets", b"url=http://" + b"[" * 900_000
    yield "an id", b"folder_id=" + b"9" * 900_000


def documents() -> Iterator[tuple[str, bytes]]:
    for piece in (b"[]", b"{}", b"0", b'""', b'{"a":0}', b"[[]]", b"null", b"1e9", b'"\\u0041"'):
        many = b",".join([piece] * (1_000_000 // (len(piece) + 1)))
        yield f"a list of {piece!r}", b'{"path":[' + many + b"]}"
    for key in (b"a", b"a%d", b"\\u0041%d"):
        fields = (b'"%b":0' % (key % number if b"%" in key else key) for number in range(60_000))
        yield f"keys {key!r}", b"{" + b",".join(fields) + b"}"
    for open_ in (b"[", b'{"a":', b'[{"a":'):
        yield f"nothing but {open_!r}", b'{"path":' + open_ * (900_000 // len(open_))
        yield f"900 of {open_!r}", b'{"path":' + open_ * 900
    yield "a number", b'{"folder_id":' + b"9" * 900_000 + b"}"
    yield "a fraction", b'{"folder_id":0.' + b"9" * 900_000 + b"}"
    yield "a text", b'{"path":"' + b"\\ud800" * 160_000 + b'"}'
    yield "blanks", b'{"path":' + b" " * 900_000 + b"0}"
    yield "2 MB", b'{"path":"' + b"x" * 2 * MIB + b'"}'


def selections() -> Iterator[tuple[str, bytes]]:
    """Yield entries to move, copy, or delete, which may take 4 MiB."""
    for count in (9_999, 40_000):
        fields = (
            b"archive_arr[%d][type]=file&archive_arr[%d][id]=%d" % (n, n, n) for n in range(count)
        )
        yield f"{count} entries", b"&".join(fields)
    yield "entries of nothing", b"archive_arr[]=&" * 270_000
    yield "indexes", b"&".join(b"archive_arr[%d]=1" % (n * 9_999) for n in range(99_999))
    yield "types without ids", b"archive_arr[][type]=folder&" * 150_000
    yield "an id", b"archive_arr[0][type]=file&archive_arr[0][id]=" + b"9" * 4_000_000
    for piece in (b"0", b"[]", b"{}", b'{"type":"file","id":1}', b'{"id":1e400}', b'"\\u0041"'):
        many = b"[" + b",".join([piece] * (1_300_000 // (len(piece) + 1))) + b"]"
        yield f"a list of {piece!r}", b"archive_arr=" + quote(many).encode()
    for open_ in (b"[", b'{"a":', b'[{"id":'):
        yield (
            f"nothing but {open_!r}",
            b"archive_arr=" + quote(open_ * (1_300_000 // len(open_))).encode(),
        )


def queries() -> Iterator[tuple[str, str]]:
    yield from ((query, query) for query in ("", "i", "im", "img", "jpg first", "IMG_4", "mg_ 99"))
    for piece in ("a", "a ", "img ", "%", "_", '"', "\\", "*", "' OR 1=1 --", "NEAR(i g)", "\0"):
        yield f"repeated {piece!r}", piece * (2_000 // len(piece))
    # One letter becomes 18, or a letter has a thousand marks.
    for piece in ("\ufdfa", "i\u0307", "\u96fb", "\U0001f600", "\u1e9e", "\u0301"):
        yield f"repeated {piece!a}", piece * 200
    yield "a letter with marks", "i" + "\u0301" * 600
    yield "all digits", " ".join(map(str, range(500)))


CUE = b"00:00:01,000 --> 00:00:02,000\n"
ASS = b"[Script Info]\n[Events]\nFormat: Start, End, Text\n"


SAID = (
    b"x",
    b"<b>" * 300,
    b"&amp;" * 200,
    b"{\\an8}" * 160,
    b"<" * 900,
    b"{" * 900,
    b"<i></b>" * 140,
)


def texts() -> Iterator[tuple[str, bytes]]:
    for what in SAID:
        cue = CUE + what + b"\n\n"
        yield f"words.{len(what)}.srt", cue * (2_000_000 // len(cue))
    yield "arrows.srt", b"-->" * 700_000
    yield "times.srt", CUE * 60_000
    yield "one line.srt", CUE + b"x" * 2_000_000
    yield "dialogues.ass", ASS + b"Dialogue: 0:00:01.00,0:00:02.00,x{\\b1}y\n" * 50_000
    yield "columns.ass", ASS + b"Format: " + b"a," * 900_000 + b"\nDialogue: " + b"," * 900_000
    for what in (b"*", b"[", b"`", b"> ", b"- ", b"|a", b"<", b"!["):
        yield f"{what[0]}.md", what * (200_000 // len(what))
        yield f"lines {what[0]}.md", (what + b"a\n") * (200_000 // (len(what) + 2))
    yield "words.py", b"x = 'a'\n" * 25_000
    yield "quotes.py", b"'" * 200_000
    yield "braces.json", b"{" * 200_000
    yield "table.csv", b'"a",' * 50_000


# Measurements


@dataclass
class Web:
    """A Ferry with one web process, and clients of it."""

    ferry: Ferry
    api: httpx.Client
    person: httpx.Client
    process: Path


@pytest.fixture(scope="module")
def web(tmp_path_factory) -> Iterator[Web]:
    with serving_web(tmp_path_factory.mktemp("cost") / "data") as web:
        yield web


@contextmanager
def serving_web(data_dir: Path) -> Iterator[Web]:
    settings = {"WEB_PROCESSES": "1", "TORRENT_NETWORK": "loopback", "LOG_LEVEL": "ERROR"}
    with running(data_dir, **settings) as ferry:
        ferry.make_owner()
        options = {"base_url": ferry.url, "timeout": 300, "trust_env": False}
        with httpx.Client(**options) as person, httpx.Client(**options) as api:
            sign_in(person)
            ferry.say("account", "password", EMBEDDED, words=f"{PASSWORD}\n")
            api.auth = (EMBEDDED, PASSWORD)
            assert api.get("/rest/user").status_code == 200
            yield Web(ferry, api, person, process_of(ferry, "web"))


def sign_in(person: httpx.Client) -> None:
    page = BeautifulSoup(person.get("/signin/").text, "html.parser")
    token = page.select_one("[name=csrfmiddlewaretoken]")["value"]
    fields = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    assert person.post("/signin/", data=fields).status_code == 302


def process_of(ferry: Ferry, name: str) -> Path:
    """Return the youngest process of this name: the web server answers in a child."""
    names = {each: (each / "comm").read_text() for each in processes_of(ferry)}
    found = [each for each in names if names[each] == f"ferry-{name}\n"]
    return max(found, key=lambda each: int(fields_of(each)[19]))


def fields_of(process: Path) -> list[str]:
    """Return the kernel's fields about the process, beginning with its state."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def cpu_seconds(process: Path) -> float:
    return sum(map(int, fields_of(process)[11:13])) / TICKS


def held_bytes(process: Path) -> int:
    return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seconds_of_largest(web: Web) -> float:
    """Return the CPU seconds that reading the largest torrent takes now."""
    before = cpu_seconds(web.process)
    answer = web.api.post("/rest/torrent/file", files={"file": ("a.torrent", LARGEST)})
    assert answer.status_code == 400
    return cpu_seconds(web.process) - before


class Costs:
    """What each request took of a process; too much is recorded by name."""

    def __init__(self, web: Web, process: Path) -> None:
        self.web = web
        self.process = process
        self.excesses: list[str] = []

    def of(self, what: str) -> Iterator[None]:
        """Run the loop's body, which sends one request; repeat it if the request seemed slow.

        Other work on this machine can only make a request look more expensive.
        """
        for _ in range(MOST_MEASUREMENTS):
            (self.process / "clear_refs").write_text("5")
            before, started = held_bytes(self.process), cpu_seconds(self.process)
            yield
            taken = peak_of(self.process) - before
            seconds = cpu_seconds(self.process) - started
            if taken > MOST_BYTES:
                break
            if seconds <= MOST_SECONDS or seconds <= MOST_OF_LARGEST * seconds_of_largest(self.web):
                return
        self.excesses.append(f"{what}: {taken / MIB:.0f} MB, {seconds:.2f} s")


@pytest.fixture
def costs(web) -> Iterator[Costs]:
    """Measure requests, and check that the process then gives back nearly all memory."""
    costs = Costs(web, web.process)
    before = held_bytes(web.process)
    yield costs
    assert not costs.excesses
    assert held_bytes(web.process) - before < MOST_LEFT_BYTES


# The requests

LEAST = {
    "trees": 36,
    "lists": 20,
    "values": 38,
    "bodies": 28,
    "forms": 30,
    "documents": 20,
    "selections": 15,
    "queries": 25,
    "texts": 30,
}


def test_the_corpus_is_large():
    kinds: dict[str, Callable[[], Iterator[tuple[str, bytes | str]]]] = {
        "trees": trees, "lists": lists, "values": values, "bodies": bodies, "forms": forms,
        "documents": documents, "texts": texts, "selections": selections, "queries": queries,
    }  # fmt: skip
    assert sum(LEAST.values()) >= 200
    assert {name for name in LEAST if len(list(kinds[name]())) < LEAST[name]} == set()


@pytest.mark.parametrize("corpus", [trees, lists, values])
def test_a_hostile_torrent(web, costs, corpus):
    for what, content in corpus():
        for _ in costs.of(what):
            answer = web.api.post("/rest/torrent/file", files={"file": ("a.torrent", content)})
            assert answer.status_code in (200, 400, 402, 413, 507), answer.text
            assert answer.json()["result"] is (answer.status_code == 200)


def test_a_hostile_torrent_through_the_site(web, costs):
    """Two parsers of multipart bodies read it."""
    for what, content in [*trees()][::8] + [*lists()][::8]:
        for _ in costs.of(what):
            answer = web.person.post(
                "/transfers/send/",
                files={"file": ("a.torrent", content)},
                headers={"X-CSRFToken": token_of(web), "HX-Request": "true"},
                follow_redirects=True,
            )
            assert answer.status_code == 200


def token_of(web: Web) -> str:
    page = BeautifulSoup(web.person.get("/add/").text, "html.parser")
    return page.select_one("[name=csrfmiddlewaretoken]")["value"]


def test_a_hostile_multipart_body(web, costs):
    for what, content in bodies():
        for place in ("/rest/folder", "/rest/torrent/file", "/rest/transfer/file"):
            for _ in costs.of(f"{what} at {place}"):
                answer = web.api.post(place, content=content, headers={"Content-Type": MULTIPART})
                assert answer.status_code < 500


def test_a_hostile_form(web, costs):
    for what, content in forms():
        for place in ("/rest/folder", "/rest/transfer/magnet", "/rest/transfer/url"):
            for _ in costs.of(f"{what} at {place}"):
                answer = web.api.post(place, content=content, headers={"Content-Type": FORM})
                assert answer.status_code < 500


def test_hostile_json(web, costs):
    for what, content in documents():
        for _ in costs.of(what):
            headers = {"Content-Type": "application/json"}
            answer = web.api.post("/rest/folder", content=content, headers=headers)
            assert answer.status_code < 500


def test_a_hostile_selection(web, costs):
    for what, content in selections():
        for place in ("/rest/move", "/rest/copy", "/rest/deleted"):
            for _ in costs.of(f"{what} at {place}"):
                answer = web.api.post(place, content=content, headers={"Content-Type": FORM})
                assert answer.status_code < 500


@pytest.fixture
def crowd(web):
    """Put 50,000 files into a folder, whose names most queries match."""
    with closing(Shelf(web.ferry)) as shelf:
        shelf.crowd(50_000)


def test_a_hostile_query(web, crowd, costs):
    for what, query in queries():
        for client, place in ((web.api, "/rest/search"), (web.person, "/search/results/")):
            for _ in costs.of(f"{what} at {place}"):
                assert client.get(place, params={"q": query}).status_code < 500


def test_a_hostile_form_of_the_site(web, costs):
    token = token_of(web)
    for what, content in forms():
        for place in ("/transfers/send/", "/files/0/new/", "/files/0/delete/", "/files/0/move/"):
            for _ in costs.of(f"{what} at {place}"):
                headers = {"Content-Type": FORM, "X-CSRFToken": token}
                answer = web.person.post(place, content=content, headers=headers)
                assert answer.status_code < 500


def test_hostile_subtitles_and_texts(web, costs):
    for name, content in texts():
        made = web.api.post("/rest/transfer/file", files={"file": (name, b" " + content)}).json()
        file = web.api.get(f"/rest/transfer/{made['id']}").json()["file_created"]
        place = f"/files/0/file-1/subtitles/{file}.vtt" if "s" in name[-3:] else ""
        place = place if name.endswith(("srt", "ass")) else f"/files/0/file-{file}/view/"
        for _ in costs.of(name):
            assert web.person.get(place).status_code in (200, 404, 415, 422)


HOSTILE = {
    "deep": lambda: version_2(deep(280, leaves(300_000))),
    "wide": lambda: version_1(LISTED % b"1:a" * 250_000),
    "values": lambda: of_info(b"1:al" + b"le" * 3_000_000 + b"e"),
}


@pytest.fixture(scope="module")
def idle_web(tmp_path_factory) -> Iterator[Web]:
    """Run a Ferry whose worker has nothing else to do: its transfers would count, too."""
    with serving_web(tmp_path_factory.mktemp("idle") / "data") as web:
        yield web


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_torrent_by_address(idle_web, what):
    """The worker reads it."""
    content = HOSTILE[what]()
    costs = Costs(idle_web, process_of(idle_web.ferry, "worker"))

    def give(wire: Wire) -> None:
        wire.send(head("200 OK", Content_Length=str(len(content))), content)

    with serving(give) as server:
        for _ in costs.of(what):
            url = f"http://127.0.0.1:{server.port}/{what}.torrent"
            assert reason_of_failure(idle_web, url) == "not_a_torrent"
    assert not costs.excesses


def reason_of_failure(web: Web, url: str) -> str:
    transfer = web.api.post("/rest/transfer/url", data={"url": url}).json()["id"]
    return str(until(lambda: web.api.get(f"/rest/transfer/{transfer}").json()["reason"]))
