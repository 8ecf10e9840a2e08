"""Search in a million names, as someone types, beside copyparty's indexed search."""

import json
import random
import re
import secrets
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median, quantiles

import httpx
from django.db import connection
from django.utils import timezone

from config.embedded import upstream
from host import preparation
from lab.bench.archives import copyparty
from lab.bench.browser import PASSWORD, Browser, make_owner, signed_in
from lab.bench.harness import Row, peer, running_peer
from service.accounts import accounts
from service.library import bulk_insert, library
from service.library.bulk_insert import NewFile
from service.models import Account, File
from service.store.sums import Stored
from tests.running import BASE
from tests.serving import serving

FOLDERS, FILES = 1_000, 1_000
SEARCHES = 60
TOO_SOON = 429
PROGRAM = (upstream.EMBEDDED_ACCOUNT, PASSWORD)
# Words of five languages, from a text that everyone has who runs the benchmark.
TEXTS = [*BASE.glob("docs/*.md"), *BASE.glob("webui/locale/*/LC_MESSAGES/django.po")]
WORDS = re.compile(r"[^\W\d_]{3,}")


def rows(home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    owner = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    dice = random.Random(7)
    names = [list(names_in(number, dice)) for number in range(FOLDERS)]
    for number, inside in enumerate(names):
        files = [NewFile((name,), no_blob()) for name in inside]
        bulk_insert.insert_tree(owner, 0, f"Folder {number}", files, timezone.now())
    sought = dice.sample([name for inside in names for name in inside], SEARCHES)
    typings = [typing for name in sought for typing in typings_of(name, dice)]
    with serving() as server:
        ferry = signed_in(server.url)
        taken, sizes = zip(*(timed(ferry, query) for query in typings), strict=True)
        name = "search as one types, a million names, p95"
        p95 = quantiles(taken, n=20)[-1]
        yield Row(name, p95, " ms", at_most=30, raw={"ferry": [*taken]})
        yield Row("its largest response", max(sizes) / 1000, " KB", at_most=20)
        yield Row("a renamed file is found within", renamed(ferry, owner), " s", at_most=1)
        yield Row("index of search, for each file", index_bytes(), " bytes", at_most=200)
        accounts.set_password(owner, PASSWORD)
        yield from beside_copyparty(server.url, names, typings, home / "search")


def names_in(folder: int, dice: random.Random) -> Iterator[str]:
    """Yield names like those of films, photos, songs, and documents, each once."""
    for number in range(FILES):
        some, mark = dice.sample(words(), dice.randint(1, 4)), f"{folder:03}{number:03}"
        yield dice.choice(
            [
                f"{'.'.join(some)}.S{folder % 9:02}E{number:03}.1080p.{mark}.mkv",
                f"IMG_{dice.randint(2009, 2026)}{dice.randint(101, 1231):04}_{mark}.jpg",
                f"{number % 20:02} - {' '.join(some)} {mark}.flac",
                f"{' '.join(some)} {mark}.pdf",
            ]
        )


@cache
def words() -> list[str]:
    return sorted({word for text in TEXTS for word in WORDS.findall(text.read_text())})


def no_blob() -> Stored:
    """Return what search never reads."""
    return Stored(secrets.token_hex(16), 1_000, secrets.token_hex(20), 0)


def typings_of(name: str, dice: random.Random) -> Iterator[str]:
    """Yield the content of the field, letter by letter, while someone types a word of a name."""
    word = dice.choice(re.findall(r"\w+", name.lower()))
    for end in range(2, min(len(word), 10) + 1):
        yield word[:end]


def timed(ferry: Browser, query: str) -> tuple[float, int]:
    path = str(httpx.URL("/search/results/", params={"q": query}))
    started = time.perf_counter()
    body = ferry.page(path, HX_Request="true")
    return 1000 * (time.perf_counter() - started), len(body)


def renamed(ferry: Browser, owner: Account) -> float:
    file = File.objects.filter(account=owner).order_by("pk")[0]
    started = time.perf_counter()
    library.rename_file(owner, file.pk, "somewhere over the rainbow.mkv", timezone.now())
    assert b"somewhere" in ferry.page("/search/results/?q=rainbow+somewh", HX_Request="true")
    return time.perf_counter() - started


def index_bytes() -> float:
    """Return the bytes that the index and the texts in it take, for each file."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(length(block)) FROM service_file_search_data")
        (index,) = cursor.fetchone()
        cursor.execute("SELECT sum(length(CAST(search_text AS BLOB))), count(*) FROM service_file")
        texts, count = cursor.fetchone()
    return float((index + texts) / count)


def beside_copyparty(
    url: str, names: list[list[str]], typings: list[str], twin: Path
) -> Iterator[Row]:
    """Compare what both send to programs: twenty matches as JSON."""
    program = peer("copyparty")
    if program is None:
        yield Row("search over v1, of copyparty's", None, missing="copyparty")
        return
    for number, inside in enumerate(names):
        folder = twin / f"Folder {number}"
        folder.mkdir(parents=True)
        for each in inside:
            (folder / each).touch()
    command, port = copyparty(program, twin)
    command += ["-e2d", "--no-hash", "."]
    subprocess.run([*command, "-e2ds", "--exit", "idx"], check=True, stdout=subprocess.DEVNULL)
    some = typings[:: max(len(typings) // SEARCHES, 1)]
    with (
        running_peer(command, port) as party_url,
        httpx.Client(base_url=party_url, timeout=60, trust_env=False) as party,
        httpx.Client(base_url=url, auth=PROGRAM, timeout=60, trust_env=False) as v1,
    ):
        taken = [(of_ferry(v1, query), of_copyparty(party, query)) for query in some]
    ours, theirs = ([*each] for each in zip(*taken, strict=True))
    raw = {"ferry": ours, "copyparty": theirs}
    name, ratio = "search over v1, of copyparty's", median(ours) / median(theirs)
    yield Row(name, ratio, at_most=1, relative="time", raw=raw)
    ratio = quantiles(ours, n=20)[-1] / quantiles(theirs, n=20)[-1]
    yield Row("the same, p95", ratio, at_most=1, relative="time")


def of_ferry(v1: httpx.Client, query: str) -> float:
    started = time.perf_counter()
    answer = v1.get("/rest/search", params={"q": query, "limit": 20}).raise_for_status()
    spent = time.perf_counter() - started
    assert answer.json()["files"], query
    return 1000 * spent


def of_copyparty(party: httpx.Client, query: str) -> float:
    """Search as its page does. It refuses a search that comes soon after a slow one."""
    body = json.dumps({"q": f"name like *{query}*", "n": 20})
    while True:
        started = time.perf_counter()
        answer = party.post("/?srch", content=body, headers={"Content-Type": "text/plain"})
        spent = time.perf_counter() - started
        if answer.status_code != TOO_SOON:
            assert answer.raise_for_status().json()["hits"], query
            return 1000 * spent
