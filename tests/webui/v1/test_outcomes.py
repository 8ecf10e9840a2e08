"""A failure knows whether the service may have made the change, whatever it answered."""

import io
from dataclasses import replace

import httpx
import pytest

from tests import misbehaving
from tests.cases import each_case
from tests.certificates import self_signed
from tests.misbehaving import answers, resetting, serving, then_silent, whole
from tests.webui.v1.fakes import page, refuses, says, service
from tests.webui.v1.test_misbehaving import DEADLINE_SECONDS, HURRIED, PATIENT, client_of
from webui.v1 import errors

CHANGES = {
    "create": lambda client: client.create_folder("a"),
    "rename a folder": lambda client: client.rename_folder("7", "a"),
    "rename a file": lambda client: client.rename_file("7", "a"),
    "delete a folder": lambda client: client.delete_folder("7"),
    "delete a file": lambda client: client.delete_file("7"),
    "delete a transfer": lambda client: client.delete_transfer("7"),
    "add a magnet": lambda client: client.add_magnet("magnet:?xt=1"),
    "add an address": lambda client: client.add_url("https://a/b"),
    "add a file": lambda client: client.add_file("a", io.BytesIO(b"12"), 2),
}
QUESTIONS = {
    "list": lambda client: client.listing(),
    "list transfers": lambda client: client.transfers(),
    "account": lambda client: client.account(),
}
UNKNOWN = {
    "a page": page(),
    "a redirect": page(302, Location="/"),
    "500": page(500),
    "500 of its own": refuses(500, "no_connection"),
    "502": page(502),
    "504": page(504),
    "a failure in the body": says({"result": False, "code": 500}),
    "a cut body": httpx.RemoteProtocolError("peer closed connection"),
    "no response": httpx.RemoteProtocolError("Server disconnected without sending a response."),
    "no response in time": httpx.ReadTimeout("timed out"),
    "a request sent in part": httpx.WriteTimeout("timed out"),
    "a reset": httpx.ReadError("reset"),
}
NOTHING = {
    "401": page(401),
    "403": page(403),
    "409": refuses(409, "name_taken"),
    "422": page(422),
    "429": page(429),
    "503": page(503),
    "a refusal in the body": says({"result": False}),
    "no connection": httpx.ConnectError("refused"),
    "no connection in time": httpx.ConnectTimeout("timed out"),
    "no free connection in time": httpx.PoolTimeout("timed out"),
}


def outcome_of(ask, *given) -> str:
    with pytest.raises(errors.Failure) as raised:
        ask(service(*given).client(naming="transfer"))
    return raised.value.outcome


@each_case("answer", UNKNOWN)
@each_case("name", CHANGES)
def test_a_change_may_have_been_made_after(name, answer):
    assert outcome_of(CHANGES[name], UNKNOWN[answer]) == "unknown"


@each_case("answer", NOTHING)
@each_case("name", CHANGES)
def test_nothing_was_changed_after(name, answer):
    assert outcome_of(CHANGES[name], NOTHING[answer]) == "nothing"


@each_case("answer", UNKNOWN | NOTHING)
@each_case("name", QUESTIONS)
def test_a_question_changes_nothing(name, answer):
    assert outcome_of(QUESTIONS[name], (UNKNOWN | NOTHING)[answer]) == "nothing"


def test_an_earlier_try_may_have_made_the_change():
    reset, refused = httpx.ReadError("reset"), httpx.ConnectError("refused")
    assert outcome_of(CHANGES["delete a file"], reset, refused) == "unknown"


def test_a_form_that_the_service_lacks_changes_nothing():
    assert outcome_of(CHANGES["create"], page(405), httpx.ConnectError("refused")) == "nothing"


# Over sockets

WIRES = {
    "hangs up": (answers(), "unknown"),
    "resets the connection": (resetting(), "unknown"),
    "says nothing": (then_silent(), "unknown"),
    "stops in the body": (then_silent(misbehaving.head(Content_Length="500"), b"{"), "unknown"),
    "cuts the body off": (answers(misbehaving.head(Content_Length="500"), b"{"), "unknown"),
    "answers a page": (answers(whole(b"<h1>Hi</h1>")), "unknown"),
    "fails with a page": (answers(whole(b"<h1>Oh</h1>", "500 No")), "unknown"),
    "refuses": (answers(whole(b"{}", "422 No")), "nothing"),
}


# A short wait for the next byte alone: a busy machine may take longer to connect.
IDLE = replace(PATIENT, idle_seconds=DEADLINE_SECONDS)


def outcome_at(server, scheme="http", patience=PATIENT) -> str:
    client = client_of(server, scheme, patience=patience)
    with client, pytest.raises(errors.Failure) as raised:
        client.create_folder("a")
    return raised.value.outcome


@each_case("name", WIRES)
def test_the_outcome_is_known_with_a_service_that(name):
    misbehave, outcome = WIRES[name]
    is_silent = name in ("says nothing", "stops in the body")
    with serving(misbehave) as server:
        assert outcome_at(server, patience=IDLE if is_silent else PATIENT) == outcome
        assert len(server.heads) == 1


def test_nothing_was_changed_where_nothing_listens():
    with serving(answers()) as server:
        pass
    assert outcome_at(server) == "nothing"


def test_nothing_was_changed_before_the_handshake(tmp_path):
    with serving(answers(), self_signed(tmp_path)) as server:
        assert outcome_at(server, "https") == "nothing"
    with serving(then_silent()) as server:
        assert outcome_at(server, "https", HURRIED) == "nothing"


def test_half_an_upload_may_have_been_kept():
    with (
        serving(then_silent()) as server,
        client_of(server, patience=IDLE, naming="transfer") as client,
        pytest.raises(errors.Unavailable) as raised,
    ):
        client.add_file("a", io.BytesIO(bytes(16 * 2**20)), 16 * 2**20)
    assert raised.value.outcome == "unknown"
