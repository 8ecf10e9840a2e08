"""Media hosts over real sockets: what Ferry sends them, and which it never connects to."""

import secrets
from collections.abc import Iterator

import pytest

from tests.webui.contents.test_relayed_files import leave
from tests.webui.media_host import Host, listening
from tests.webui.service import EMAIL, IMPATIENT, PASSWORD
from tests.webui.streams.test_streams import address_of, below, lines
from webui.connection import connection
from webui.connection.address_policy import LinkPolicy
from webui.connection.connection import Service
from webui.v1.client import Client
from webui.v1.network.address import Credentials

pytestmark = pytest.mark.django_db


@pytest.fixture
def hosts(monkeypatch) -> Iterator[tuple[Host, Host]]:
    """The service, and a media host at another port of the same machine. `may_follow` accepts every
    link, so that only the check of the connected address counts."""
    with listening() as service, listening() as media:
        client = Client(
            service.url,
            Credentials(EMAIL, PASSWORD),
            may_follow=lambda _url: True,
            may_connect=LinkPolicy(service.url, []).may_connect,
            patience=IMPATIENT,
        )
        found = Service(secrets.token_hex(8), client, is_embedded=False)
        # SERVICE_URL would lead there too, but with a `may_follow` that doesn't accept every link.
        monkeypatch.setattr(connection, "_service_at", lambda _place: found)
        yield service, media
        client.close()


def test_another_port_of_the_same_machine_is_sent_no_credentials(gwen, hosts):
    service, media = hosts
    service.files["/rest/file/7/hls"] = f"{media.url}/film.m3u8"
    media.files = {"/film.m3u8": "#EXTM3U\n#EXTINF:1,\none.ts\n", "/one.ts": "one"}
    address = address_of(gwen, 7)
    answer = gwen.client.get(below(address, lines(gwen.client.get(address))[2]))
    assert b"".join(answer.streaming_content) == b"one"
    leave(answer)
    assert "authorization" in dict(service.requests)["/rest/file/7/hls"]
    assert [path for path, _headers in media.requests] == ["/film.m3u8", "/one.ts"]
    for _path, headers in media.requests:
        assert set(headers) <= {"host", "accept", "accept-encoding", "connection", "user-agent"}


@pytest.mark.parametrize("path", ["/rest/file/7/hls", "/film.m3u8", "/one.ts"])
def test_a_name_that_means_this_machine_is_never_connected_to(gwen, hosts, path):
    """Whichever request redirects there: for the film, for its playlist, or for a segment."""
    service, media = hosts
    inside = media.url.replace("127.0.0.1", "localhost") + "/secret"
    service.files = {
        "/rest/file/7/hls": f"{service.url}/film.m3u8",
        "/film.m3u8": "#EXTM3U\n#EXTINF:1,\none.ts\n",
        "/one.ts": "one",
    } | {path: inside}
    address = address_of(gwen, 7)
    answer = gwen.client.get(address)
    if path == "/one.ts":
        answer = gwen.client.get(below(address, lines(answer)[2]))
    assert answer.status_code == 502
    assert not media.requests
