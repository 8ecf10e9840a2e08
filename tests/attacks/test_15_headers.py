"""Row 15: nothing sent from outside, and no name of a file, becomes a header of ours.

No path for nginx contains a name: blobs have names of 32 hex digits below one folder for all
accounts. So no path needs escaping, and there are no twins such as /data/u1 and /data/u10.
"""

import re
import subprocess
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings as ours
from django.test import Client
from django.utils import timezone

from service.content import archive_plans, signed_links
from service.models import File
from service.store.blobs import library_store
from tests.cases import each_case
from tests.people import PASSWORD
from tests.running import free_port
from tests.service.builders import a_file, alice, put
from tests.service.reading import browser_gets, reader
from tests.serving import serving
from tests.tools import program
from tests.webui.contents.test_relayed_files import leave

pytestmark = pytest.mark.django_db
HOSTILE = ["a\r\nSet-Cookie: mallory=1", 'a"; b', "😀" * 40, "x" * 1000, "a\u202egpj.exe"]


@each_case("text", HOSTILE)
def test_the_next_parameter_cannot_add_headers(alice, text):
    browser = Client(headers={"host": "localhost"})
    form = {"username": "alice", "password": PASSWORD, "next": f"/account/?q={text}"}
    answer = browser.post("/signin/", form)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/")
    assert not set("\r\n\u202e") & set(answer["Location"])
    assert "mallory" not in answer.cookies


@each_case("text", HOSTILE)
def test_a_theme_cannot_add_headers(client, text):
    answer = client.post("/account/look/", {"theme": text})
    assert answer.cookies["ferry_theme_8000"].value == "system"


NAMES = [*HOSTILE, "a\x00b", "a\x85b\u2028c", "..", "con", "%0d%0aX: 1", "\ud800.txt", "?e=1&s=x#y"]


@each_case("name", NAMES)
def test_a_files_name_cannot_add_headers(name, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    account = alice()
    file = a_file(account, blob=put(library_store(), b"content"))
    # As if an older version had accepted the name.
    file.name = name
    link = signed_links.file_link(account, file, now=timezone.now())
    File.objects.filter(pk=file.pk).update(name=name.encode(errors="replace").decode())
    with reader() as client:
        for path in (
            link,
            archive_plans.create_link(account, [], [file.pk], name, now=timezone.now()),
        ):
            answer = client.get(path)
            assert answer.status_code == 200
            value = answer.headers["Content-Disposition"]
            assert value.isascii()
            assert value.isprintable()
            assert value.count('"') == 2
            assert value.startswith('attachment; filename="')
            assert not {"Set-Cookie", "X"} & set(answer.headers)


@each_case("name", [*HOSTILE, "../../x", "x\\..\\y"])
def test_the_name_in_a_zip_links_path_cannot_add_headers(name, tmp_path, settings):
    """It isn't signed: anyone with the link may change it."""
    settings.DATA_DIR = tmp_path
    link = archive_plans.create_link(alice(), [0], [], "Files", now=timezone.now())
    path, query = link.split("?")
    with reader() as client:
        answer = client.get(f"{path.rpartition('/')[0]}/{quote(name, safe='')}?{query}")
    if "\n" in name:
        assert answer.status_code == 404
        return
    assert answer.headers["Content-Disposition"].isprintable()
    assert answer.headers["Content-Disposition"].count('"') == 2
    assert '.zip"' in answer.headers["Content-Disposition"]


NGINX = """
user {user}; daemon off; worker_processes 1; pid {home}/pid; error_log {home}/error;
events {{ }}
http {{
  access_log off; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/a; uwsgi_temp_path {home}/b; scgi_temp_path {home}/c;
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{behind}; proxy_set_header Host localhost; }}
    location /ferry-accel/library/blobs/ {{
      internal;
      alias {data}/library/blobs/;
      add_header Content-Security-Policy $upstream_http_content_security_policy always;
      add_header X-Content-Type-Options nosniff always;
      add_header Referrer-Policy no-referrer always;
      add_header Cross-Origin-Resource-Policy same-origin always;
    }}
  }}
}}
"""


@contextmanager
def nginx(home: Path, behind: int):
    port = free_port()
    config = home / "nginx.conf"
    facts = {"home": home, "port": port, "behind": behind, "data": ours.DATA_DIR, "user": getuser()}
    config.write_text(NGINX.format(**facts))
    command = [program("nginx"), "-c", str(config), "-e", str(home / "error")]
    process = subprocess.Popen(command)
    try:
        transport = httpx.HTTPTransport(retries=5)
        base_url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=base_url, transport=transport, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_nginx_sends_only_the_files_that_ferry_names(tmp_path):
    account = alice()
    content = bytes(range(256)) * 4000
    file = a_file(account, 'a"?%2e\u202e.html', blob=put(library_store(), content))
    link = signed_links.file_link(account, file, now=timezone.now())
    with serving(ACCEL="nginx") as server, nginx(tmp_path, server.port) as client:
        answer = client.get(link)
        assert (answer.status_code, answer.content) == (200, content)
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        assert "X-Accel-Redirect" not in answer.headers
        tag = answer.headers["ETag"]
        part = client.get(link, headers={"Range": "bytes=5-9", "If-Range": tag})
        assert (part.status_code, part.content) == (206, content[5:10])
        assert client.get(link, headers={"If-None-Match": tag}).status_code == 304
        assert client.head(link).headers["Content-Length"] == str(len(content))
        assert client.get(link.replace("s=", "s=x")).status_code == 403
        inside = library_store().path(file.blob).relative_to(ours.DATA_DIR).as_posix()
        for path in (
            inside,
            f"{inside}/../../../../secret_key",
            f"{inside}%00",
            f"%2e%2e/{inside}",
        ):
            assert client.get(f"/ferry-accel/{path}").status_code in (400, 404)


@each_case("name", NAMES)
@each_case("manner", ['attachment; filename="%s"', "inline; filename*=UTF-8''%s"])
def test_a_name_that_a_foreign_service_sends_cannot_add_headers(gwen, foreign, name, manner):
    file = foreign.file("good.bin", b"content")
    disposition = (manner % (quote(name, errors="replace") if "*" in manner else name)).encode(
        errors="replace"
    )
    headers = [("Content-Disposition", disposition), ("Set-Cookie", "mallory=1"), ("X-Evil", "1")]
    foreign.says(
        f"/rest/file/{file.id}",
        httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"content")),
    )
    answer = gwen.client.get(f"/files/file/{file.id}/download/")
    assert b"".join(answer) == b"content"
    value = answer["Content-Disposition"]
    assert value.isascii()
    assert value.isprintable()
    assert value.count('"') == 2
    assert value.startswith('attachment; filename="')
    assert not {"X-Evil", "X"} & set(answer.headers)
    assert "mallory" not in answer.cookies
    leave(answer)


def test_the_path_for_nginx_has_only_hex_digits_of_an_upload(tmp_path, settings):
    settings.DATA_DIR, settings.ACCEL = tmp_path, "nginx"
    account = alice()
    for number, name in enumerate(NAMES):
        file = a_file(account, f"{number}", blob=put(library_store(), b"%d" % number))
        File.objects.filter(pk=file.pk).update(name=name.encode(errors="replace").decode())
        answer = browser_gets(signed_links.file_link(account, file, now=timezone.now()))
        path = answer.headers["X-Accel-Redirect"]
        assert re.fullmatch(r"/ferry-accel/library/blobs/[0-9a-f/]+", path)
