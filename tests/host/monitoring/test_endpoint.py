import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from django.test import override_settings
from prometheus_client.parser import text_string_to_metric_families as families

from host import monitoring
from tests import tools
from tests.running import BASE, PASSWORD, STOP_SECONDS, Ferry, running
from tests.service.api.serving import add_account
from tests.service.working import until, until_state
from tests.swarm import WebSeed, serving_http

TOKEN = "a-token-of-the-tests"
EMAIL = "dora@example.org"
CONTENT = bytes(range(256)) * 32_000


@pytest.mark.django_db
def test_metrics_require_their_own_token(client):
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
        assert client.get("/metrics", headers=headers).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "é"])
def test_another_token_opens_nothing(client, settings, sent):
    settings.METRICS_TOKEN = TOKEN
    answer = client.get("/metrics", headers={"Authorization": sent})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.content == b""


@contextmanager
def monitored(data_dir: Path, **settings: str) -> Iterator[Ferry]:
    """Run Ferry, and remove what it leaves in /dev/shm until its next start."""
    try:
        with running(data_dir, METRICS_TOKEN=TOKEN, WEB_PROCESSES="2", **settings) as ferry:
            yield ferry
    finally:
        with override_settings(DATA_DIR=data_dir):
            shutil.rmtree(monitoring.folder())


@pytest.fixture(scope="module")
def ferry(tmp_path_factory) -> Iterator[Ferry]:
    with monitored(tmp_path_factory.mktemp("monitored")) as ferry:
        add_account(ferry, EMAIL, PASSWORD)
        yield ferry


def text_of(ferry: Ferry) -> str:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.get(f"{ferry.url}/metrics", headers=headers, timeout=60, trust_env=False)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return answer.text


def values_of(ferry: Ferry, name: str) -> dict[tuple[str, ...], float]:
    samples = [sample for family in families(text_of(ferry)) for sample in family.samples]
    return {tuple(each.labels.values()): each.value for each in samples if each.name == name}


def api_of(ferry: Ferry) -> httpx.Client:
    return httpx.Client(base_url=ferry.url, auth=(EMAIL, PASSWORD), timeout=60, trust_env=False)


def test_requests_are_counted_in_all_web_processes_together(ferry):
    for _each in range(20):
        # A new connection each time: either process may accept it.
        assert httpx.get(f"{ferry.url}/signin/", timeout=60, trust_env=False).status_code == 200
    httpx.request("BREW", f"{ferry.url}/nowhere", timeout=60, trust_env=False)
    counts = values_of(ferry, "ferry_requests_total")
    assert counts["GET", "signin/", "200"] == 20
    assert counts["other", "none", "404"] == 1
    assert values_of(ferry, "ferry_request_duration_seconds_count")["signin/",] == 20
    assert values_of(ferry, "ferry_connections")[()] >= 1


def test_bytes_are_those_that_went_over_the_wire(ferry):
    """A second reader leaves early: the kernel was to send all of the file."""
    with api_of(ferry) as api:
        before = traffic_of(ferry)
        added = api.post("/rest/transfer/file", files={"file": ("a.bin", CONTENT)}).json()
        file_id = api.get(f"/rest/transfer/{added['id']}").json()["file_created"]
        link = api.get(f"/rest/file/{file_id}").headers["Location"]
        assert api.get(link).content == CONTENT
    first = traffic_of(ferry)
    for now, then in zip(first, before, strict=True):
        assert len(CONTENT) < now - then < len(CONTENT) + 50_000
    leave_early(ferry, link)
    sent = until(lambda: (now := traffic_of(ferry)[1] - first[1]) > 64_000 and now)
    assert sent < len(CONTENT) / 2


def traffic_of(ferry: Ferry) -> list[float]:
    names = ("ferry_received_bytes_total", "ferry_sent_bytes_total")
    return [sum(values_of(ferry, name).values()) for name in names]


def leave_early(ferry: Ferry, link: str) -> None:
    place = urlsplit(link)
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64_000)
        reader.connect(("127.0.0.1", ferry.port))
        head = f"GET {place.path}?{place.query} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        reader.sendall(head.encode())
        assert b"200 OK" in reader.recv(1024)


def test_the_counts_of_worker_and_web_processes_add_up(ferry, tmp_path):
    (tmp_path / "song.flac").write_bytes(CONTENT)
    with serving_http(WebSeed(folder=tmp_path)) as web, api_of(ferry) as api:
        ids = [
            api.post("/rest/transfer/url", data={"url": f"{web.url}/{name}"}).json()["id"]
            for name in ("song.flac", "missing.flac")
        ]
        until_state(api, ids[0], "done")
        until(lambda: api.get(f"/rest/transfer/{ids[1]}").json()["state"] == "failed")
    until(
        lambda: values_of(ferry, "ferry_transfers_ended_total").keys() == {("done",), ("failed",)}
    )
    states = values_of(ferry, "ferry_transfers")
    assert states["failed",] == 1
    assert states["queued",] == 0
    assert ("done",) not in states
    assert values_of(ferry, "ferry_ready")["worker",] == 1
    assert values_of(ferry, "ferry_workers")[()] == 1
    # The site asks its service whether it is ready.
    assert values_of(ferry, "ferry_service_call_duration_seconds_count")["ok",] >= 1
    assert sum(values_of(ferry, "ferry_database_query_duration_seconds_count").values()) > 10


def test_the_metrics_pass_prometheus_own_check(ferry):
    promtool = tools.program("promtool")
    check = subprocess.run(
        [promtool, "check", "metrics"],
        input=text_of(ferry),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")


@pytest.mark.slow
def test_a_restart_drops_the_metrics_of_ended_processes(tmp_path):
    with monitored(tmp_path) as ferry:
        assert sign_ins_seen_by(ferry) == 1
        ferry.process.send_signal(signal.SIGINT)
        ferry.process.wait(STOP_SECONDS)
        with running(tmp_path, METRICS_TOKEN=TOKEN) as again:
            assert sign_ins_seen_by(again) == 1


def sign_ins_seen_by(ferry: Ferry) -> float:
    httpx.get(f"{ferry.url}/signin/", timeout=60, trust_env=False)
    return values_of(ferry, "ferry_requests_total")["GET", "signin/", "200"]


def test_a_folder_in_memory_that_someone_else_made_is_not_used(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    ours = monitoring.folder()
    ours.rmdir()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    ours.symlink_to(theirs)
    try:
        assert monitoring.folder() == tmp_path / "metrics"
    finally:
        ours.unlink()


def test_the_document_and_the_dashboard_know_every_metric_and_no_other():
    code = "".join(path.read_text() for path in (BASE / "host/monitoring").glob("*.py"))
    names = set(METRIC.findall(code))
    document = (BASE / "docs/operations.md").read_text()
    rows = document.split("\n## Metrics\n")[1].split("\n## ")[0]
    assert set(METRIC.findall(rows)) == names
    dashboard = (BASE / "docs/monitoring/grafana.json").read_text()
    shown = {name.removesuffix("_bucket") for name in METRIC.findall(dashboard)}
    assert shown <= names
    assert len(shown) > 10


METRIC = re.compile(r"\bferry_[a-z_]+")
