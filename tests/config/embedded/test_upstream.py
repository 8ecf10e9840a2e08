import json
import tracemalloc

import httpx
import pytest
from django.conf import settings as ours
from django.core.signals import request_finished, request_started
from django.db import connection, transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.urls import get_script_prefix, path, reverse, set_script_prefix
from django.utils import timezone, translation

from config.embedded import upstream
from service.accounts import accounts, credentials
from service.content import signed_links
from service.store.blobs import library_store
from tests.service.builders import a_file, alice, put
from tests.service.reading import reader
from tests.zeros import Zeros

MIB = 2**20
seen = {}


def echo(request):
    translation.activate("de")
    set_script_prefix("/elsewhere/")
    facts = {name: str(value) for name, value in request.META.items()}
    facts |= {"address": request.build_absolute_uri(reverse("echo"))}
    return HttpResponse(json.dumps(facts), headers={"X-One": "1"})


def measure(request):
    total, most = 0, 0
    while part := request.read(64 * 1024):
        total, most = total + len(part), max(most, len(part))
    return HttpResponse(f"{total} {most}")


def whole(request):
    return HttpResponse(request.body)


def away(request):
    return HttpResponse(status=302, headers={"Location": "/echo"})


def long(request):
    def pieces():
        try:
            for number in range(10**9):
                seen["pieces"] = number
                yield b"x" * 1000
        finally:
            seen["closed"] = translation.get_language()

    translation.activate("fr")
    return StreamingHttpResponse(pieces())


def breaks_off(request):
    def pieces():
        yield b"half"
        raise RuntimeError("tide")

    return StreamingHttpResponse(pieces(), headers={"Content-Length": "8"})


def broken(request):
    raise RuntimeError("tide")


urlpatterns = [
    path(view.__name__, view, name=view.__name__)
    for view in (echo, measure, whole, away, long, breaks_off, broken)
]


@pytest.fixture
def v1(settings):
    settings.ROOT_URLCONF = __name__
    seen.clear()
    with reader() as client:
        yield client


def test_the_service_sees_what_was_sent(v1):
    facts = v1.get("/echo?q=a%20b&q=%C3%A9", headers={"Range": "bytes=0-", "Accept": "x/y"}).json()
    assert facts["REQUEST_METHOD"] == "GET"
    assert facts["QUERY_STRING"] == "q=a%20b&q=%C3%A9"
    assert (facts["HTTP_RANGE"], facts["HTTP_ACCEPT"]) == ("bytes=0-", "x/y")


def test_a_body_arrives_with_its_length_and_type(v1):
    assert v1.post("/whole", data={"a": "b c"}).text == "a=b+c"
    facts = v1.post("/echo", data={"a": "b c"}).json()
    assert facts["CONTENT_LENGTH"] == "5"
    assert facts["CONTENT_TYPE"] == "application/x-www-form-urlencoded"


def test_it_speaks_for_the_outer_request(settings):
    settings.ROOT_URLCONF, settings.URL_PREFIX = __name__, "/home/ferry"
    outer = RequestFactory().get(
        "/", secure=True, headers={"host": "phone.lan:8443"}, REMOTE_ADDR="192.168.1.7"
    )
    settings.TRUSTED_HOSTS = ["phone.lan"]
    settings.ALLOWED_HOSTS = ["*"]
    with httpx.Client(transport=upstream.transport(outer), base_url=upstream.URL) as client:
        for place in ("/echo", "/home/ferry/echo", "http://localhost//echo"):
            facts = client.get(place).json()
            assert facts["REMOTE_ADDR"] == "192.168.1.7"
            assert facts["address"] == "https://phone.lan:8443/elsewhere/echo"
            assert facts["SCRIPT_NAME"] == "/home/ferry"


def test_headers_that_speak_of_proxies_are_not_believed(v1, settings):
    settings.TRUSTED_PROXIES = []
    facts = v1.get("/echo", headers={"X-Forwarded-For": "8.8.8.8", "X_Forwarded_Host": "x"}).json()
    assert facts["REMOTE_ADDR"] == "127.0.0.1"
    assert "8.8.8.8" not in facts.values()


def test_the_outer_request_keeps_its_language_and_prefix(v1):
    set_script_prefix("/outer/")
    try:
        with translation.override("en"):
            answer = v1.get("/echo")
            assert answer.headers["X-One"] == "1"
            assert (translation.get_language(), get_script_prefix()) == ("en", "/outer/")
            with v1.stream("GET", "/long") as streamed:
                next(streamed.iter_raw())
                assert translation.get_language() == "en"
    finally:
        set_script_prefix("/")
    assert seen["closed"] == "fr"


@pytest.mark.django_db(transaction=True)
def test_the_outer_request_keeps_its_database_connection(v1, settings):
    """The connection is so old that the signals around a Django request would close it."""
    heard = []
    connection.ensure_connection()
    before, connection.close_at = connection.connection, 0
    for signal in (request_started, request_finished):
        signal.connect(heard.append, weak=False, dispatch_uid="heard")
    try:
        v1.get("/echo")
        with v1.stream("GET", "/long"):
            pass
        assert connection.connection is before
        assert not heard
    finally:
        connection.close_at = None
        for signal in (request_started, request_finished):
            signal.disconnect(dispatch_uid="heard")


@pytest.mark.django_db
def test_inside_a_transaction_it_refuses(v1):
    assert v1.get("/echo").status_code == 200
    with transaction.atomic(), pytest.raises(RuntimeError, match="atomic"):
        v1.get("/echo")


def test_a_response_is_streamed_and_stops_when_the_client_leaves(v1):
    with v1.stream("GET", "/long") as answer:
        pieces = answer.iter_raw()
        assert len(next(pieces)) == 1000
    assert seen["pieces"] < 3
    assert "closed" in seen


def test_an_answer_that_breaks_off_is_a_read_error(v1):
    with v1.stream("GET", "/breaks_off") as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"half"
        with pytest.raises(httpx.ReadError):
            next(pieces)


def test_a_redirect_is_an_answer(v1):
    answer = v1.get("/away")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/echo")


def test_head_has_no_body(v1):
    answer = v1.head("/echo")
    assert answer.content == b""
    assert int(answer.headers["Content-Length"]) > 0


def test_trouble_inside_is_json(v1):
    answer = v1.get("/broken")
    assert answer.status_code == 500
    assert answer.json()["reason_phrase"] == "internal_error"
    assert v1.get("/nowhere").json()["reason_phrase"] == "not_found"


def test_an_upload_costs_a_few_blocks_of_memory(v1):
    tracemalloc.start()
    try:
        answer = v1.post("/measure", files={"file": Zeros(64 * MIB)})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    total, most = map(int, answer.text.split())
    assert (total > 64 * MIB, most) == (True, 64 * 1024)
    assert peak < 4 * MIB


@pytest.mark.django_db
def test_the_sites_key_opens_the_embedded_account():
    accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
    email, secret = upstream.credentials()
    account = credentials.verify(email, secret, "127.0.0.1", timezone.now())
    assert account.email == upstream.EMBEDDED_ACCOUNT
    assert ours.SECRET_KEY not in secret


@pytest.mark.django_db
def test_content_is_read_through_it_too(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    account = alice()
    file = a_file(account, blob=put(library_store(), b"content"))
    with reader() as client:
        answer = client.get(signed_links.file_link(account, file, now=timezone.now()))
    assert answer.content == b"content"
