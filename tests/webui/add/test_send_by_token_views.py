"""What scripts do with a token: send, and nothing else."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.webui.add.test_views import TORRENT, magnet, titles
from webui.library.bounds import Bounds
from webui.models import Role, digest_of
from webui.signin import throttle
from webui.tokens import tokens

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(bob):
    return tokens.create(bob.user, "seedbox", timezone.now())


def send(token, form, **headers):
    headers = {"host": "localhost", "authorization": f"Bearer {token}", **headers}
    return Client(enforce_csrf_checks=True).post("/send/", form, headers=headers)


@each_case("field", ["magnet", "url", "text"])
def test_links_are_sent_with_it(token, storage, field):
    answer = send(token, {field: magnet(1)})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert answer.content.decode() == "added: Sintel: Added\n1 added\n"
    assert titles(storage) == ["Sintel"]


def test_a_file_is_sent_with_it(token, storage):
    answer = send(token, {"file": SimpleUploadedFile("a.torrent", TORRENT)})
    assert answer.status_code == 200
    assert titles(storage) == ["a.mkv"]


def test_clients_that_accept_json_get_json(token, storage):
    answer = send(token, {"text": f"{magnet(1)}\nnothing"}, accept="application/json")
    assert answer.status_code == 422
    assert [item["outcome"] for item in answer.json()["items"]] == ["added", "unreadable"]


def test_nothing_is_refused_in_words(token, storage):
    answer = send(token, {})
    assert answer.status_code == 422
    assert b"Paste a link" in answer.content


@each_case("header", ["", "Bearer ", "Bearer ferry_guess", "Basic Ym9iOng="])
def test_without_a_session_nothing_is_read_and_no_redirect_is_sent(storage, header):
    answer = Client().post(
        "/send/", {"text": magnet(1)}, headers={"host": "localhost", "authorization": header}
    )
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert titles(storage) == []


def test_a_cookie_opens_nothing_there(alice, storage):
    assert alice.client.post("/send/", {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_no_session_is_begun_or_read(token, storage):
    answer = send(token, {"text": magnet(1)})
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")


def test_a_token_of_an_earlier_version_sends(bob, storage):
    """Its row has none of the columns that came later."""
    token = f"ferry_{'x' * 43}"
    columns = "user_id, name, digest, created_at"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO webui_sendtoken ({columns}) VALUES (%s, %s, %s, %s)",
            [bob.user.pk, "old", digest_of(token), timezone.now()],
        )
    assert send(token, {"text": magnet(1)}).status_code == 200
    headers = {"host": "localhost", "authorization": f"Bearer {token}"}
    assert Client().generic("PROPFIND", "/dav/", headers=headers).status_code == 403


def test_a_token_limited_to_a_folder_sends_there_whatever_the_form_says(bob, storage):
    films = storage.folder("Films")
    token = tokens.create(
        *(bob.user, "films", timezone.now()),
        service=storage.service.key,
        bounds=Bounds(str(films.id), "Films"),
    )
    answer = send(token, {"magnet": magnet(1), "folder": str(storage.folder("Other").id)})
    assert answer.status_code == 200
    (transfer,) = storage.fake.transfers.values()
    assert transfer.folder == films.id


def test_a_token_opens_no_other_page(token):
    headers = {"host": "localhost", "authorization": f"Bearer {token}"}
    assert Client().get("/", headers=headers).status_code == 302
    assert Client().get("/rest/folder", headers=headers).status_code == 403


def test_the_role_of_a_tokens_owner_is_checked_at_each_use(bob, token, storage):
    bob.user.role = Role.GUEST
    bob.user.save()
    assert send(token, {"text": magnet(1)}).status_code == 403
    bob.user.role, bob.user.is_active = Role.MEMBER, False
    bob.user.save()
    assert send(token, {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_guesses_are_slowed_down_and_lock_no_one_out(token, storage, clock):
    answers = [send("ferry_guess", {}) for _try in range(throttle.FREE_BY_NETWORK + 1)]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) > 0
    assert send(token, {"text": magnet(1)}).status_code == 200


def test_names_obey_no_terminal(token, storage):
    answer = send(token, {"text": magnet(1, "a%1B%5B2Jb%E2%80%AEc")})
    assert answer.content.decode().startswith("added: a?[2Jb?c: Added")


def test_an_unreachable_service_is_reported_with_the_remaining_entries(token, storage):
    storage.fails("/rest/transfer/magnet", 503)
    answer = send(token, {"text": f"{magnet(1)}\n{magnet(2)}"})
    assert answer.status_code == 422
    assert f"left: {magnet(2)}" in answer.content.decode()
